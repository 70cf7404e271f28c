//! What surrounds an agent.

use super::{
    AgentContext, AgentGoto, AgentUpdate, Hook, ModelCall, NextModel, NextTool, ToolAnswer,
};
use crate::{ChatResponse, DecisionKind, ToolContext, Tools, async_trait};
use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::{Message, ToolCall};

/// What surrounds an agent: hooks before and after it, its model calls and the calls of its tools.
///
/// Each hook is optional. `#[middleware]` on the `impl` notes which hooks there are, and lets them be
/// `async fn`s. An agent takes a list: [`ReactAgent::with`](crate::ReactAgent::with).
///
/// # Order
///
/// The first of a list is the outermost. Hooks *before* run in the order of the list, hooks *after* in the
/// reverse order, and hooks *around* contain those of the later ones. What [hides](AgentMiddleware::hides) data
/// from models runs before all others.
///
/// Each hook before or after the agent or its model is a node of the graph, `Name.before_model`: its update
/// is stored before the next one runs, and a pause or a crash repeats that hook alone. Hooks around a model
/// call are a part of the node `agent`, and those around and after a tool call of that call's task.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::prelude::*;
/// use langgraph_agent::{
///     AgentContext, AgentGoto, AgentUpdate, MessagesStateUpdate, MiddlewareField, ScriptedModel,
///     react_agent,
/// };
///
/// const QUESTIONS: MiddlewareField<u64> = MiddlewareField::new("questions");
///
/// /// Answers so many questions in a thread.
/// struct Patience(u64);
///
/// #[middleware]
/// impl AgentMiddleware for Patience {
///     fn fields(&self) -> Vec<&'static str> {
///         vec![QUESTIONS.name()]
///     }
///
///     fn gotos(&self) -> &'static [AgentGoto] {
///         &[AgentGoto::End]
///     }
///
///     async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
///         cx.fields().add(QUESTIONS, 1)?;
///         if cx.fields().read(QUESTIONS)? <= self.0 {
///             return Ok(AgentUpdate::default());
///         }
///         let enough = AgentUpdate::messages([Message::assistant("No more questions.")]);
///         Ok(enough.and_goto(AgentGoto::End))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = react_agent(ScriptedModel::new(["Yes."]), ()).with(Patience(1)).compile()?;
/// let state = agent.invoke(MessagesStateUpdate::user("Really?")).await?;
/// let state = agent.invoke(state.merge(MessagesStateUpdate::user("Really?"))?).await?;
/// assert_eq!(state.messages[3].text(), "No more questions.");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not middleware of an agent",
    label = "expected middleware, or a tuple of up to twelve",
    note = "implement it with `#[middleware] impl AgentMiddleware for ..`; middleware around nodes goes on the graph: `agent.into_graph()?.middleware(..)`"
)]
#[async_trait]
pub trait AgentMiddleware: Send + Sync + 'static {
    /// Returns the hooks that it has. `#[middleware]` writes this method.
    fn hooks(&self) -> &'static [Hook];

    /// Returns its name, for nodes, pictures and errors; by default that of its type. Two middlewares of
    /// an agent that have nodes need different names.
    fn name(&self) -> &str {
        short_name(std::any::type_name::<Self>())
    }

    /// Returns the names of the fields that it adds to the state of the agent.
    fn fields(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Returns the tools that it brings for the agent.
    fn tools(&self) -> Tools {
        Tools::new()
    }

    /// Returns where its hooks before and after may send the agent.
    fn gotos(&self) -> &'static [AgentGoto] {
        &[]
    }

    /// Returns how often it lets a run call the model at most, in `before_model`, if it limits that. The graph
    /// of the agent then has a bound for the calls of its model, which
    /// [`bounds`](langgraph::CompiledStateGraph::bounds) counts with, and which no run exceeds.
    fn model_calls(&self) -> Option<u32> {
        None
    }

    /// Returns how many calls of tools of a run it lets through at most, in `after_model`, if it limits that; as
    /// [`model_calls`](Self::model_calls).
    fn tool_calls(&self) -> Option<u32> {
        None
    }

    /// Returns what one run of that hook calls at worst. A hook around a call is given what that call does, and
    /// returns it with what it repeats or adds; any other hook is given nothing, and returns its own calls.
    /// [`bounds`](langgraph::CompiledStateGraph::bounds) of the agent count with it.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::Calls;
    /// use langgraph_agent::prelude::*;
    /// use langgraph_agent::{Hook, ModelRetry};
    ///
    /// let call = Calls { model: 1, tool: 0 };
    /// let calls = ModelRetry::attempts(3).calls(Hook::AroundModel, call);
    /// assert_eq!(calls, Calls { model: 3, tool: 0 });
    /// ```
    fn calls(&self, _hook: Hook, inner: Calls) -> Calls {
        inner
    }

    /// Returns true if it may interrupt, so that a run without a checkpointer is refused at its start.
    fn interrupts(&self) -> bool {
        false
    }

    /// Returns true if it hides data from models. Its hooks before and after the agent and the model then run before
    /// those of all other middleware, and it reads the answer of a tool first and last, wherever it stands in the list: the
    /// order does not decide what a model of other middleware reads.
    fn hides(&self) -> bool {
        false
    }

    /// Returns the decisions that a person may take before a call of this tool runs, in answer to an
    /// [`ApprovalRequest`](crate::ApprovalRequest); none if its calls need no approval. Clients get types for them, and
    /// `graph.lock` has the tool, so that a change that loses the answer is refused.
    fn decisions(&self, tool: &str) -> Vec<DecisionKind> {
        let _ = tool;
        Vec::new()
    }

    /// Checks it against all tools of the agent, when the agent is compiled.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn check(&self, tools: &Tools) -> Result<(), String> {
        let _ = tools;
        Ok(())
    }

    /// Runs once for each run, before anything else.
    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let _ = cx;
        Ok(AgentUpdate::default())
    }

    /// Runs before each model call.
    async fn before_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let _ = cx;
        Ok(AgentUpdate::default())
    }

    /// Surrounds each model call: it changes the call, makes it with `next`, or answers without it.
    async fn around_model(
        &self,
        call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let _ = cx;
        next.run(call).await
    }

    /// Checks the model's reply before it is stored, behind all hooks around the model. An error fails the run, and
    /// leaves the chat as it was, without calls that no run answers.
    ///
    /// # Errors
    ///
    /// Why the run fails.
    fn check_reply(&self, reply: &Message, cx: &AgentContext<'_>) -> Result<(), NodeError> {
        let _ = (reply, cx);
        Ok(())
    }

    /// Runs after each model call, whose reply is stored before. If it fails, `proceed()` on the thread runs it
    /// again; [`check_reply`](Self::check_reply) refuses a reply for good.
    async fn after_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let _ = cx;
        Ok(AgentUpdate::default())
    }

    /// Surrounds each call of a tool. Calls of unknown tools, and calls whose arguments are not a JSON
    /// object, are answered without it.
    ///
    /// It may pause with [`ToolContext::interrupt`]; then the call of the tool is repeated with the answer.
    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let _ = cx;
        next.run(call).await
    }

    /// Runs after each call of a tool, and returns the answer that counts.
    ///
    /// It is a part of the task of the call. An answer that is stored is not read again: not by a run that goes on after
    /// a crash, nor by one from an older checkpoint. A task that was cut off before, or has paused, calls the tool and
    /// runs the hook once more. What the hook does to the outside passes
    /// [`idempotency_key`](langgraph::Context::idempotency_key) on, or is done [`once`](langgraph::Context::once).
    /// If the middleware [hides](Self::hides) data, the hook runs twice for each answer: it must not change one that it
    /// has returned.
    async fn after_tool(
        &self,
        answer: ToolAnswer,
        cx: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let _ = cx;
        Ok(answer)
    }

    /// Runs once for each run, at the end.
    async fn after_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let _ = cx;
        Ok(AgentUpdate::default())
    }
}

/// The name of a type without its path and its parameters.
fn short_name(path: &'static str) -> &'static str {
    let path = path.split_once('<').map_or(path, |(path, _)| path);
    path.rsplit_once("::").map_or(path, |(_, name)| name)
}
