//! A limit of tool calls.

use std::collections::BTreeMap;

use langgraph::error::NodeError;
use langgraph::message::{Message, ToolCall, ToolResult};
use langgraph_agent::{
    AgentContext, AgentGoto, AgentMiddleware, AgentUpdate, MiddlewareField, Tools, middleware,
    pending_calls,
};

/// What a limit of calls does when it is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtToolLimit {
    /// The calls that are too many are answered with an error, and the model goes on without them.
    #[default]
    Continue,
    /// The agent ends with a message that says so.
    End,
    /// The run fails before the model's answer is stored, so that a new message on the thread goes on.
    Fail,
}

type Counts = BTreeMap<String, u64>;

const OF_RUN: MiddlewareField<Counts> = MiddlewareField::new("tool_calls_of_run");
const OF_THREAD: MiddlewareField<Counts> = MiddlewareField::new("tool_calls_of_thread");

/// Limits the tool calls of a run and of a thread, all together or those of one tool; as LangChain's
/// `ToolCallLimitMiddleware`.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, ScriptedModel, react_agent};
/// use langgraph_middleware::{AtToolLimit, ToolCallLimit};
///
/// let search = FnTool::new("search", "Searches.", || async { "nothing" });
/// let limit = ToolCallLimit::new()
///     .per_run(20)
///     .tool_per_run("search", 5)
///     .at_limit(AtToolLimit::Continue);
/// let agent = react_agent(ScriptedModel::new(["hi"]), (search,)).with(limit);
/// # let _ = agent.compile();
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolCallLimit {
    rules: Vec<Rule>,
    at_limit: AtToolLimit,
}

#[derive(Clone, Debug)]
struct Rule {
    /// All tools, if `None`.
    tool: Option<String>,
    limit: u64,
    per_thread: bool,
}

impl ToolCallLimit {
    /// Creates it without a limit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Limits the calls of all tools in a run.
    #[must_use]
    pub fn per_run(self, calls: u64) -> Self {
        self.rule(None, calls, false)
    }

    /// Limits the calls of all tools in a thread.
    #[must_use]
    pub fn per_thread(self, calls: u64) -> Self {
        self.rule(None, calls, true)
    }

    /// Limits the calls of one tool in a run.
    #[must_use]
    pub fn tool_per_run(self, tool: impl Into<String>, calls: u64) -> Self {
        self.rule(Some(tool.into()), calls, false)
    }

    /// Limits the calls of one tool in a thread.
    #[must_use]
    pub fn tool_per_thread(self, tool: impl Into<String>, calls: u64) -> Self {
        self.rule(Some(tool.into()), calls, true)
    }

    /// Sets what happens at the limit. The default is [`AtToolLimit::Continue`].
    #[must_use]
    pub fn at_limit(mut self, at_limit: AtToolLimit) -> Self {
        self.at_limit = at_limit;
        self
    }

    fn rule(mut self, tool: Option<String>, limit: u64, per_thread: bool) -> Self {
        self.rules.push(Rule {
            tool,
            limit,
            per_thread,
        });
        self
    }

    /// Returns why the call is one too many.
    fn refuses(&self, call: &ToolCall, run: &Counts, thread: &Counts) -> Option<String> {
        let refused = self.rules.iter().find(|rule| {
            let counts = if rule.per_thread { thread } else { run };
            rule.concerns(call) && rule.count(counts) >= rule.limit
        })?;
        let of = if refused.per_thread { "thread" } else { "run" };
        let what = match &refused.tool {
            Some(tool) => format!("calls of `{tool}`"),
            None => "tool calls".to_owned(),
        };
        Some(format!(
            "the limit of {} {what} per {of} is reached",
            refused.limit
        ))
    }

    /// Counts the calls that it lets through, and returns the others, each with the reason.
    fn count<'a>(
        &self,
        calls: &'a [ToolCall],
        [run, thread]: [&mut Counts; 2],
    ) -> Vec<(&'a ToolCall, String)> {
        let mut refused = Vec::new();
        for call in calls {
            if let Some(reason) = self.refuses(call, run, thread) {
                refused.push((call, reason));
                continue;
            }
            for counts in [&mut *run, &mut *thread] {
                *counts.entry(call.name.clone()).or_default() += 1;
            }
        }
        refused
    }
}

impl Rule {
    fn concerns(&self, call: &ToolCall) -> bool {
        self.tool.as_ref().is_none_or(|tool| *tool == call.name)
    }

    fn count(&self, counts: &Counts) -> u64 {
        match &self.tool {
            Some(tool) => counts.get(tool).copied().unwrap_or_default(),
            None => counts.values().sum(),
        }
    }
}

#[middleware]
impl AgentMiddleware for ToolCallLimit {
    fn fields(&self) -> Vec<&'static str> {
        vec![OF_RUN.name(), OF_THREAD.name()]
    }

    fn gotos(&self) -> &'static [AgentGoto] {
        &[AgentGoto::Model, AgentGoto::End]
    }

    fn check(&self, tools: &Tools) -> Result<(), String> {
        tools.require(self.rules.iter().filter_map(|rule| rule.tool.as_ref()))
    }

    fn tool_calls(&self) -> Option<u32> {
        let of_run = |rule: &&Rule| rule.tool.is_none() && !rule.per_thread;
        let limits = self.rules.iter().filter(of_run).map(|rule| rule.limit);
        u32::try_from(limits.min()?).ok()
    }

    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        cx.fields().set(OF_RUN, &Counts::new())?;
        Ok(AgentUpdate::default())
    }

    fn check_reply(&self, reply: &Message, cx: &AgentContext<'_>) -> Result<(), NodeError> {
        if self.at_limit != AtToolLimit::Fail {
            return Ok(());
        }
        let (mut run, mut thread) = (cx.fields().read(OF_RUN)?, cx.fields().read(OF_THREAD)?);
        let refused = self.count(reply.tool_calls(), [&mut run, &mut thread]);
        match refused.into_iter().next() {
            Some((_, reason)) => Err(NodeError::msg(reason)),
            None => Ok(()),
        }
    }

    async fn after_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let calls = pending_calls(cx.messages());
        let (mut run, mut thread) = (cx.fields().read(OF_RUN)?, cx.fields().read(OF_THREAD)?);
        let refused = self.count(&calls, [&mut run, &mut thread]);
        let Some((_, reason)) = refused.first() else {
            cx.fields().set(OF_RUN, &run)?;
            cx.fields().set(OF_THREAD, &thread)?;
            return Ok(AgentUpdate::default());
        };
        match self.at_limit {
            AtToolLimit::Fail => return Err(NodeError::msg(reason.clone())),
            AtToolLimit::End => {
                let closed = calls.iter().map(|call| answer(call, reason));
                let last = Message::assistant(format!("I stop here: {reason}."));
                let update = AgentUpdate::messages(closed.chain([last]));
                return Ok(update.and_goto(AgentGoto::End));
            }
            AtToolLimit::Continue => {}
        }
        cx.fields().set(OF_RUN, &run)?;
        cx.fields().set(OF_THREAD, &thread)?;
        let all = refused.len() == calls.len();
        let update =
            AgentUpdate::messages(refused.iter().map(|(call, reason)| answer(call, reason)));
        Ok(if all {
            update.and_goto(AgentGoto::Model)
        } else {
            update
        })
    }
}

fn answer(call: &ToolCall, reason: &str) -> Message {
    let text = format!(
        "Error: not called, {reason}. Do not call `{}` again.",
        call.name
    );
    ToolResult::error(&call.id, text)
        .with_name(&call.name)
        .into()
}
