//! Agents: named nodes over the whole state.

use std::future::Future;
use std::sync::Arc;

use super::Step;
use crate::error::AgentError;
use crate::state::State;
use langgraph_topology::NodeKind;

/// Takes a state and returns the whole state, under a name.
///
/// An agent works on its own and as a node of any graph over its state.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// struct Doubler;
///
/// impl Agent for Doubler {
///     type State = i64;
///
///     fn name(&self) -> &str {
///         "doubler"
///     }
///
///     async fn run(&self, state: i64) -> Result<i64, AgentError> {
///         Ok(state * 2)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("doubler", Doubler).add_sequence(&["doubler"]);
/// assert_eq!(graph.compile()?.invoke(21).await?, Doubler.run(21).await?);
/// # Ok(())
/// # }
/// ```
pub trait Agent: Send + Sync + 'static {
    /// The type of its state.
    type State: State;

    /// Returns the agent's name.
    fn name(&self) -> &str;

    /// Runs the agent.
    ///
    /// `?` takes every error that may cross threads, also in a box; it becomes an
    /// [`AgentError::Agent`].
    ///
    /// Write `async fn run`, without `#[async_trait]`: its future needs no box.
    // rustc quotes the next lines where an `impl` has the attribute.
    fn run(
        &self, // write `async fn run`, and no `#[async_trait]` above the `impl`
        state: Self::State,
    ) -> impl Future<Output = Result<Self::State, AgentError>> + Send;

    /// Returns the agent as a compiled graph, if it is one: `Some(graph.into())`.
    ///
    /// As a node it then runs inside the outer run: its events, resources, checkpoints and
    /// interrupts are those of the outer run. Otherwise a node calls [`run`](Self::run), which knows
    /// nothing of them.
    fn as_graph(&self) -> Option<AgentGraph<Self::State>> {
        None
    }
}

/// A graph that an [`Agent`] is. A [`CompiledStateGraph`](crate::CompiledStateGraph) converts into
/// it.
pub struct AgentGraph<S: State> {
    pub(crate) step: Arc<dyn Step<S>>,
    pub(crate) kind: NodeKind,
    /// Its state type, or that of a subgraph, if it cannot be stored as bytes.
    pub(crate) unstorable: Option<&'static str>,
}

impl<S: State> std::fmt::Debug for AgentGraph<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AgentGraph")
    }
}

macro_rules! forward {
    ($($pointer:ident)*) => {$(
        impl<T: Agent> Agent for $pointer<T> {
            type State = T::State;

            fn name(&self) -> &str {
                (**self).name()
            }

            async fn run(&self, state: Self::State) -> Result<Self::State, AgentError> {
                let answer = (**self).run(state).await;
                answer.map_err(|error| error.of_agent(self.name()))
            }

            fn as_graph(&self) -> Option<AgentGraph<Self::State>> {
                (**self).as_graph()
            }
        }
    )*};
}

forward!(Box Arc);
