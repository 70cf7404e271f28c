//! A limit of model calls.

use langgraph::error::NodeError;
use langgraph::message::Message;
use langgraph_agent::{
    AgentContext, AgentGoto, AgentMiddleware, AgentUpdate, MiddlewareField, middleware,
};

/// What a limit of model calls does when it is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AtModelLimit {
    /// The agent ends with a message that says so.
    #[default]
    End,
    /// The run fails.
    Fail,
}

const OF_RUN: MiddlewareField<u64> = MiddlewareField::new("model_calls_of_run");
const OF_THREAD: MiddlewareField<u64> = MiddlewareField::new("model_calls_of_thread");

/// Limits the model calls of a run, and those of a thread; as LangChain's `ModelCallLimitMiddleware`.
///
/// With [`ToolCallLimit::per_run`](crate::ToolCallLimit::per_run), the graph of the agent has
/// [`bounds`](langgraph::CompiledStateGraph::bounds), which are these limits. What middleware around the model or
/// around tools calls again is not counted.
///
/// For money, tokens and time, see [`Budget`](langgraph_agent::Budget).
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
/// use langgraph_middleware::ModelCallLimit;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = ModelCallLimit::per_run(10).per_thread(1);
/// let agent = react_agent(ScriptedModel::new(["Hello."]), ()).with(limit).compile()?;
/// let state = agent.invoke(MessagesStateUpdate::user("Hi.")).await?;
/// let state = agent.invoke(state.merge(MessagesStateUpdate::user("Hi."))?).await?;
/// assert_eq!(state.messages[3].text(), "The limit of 1 model calls per thread is reached.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ModelCallLimit {
    run: Option<u64>,
    thread: Option<u64>,
    at_limit: AtModelLimit,
}

impl ModelCallLimit {
    /// Limits the calls of each run; with 0, none is made.
    pub fn per_run(calls: u64) -> Self {
        Self {
            run: Some(calls),
            thread: None,
            at_limit: AtModelLimit::End,
        }
    }

    /// Also limits the calls of all runs of a thread.
    #[must_use]
    pub fn per_thread(mut self, calls: u64) -> Self {
        self.thread = Some(calls);
        self
    }

    /// Sets what happens at the limit. The default is [`AtModelLimit::End`].
    #[must_use]
    pub fn at_limit(mut self, at_limit: AtModelLimit) -> Self {
        self.at_limit = at_limit;
        self
    }

    fn reached(&self, cx: &AgentContext<'_>) -> Result<Option<String>, NodeError> {
        let limits = [
            (self.thread, OF_THREAD, "thread"),
            (self.run, OF_RUN, "run"),
        ];
        for (limit, field, of) in limits {
            if let Some(limit) = limit
                && cx.fields().read(field)? >= limit
            {
                let text = format!("The limit of {limit} model calls per {of} is reached.");
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

#[middleware]
impl AgentMiddleware for ModelCallLimit {
    fn fields(&self) -> Vec<&'static str> {
        vec![OF_RUN.name(), OF_THREAD.name()]
    }

    fn gotos(&self) -> &'static [AgentGoto] {
        &[AgentGoto::End]
    }

    fn model_calls(&self) -> Option<u32> {
        u32::try_from(self.run?).ok()
    }

    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        cx.fields().set(OF_RUN, &0)?;
        Ok(AgentUpdate::default())
    }

    async fn before_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        if let Some(text) = self.reached(cx)? {
            return match self.at_limit {
                AtModelLimit::Fail => Err(NodeError::msg(text)),
                AtModelLimit::End => {
                    Ok(AgentUpdate::messages([Message::assistant(text)]).and_goto(AgentGoto::End))
                }
            };
        }
        cx.fields().add(OF_RUN, 1)?;
        cx.fields().add(OF_THREAD, 1)?;
        Ok(AgentUpdate::default())
    }
}
