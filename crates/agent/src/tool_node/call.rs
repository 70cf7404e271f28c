//! One call: it runs, and its result becomes a message.

use super::{Errors, ToolNode};
use crate::approval::Decided;
use crate::join_all::join_all;
use crate::middleware::{Chain, RunTool};
use crate::tool::CommandFor;
use crate::{StandIn, ToolAnswer, ToolContext, ToolError, ToolFailure, async_trait};
use langgraph::error::NodeError;
use langgraph::message::{Message, ToolCall, ToolResult};
use langgraph::node::{Command, Context};
use langgraph::state::State;
use langgraph_budget::{Amounts, BudgetItem, Funds};

/// The result of a call.
pub(super) struct Answer<S: State> {
    pub(super) message: Message,
    pub(super) command: Option<Command<S>>,
}

impl ToolNode {
    /// Returns the message that answers `call`, given the result of the tool if it ran.
    pub(super) fn answer_decided<S: State>(
        &self,
        call: &ToolCall,
        decided: &Decided,
        result: Option<Result<Result<ToolAnswer, Failed>, String>>,
    ) -> Result<Answer<S>, NodeError> {
        match decided {
            Decided::Answered(result) => Ok(Answer {
                message: result.clone().with_name(&call.name).into(),
                command: None,
            }),
            Decided::Run { call, .. } => {
                let result = result.unwrap_or_else(|| Err("the call has vanished".to_owned()));
                let ToolAnswer {
                    result, command, ..
                } = self.answer(call, result)?;
                // What answers in the place of a tool need not repeat its name.
                let name = result.name.clone().unwrap_or_else(|| call.name.clone());
                let result = result.with_name(name);
                Ok(Answer {
                    message: decided.note(result).into(),
                    command: command_for(call, command)?,
                })
            }
        }
    }

    /// Calls the tool through the middleware.
    pub(super) async fn run_call(
        &self,
        cx: &ToolContext<'_>,
        chain: &Chain,
    ) -> Result<ToolAnswer, Failed> {
        let call = cx.call();
        if self.tools.get(&call.name).is_none() {
            return Err(Failed::Unknown);
        }
        if call.invalid_arguments().is_some() {
            let error = "the arguments are not a JSON object".to_owned();
            return Err(Failed::Arguments(error));
        }
        let tool = CallTool { node: self, cx };
        let answer = if chain.is_empty() {
            tool.run_as(cx).await
        } else {
            chain.call_tool(call.clone(), cx, &tool).await
        };
        answer.map_err(Failed::Fatal)
    }

    /// Returns the answer to the call.
    fn answer(
        &self,
        call: &ToolCall,
        result: Result<Result<ToolAnswer, Failed>, String>,
    ) -> Result<ToolAnswer, NodeError> {
        let error = match result {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(Failed::Fatal(error))) => return Err(error),
            Ok(Err(Failed::Unknown)) => self.unknown(call),
            Ok(Err(Failed::Arguments(error))) => bad_arguments(call, &error),
            Err(panic) => self.report(call, &format!("panicked: {panic}"))?,
        };
        let result = ToolResult::error(&call.id, error).with_name(&call.name);
        Ok(ToolAnswer::new(result))
    }

    /// Returns the answer to a call whose tool has failed, unless that fails the node.
    fn failed(&self, call: &ToolCall, error: ToolError) -> Result<ToolAnswer, NodeError> {
        let failure = ToolFailure::of(error)?;
        let text = match &failure {
            ToolFailure::Arguments(error) => bad_arguments(call, error),
            ToolFailure::Tool(error) => self.report(call, error)?,
        };
        let result = ToolResult::error(&call.id, text).with_name(&call.name);
        Ok(ToolAnswer::failed(result, failure))
    }

    fn unknown(&self, call: &ToolCall) -> String {
        let here = self.tools.iter().map(|tool| tool.name());
        let names: Vec<_> = here
            .chain(self.other_tools.iter().map(|name| &**name))
            .collect();
        format!(
            "Error: {} is not a valid tool, try one of [{}].",
            call.name,
            names.join(", "),
        )
    }

    fn report(&self, call: &ToolCall, error: &str) -> Result<String, NodeError> {
        match &self.errors {
            Errors::Report => Ok(format!("Error: {error}\n Please fix your mistakes.")),
            Errors::ReportAs(describe) => Ok(describe(call, error)),
            Errors::Fail => Err(NodeError::msg(format!("tool `{}`: {error}", call.name))),
        }
    }
}

