//! One call: it runs, and its result becomes a message.

use super::{Errors, ToolNode};
use crate::approval::{self, Decided};
use crate::tool::CommandFor;
use crate::{StandIn, ToolContext, ToolError, ToolOutput};
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
        result: Option<Result<Result<ToolOutput, Failed>, String>>,
    ) -> Result<Answer<S>, NodeError> {
        match decided {
            Decided::Answered(result) => Ok(Answer {
                message: result.clone().with_name(&call.name).into(),
                command: None,
            }),
            Decided::Run { call, edited, by } => {
                let result = result.unwrap_or_else(|| Err("the call has vanished".to_owned()));
                let mut answer = self.answer(call, result)?;
                if *edited {
                    answer.message = approval::note_edit(call, answer.message);
                }
                if let Some(by) = by {
                    answer.message = approval::note_person(by, answer.message);
                }
                Ok(answer)
            }
        }
    }

    pub(super) async fn run_call(&self, cx: &ToolContext<'_>) -> Result<ToolOutput, Failed> {
        let call = cx.call();
        let Some(tool) = self.tools.get(&call.name) else {
            return Err(Failed::Unknown);
        };
        if call.invalid_arguments().is_some() {
            return Err(Failed::Tool(ToolError::arguments(
                "the arguments are not a JSON object",
            )));
        }
        if let Ok(stand_in) = cx.resource::<dyn StandIn>()
            && let Some(result) = stand_in.tool(call, cx)
        {
            return Err(result.map_or_else(fatal, |result| Failed::Instead(Box::new(result))));
        }
        let kept = self.kept.as_ref().filter(|kept| kept.keeps(call));
        if let Some(content) = kept.and_then(|kept| kept.get(call)) {
            return Ok(ToolOutput::content(content));
        }
        let call_of_tool = Amounts::default().with(BudgetItem::ToolCalls, 1);
        let reserved = match Funds::of(cx) {
            Some(funds) => Some(funds.reserve(call_of_tool, cx).await.map_err(fatal)?),
            None => None,
        };
        let result = tool.as_ref().call(call.arguments.clone(), cx);
        #[cfg(feature = "tracing")]
        let result = crate::spans::tool(cx, result);
        let result = result.await;
        // A call that pauses runs again, and counts then.
        if let Some(reserved) = reserved.filter(|_| cx.has_open_interrupt()) {
            reserved.cancel().await.map_err(fatal)?;
        }
        if let (Some(kept), Ok(output)) = (kept, &result)
            && !cx.has_open_interrupt()
        {
            kept.put(call, output);
        }
        result.map_err(Failed::Tool)
    }

    /// Returns the message that answers the call.
    fn answer<S: State>(
        &self,
        call: &ToolCall,
        result: Result<Result<ToolOutput, Failed>, String>,
    ) -> Result<Answer<S>, NodeError> {
        let error = match result {
            Ok(Ok(output)) => {
                let command = output.command.map(CommandFor::take::<S>);
                let command = command.transpose().map_err(|state| {
                    NodeError::msg(format!(
                        "tool `{}` answered with a command for a graph over `{state}`, and this one is over `{}`",
                        call.name,
                        std::any::type_name::<S>(),
                    ))
                })?;
                let result = ToolResult::new(&call.id, output.content);
                return Ok(Answer {
                    message: result.with_name(&call.name).into(),
                    command,
                });
            }
            Ok(Err(Failed::Instead(result))) => {
                return Ok(Answer {
                    message: Message::from(*result),
                    command: None,
                });
            }
            Ok(Err(Failed::Unknown)) => self.unknown(call),
            Ok(Err(Failed::Tool(ToolError::Arguments(error)))) => bad_arguments(call, &error),
            Ok(Err(Failed::Tool(ToolError::Model(error)))) => self.report(call, &error)?,
            Ok(Err(Failed::Tool(ToolError::Fatal(error)))) => return Err(error),
            Err(panic) => self.report(call, &format!("panicked: {panic}"))?,
        };
        Ok(Answer {
            message: ToolResult::error(&call.id, error)
                .with_name(&call.name)
                .into(),
            command: None,
        })
    }

    fn unknown(&self, call: &ToolCall) -> String {
        let names: Vec<_> = self.tools.iter().map(|tool| tool.name()).collect();
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

fn fatal(error: NodeError) -> Failed {
    Failed::Tool(ToolError::Fatal(error))
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
    /// A stand-in has answered.
    Instead(Box<ToolResult>),
    Tool(ToolError),
}

fn bad_arguments(call: &ToolCall, error: &str) -> String {
    format!(
        "Error invoking tool '{}' with kwargs {} with error:\n {error}\n Please fix the error and try again.",
        call.name,
        call.arguments_text(),
    )
}

/// Returns the id of the message that requests tools.
pub(super) fn turn(messages: &[Message]) -> Option<&str> {
    messages
        .iter()
        .rfind(|message| message.is_assistant())?
        .id
        .as_deref()
}
