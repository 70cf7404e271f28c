//! A graph as a tool.

use std::fmt;
use std::sync::Arc;

use langgraph::graph::CompiledStateGraph;
use langgraph::message::Message;
use langgraph::node::IntoInput;
use langgraph::run::Run;
use langgraph::state::{HasMessages, State};
use langgraph_agent::{
    IntoToolOutput, ToolDefinition, ToolError, ToolOutput, async_trait, final_answer, schema_of,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::interrupt_form::InterruptAnswer;
use super::paused::{Ended, Paused};
use super::watcher::Watcher;

/// A compiled graph as a tool of an [`McpServer`](crate::McpServer).
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_mcp::GraphTool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// The arguments; the client's model sees their schema.
/// #[derive(Deserialize, JsonSchema)]
/// struct Count {
///     /// How far.
///     to: i64,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
///
/// let tool = GraphTool::new(
///     "double",
///     "Doubles a number.",
///     graph.compile()?,
///     |count: Count| count.to,          // the input of a run
///     |state: &i64| state.to_string(),  // its answer
/// );
/// # let _ = tool;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GraphTool {
    definition: ToolDefinition,
    pub(super) graph: Arc<dyn ErasedGraph>,
    thread: Option<Arc<ThreadOf>>,
}

type ThreadOf = dyn Fn(&JsonObject) -> Option<String> + Send + Sync;

/// The arguments of [`GraphTool::chat`].
#[derive(Deserialize, JsonSchema)]
struct Chat {
    /// The message of the user.
    message: String,
}

impl GraphTool {
    /// Creates a tool from a graph: its arguments become the input, the state at the end becomes the
    /// answer.
    pub fn new<S, A, I, O>(
        name: impl Into<String>,
        description: impl Into<String>,
        graph: CompiledStateGraph<S>,
        input: impl Fn(A) -> I + Send + Sync + 'static,
        output: impl Fn(&S) -> O + Send + Sync + 'static,
    ) -> Self
    where
        S: State,
        A: DeserializeOwned + JsonSchema,
        I: IntoInput<S>,
        O: IntoToolOutput,
    {
        let start = move |graph: &CompiledStateGraph<S>, arguments: JsonObject| {
            let arguments = A::deserialize(Value::Object(arguments));
            let arguments = arguments.map_err(|error| ToolError::arguments(error.to_string()))?;
            Ok(graph.run(input(arguments)))
        };
        Self {
            definition: ToolDefinition::new(name, description, schema_of::<A>()),
            graph: Arc::new(Graph {
                compiled: graph,
                start: Box::new(start),
                output: Box::new(move |state| output(state).into_tool_output()),
            }),
            thread: None,
        }
    }

    /// Creates a tool from an agent: its only argument is a message, its answer the agent's last one.
    pub fn chat<S: HasMessages>(
        name: impl Into<String>,
        description: impl Into<String>,
        agent: CompiledStateGraph<S>,
    ) -> Self {
        Self::new(
            name,
            description,
            agent,
            |chat: Chat| {
                langgraph::node::Command::<S>::update(S::update_from_messages(vec![Message::user(
                    chat.message,
                )]))
            },
            |state: &S| final_answer(state.messages()),
        )
    }

    /// Chooses the thread of a call from its arguments, such as a conversation that later calls continue.
    /// `None` is a thread for this call alone.
    ///
    /// The thread is not deleted, and a client that knows its name can continue it: put what identifies the
    /// client into the name, unless all clients may see all threads.
    #[must_use]
    pub fn thread(
        mut self,
        thread: impl Fn(&serde_json::Map<String, Value>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.thread = Some(Arc::new(thread));
        self
    }

    /// Returns what clients see of the tool.
    pub fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    pub(super) fn thread_of(&self, arguments: &JsonObject) -> Option<String> {
        self.thread.as_ref().and_then(|thread| thread(arguments))
    }
}

impl fmt::Debug for GraphTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphTool({})", self.definition.name)
    }
}

type Start<S> =
    dyn Fn(&CompiledStateGraph<S>, JsonObject) -> Result<Run<S>, ToolError> + Send + Sync;
type Finish<S> = dyn Fn(&S) -> Result<ToolOutput, ToolError> + Send + Sync;

struct Graph<S: State> {
    compiled: CompiledStateGraph<S>,
    start: Box<Start<S>>,
    output: Box<Finish<S>>,
}

/// A graph without the type of its state.
#[async_trait]
pub(super) trait ErasedGraph: Send + Sync {
    /// Returns true if runs have threads.
    fn is_persistent(&self) -> bool;

    /// Runs the graph on the arguments of a call.
    async fn start(
        &self,
        arguments: JsonObject,
        thread: Option<&str>,
        watcher: Watcher<'_>,
    ) -> Result<Ended, ToolError>;

    /// Returns the open interrupts of a thread; `None` if there are none.
    async fn paused(&self, thread: &str) -> Result<Option<Paused>, ToolError>;

    /// Resumes a thread.
    async fn resume(
        &self,
        thread: &str,
        answer: InterruptAnswer<'_>,
        watcher: Watcher<'_>,
    ) -> Result<Ended, ToolError>;

    /// Deletes the thread of a call that has ended.
    async fn delete(&self, thread: &str);
}

impl<S: State> Graph<S> {
    async fn drive(&self, run: Run<S>, watcher: Watcher<'_>) -> Result<Ended, ToolError> {
        let outcome = watcher.watch(run).await?;
        if outcome.is_done() {
            return (self.output)(outcome.state()).map(Ended::Done);
        }
        Ok(Ended::Paused(Paused::at(outcome.interrupts().to_vec())))
    }
}

#[async_trait]
impl<S: State> ErasedGraph for Graph<S> {
    fn is_persistent(&self) -> bool {
        self.compiled.is_persistent()
    }

    async fn start(
        &self,
        arguments: JsonObject,
        thread: Option<&str>,
        watcher: Watcher<'_>,
    ) -> Result<Ended, ToolError> {
        let mut run = (self.start)(&self.compiled, arguments)?;
        if let Some(thread) = thread {
            run = run.thread(thread);
        }
        self.drive(run, watcher).await
    }

    async fn paused(&self, thread: &str) -> Result<Option<Paused>, ToolError> {
        let state = self.compiled.thread(thread).state().await?;
        let open = state.map(|state| state.interrupts).unwrap_or_default();
        Ok((!open.is_empty()).then(|| Paused::at(open)))
    }

    async fn resume(
        &self,
        thread: &str,
        answer: InterruptAnswer<'_>,
        watcher: Watcher<'_>,
    ) -> Result<Ended, ToolError> {
        let thread = self.compiled.thread(thread);
        // Text may mean a number, or itself.
        let mut refused = None;
        for value in answer.values {
            match self.drive(thread.resume(answer.id, value), watcher).await {
                Err(ToolError::Fatal(error)) if is_refused(&error) => refused = Some(error),
                other => return other,
            }
        }
        match refused {
            Some(error) => Err(ToolError::arguments(error.to_string())),
            None => Err(ToolError::model("the answer is empty")),
        }
    }

    async fn delete(&self, thread: &str) {
        if let Err(error) = self.compiled.thread(thread).delete().await {
            tracing::warn!(%error, thread, "failed to delete a temporary thread");
        }
    }
}

/// Returns true if the interrupt is still open, because the answer does not fit.
fn is_refused(error: &langgraph::error::NodeError) -> bool {
    let error = error.downcast_ref::<langgraph::error::AgentError>();
    error.is_some_and(|error| error.refused_answer().is_some())
}