/// Returns the command of a tool, if it is for this graph.
fn command_for<S: State>(
    call: &ToolCall,
    command: Option<CommandFor>,
) -> Result<Option<Command<S>>, NodeError> {
    let command = command.map(CommandFor::take::<S>).transpose();
    command.map_err(|state| {
        NodeError::msg(format!(
            "tool `{}` answered with a command for a graph over `{state}`, and this one is over `{}`",
            call.name,
            std::any::type_name::<S>(),
        ))
    })
}

/// The innermost part of a call: the tool itself.
struct CallTool<'a> {
    node: &'a ToolNode,
    cx: &'a ToolContext<'a>,
}

#[async_trait]
impl RunTool for CallTool<'_> {
    async fn run_tool(&self, call: ToolCall) -> Result<ToolAnswer, NodeError> {
        if call == *self.cx.call() {
            return self.run_as(self.cx).await;
        }
        self.run_as(&self.cx.with_call(&call)).await
    }

    fn panicked(&self, call: &ToolCall, panic: &str) -> Result<ToolAnswer, NodeError> {
        self.node.failed(call, panicked(panic))
    }
}

impl CallTool<'_> {
    async fn run_as(&self, cx: &ToolContext<'_>) -> Result<ToolAnswer, NodeError> {
        let (node, call) = (self.node, cx.call());
        let Some(tool) = node.tools.get(&call.name) else {
            return node.answer(call, Ok(Err(Failed::Unknown)));
        };
        if let Ok(stand_in) = cx.resource::<dyn StandIn>()
            && let Some(result) = stand_in.tool(call, cx)
        {
            return result.map(ToolAnswer::new);
        }
        let answered = |content| ToolResult::new(&call.id, content).with_name(&call.name);
        let kept = node.kept.as_ref().filter(|kept| kept.keeps(call));
        if let Some(content) = kept.and_then(|kept| kept.get(call)) {
            return Ok(ToolAnswer::new(answered(content)));
        }
        let call_of_tool = Amounts::default().with(BudgetItem::ToolCalls, 1);
        let reserved = match Funds::of(cx) {
            Some(funds) => Some(funds.reserve(call_of_tool, cx).await?),
            None => None,
        };
        let (written, answers) = (cx.fields().written_so_far(), cx.answers());
        // The tool may panic before it has returned its future.
        let result = async { tool.as_ref().call(call.arguments.clone(), cx).await };
        #[cfg(feature = "tracing")]
        let result = crate::spans::tool(cx, result);
        let result = join_all([Box::pin(result)]).await.pop();
        // A call that pauses runs again, and counts then.
        if let Some(reserved) = reserved.filter(|_| cx.has_open_interrupt()) {
            reserved.cancel().await?;
        }
        let result = result.unwrap_or_else(|| Err("the call has vanished".to_owned()));
        let result = result.unwrap_or_else(|panic| Err(panicked(&panic)));
        if result.is_err() {
            // As a node that fails, it has written nothing: another attempt begins anew.
            cx.fields().go_back_to(written);
        }
        let is_decided = cx.answers() != answers;
        if let (Some(kept), Ok(output)) = (kept, &result)
            && output.command.is_none()
            && !is_decided
            && !cx.fields().is_written()
            && !cx.has_open_interrupt()
        {
            kept.put(call, output.content.clone());
        }
        match result {
            Ok(output) => {
                let answer = ToolAnswer::new(answered(output.content));
                Ok(answer.with_command(output.command).decided(is_decided))
            }
            Err(error) => node.failed(call, error),
        }
    }
}

/// A panic as an error of the tool.
fn panicked(text: &str) -> ToolError {
    ToolError::model(format!("panicked: {text}"))
}

/// Ends the task if a tool has interrupted, whatever the tool did with the error.
pub(super) fn pause(cx: &Context) -> Result<(), NodeError> {
    if cx.has_open_interrupt() {
        return Err(NodeError::msg(
            "a tool waits for the answer to its question",
        ));
    }
    Ok(())
}

/// Why a call has no answer from its tool.
pub(super) enum Failed {
    Unknown,
    Arguments(String),
    Fatal(NodeError),
}

fn bad_arguments(call: &ToolCall, error: &str) -> String {
    format!(
        "Error invoking tool '{}' with kwargs {} with error:\n {error}\n Please fix the error and try again.",
        call.name,
        call.arguments_text(),
    )
}
