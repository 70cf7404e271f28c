//! What a run fails with.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::graph::NodeName;
use crate::node::{Interrupt, Interrupted, NodeError};
use crate::runtime::NoRuntime;
use crate::state::ReducerError;

/// Why a run ended without its result.
///
/// # Examples
///
/// ```
/// use langgraph::AgentError;
///
/// fn report(error: &AgentError) -> String {
///     match error {
///         AgentError::Node { node, .. } => format!("`{node}` failed: {error}"),
///         AgentError::StepLimit { limit, .. } => format!("stopped after {limit} supersteps"),
///         other => other.to_string(),
///     }
/// }
/// # let _ = report(&AgentError::Cancelled);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A node failed, after its retries.
    #[error("node `{}` failed: {source}", path(.namespace, .node))]
    Node {
        /// The node.
        node: NodeName,
        /// The nodes around its graph, outermost first; empty at the root.
        namespace: Vec<NodeName>,
        /// What it failed with.
        source: Failure,
    },
    /// The run waits for answers; see [`Pause`].
    #[error("the run waits for {}", .0)]
    Interrupted(Box<Pause>),
    /// The graph wanted more supersteps than the run may take.
    #[error(
        "step limit of {limit} reached, and {} would run next; raise it with `.limit(n)`, or give the loop an exit",
        list(.next)
    )]
    StepLimit {
        /// The limit.
        limit: usize,
        /// The nodes that would have run next.
        next: Vec<NodeName>,
    },
    /// What the nodes of a superstep wrote does not fit together.
    #[error(transparent)]
    InvalidUpdate(#[from] InvalidUpdate),
    /// A node or a router said where to go, and there is no such place.
    #[error("after `{node}`: {problem}")]
    Routing {
        /// The node after which it was asked.
        node: NodeName,
        /// The answer that leads nowhere.
        target: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The checkpointer failed, or a thread cannot be read.
    #[error("checkpoint: {0}")]
    Checkpoint(#[from] crate::checkpoint::CheckpointError),
    /// A graph inside a thread cannot be looked at or changed.
    #[error(transparent)]
    Subgraph(#[from] crate::thread::SubgraphError),
    /// A call to a remote agent failed.
    #[error("remote node `{}` (agent `{agent}`): {source}", path(.namespace, .node))]
    Remote {
        /// The node.
        node: NodeName,
        /// The nodes around its graph, outermost first; empty at the root.
        namespace: Vec<NodeName>,
        /// The agent.
        agent: String,
        /// Why.
        source: Failure,
    },
    /// What the caller gave the run is wrong.
    #[error("{0}")]
    InvalidInput(String),
    /// An option of the run makes no sense.
    #[error("{0}")]
    InvalidOption(String),
    /// A node's command is for the graph around, and there is none.
    #[error(
        "a node answered with `Command::parent` (`{command}`), which reaches the graph around only from a graph that is a node; there is none here"
    )]
    NoParent {
        /// The type of the command, which names the state it is for.
        command: String,
    },
    /// The caller cancelled the run.
    #[error("the run was cancelled")]
    Cancelled,
    /// The run needs a tokio runtime, and there is none around.
    #[error(transparent)]
    NoRuntime(#[from] NoRuntime),
    /// The run took longer than it may.
    #[error("the run exceeded its deadline of {0:?}")]
    TimedOut(Duration),
}

/// The error of a node, kept as it was.
pub struct Failure(pub(crate) NodeError);

impl Failure {
    /// The node's error.
    pub fn node_error(&self) -> &NodeError {
        &self.0
    }

    /// The first error of type `E` in the chain.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

/// An error of a node as one of [`std::error::Error`], to be the source of another.
///
/// An [`Agent`](crate::Agent) fails with it as one of its nodes would.
///
/// ```
/// use langgraph::{AgentError, NodeError};
///
/// fn failed(node: &str, error: NodeError) -> AgentError {
///     AgentError::Node { node: node.into(), namespace: Vec::new(), source: error.into() }
/// }
///
/// let error = failed("fetch", NodeError::msg("no connection"));
/// assert_eq!(error.to_string(), "node `fetch` failed: no connection");
/// ```
impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        Self(error)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source().source()
    }
}

impl AgentError {
    /// The error with which a node failed, if that is why the run ended.
    pub fn node_error(&self) -> Option<&NodeError> {
        match self {
            Self::Node { source, .. } | Self::Remote { source, .. } => Some(&source.0),
            _ => None,
        }
    }

    /// What is wrong with the answer that the run was given, if that is why it failed: the caller's
    /// mistake, and not the node's. The question waits as before.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// fn order(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    ///     Ok(cx.interrupt("how many", "How many?")?)
    /// }
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("order", order).add_sequence(&["order"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// graph.run(0).thread("t").await?;
    ///
    /// let error = graph.thread("t").answer("a few").await.unwrap_err();
    /// let refused = error.refused_answer().map(|refused| refused.to_string());
    /// assert_eq!(
    ///     refused.as_deref(),
    ///     Some("the answer to `how many` has the wrong form: invalid type: string \"a few\", expected i64")
    /// );
    /// assert_eq!(graph.thread("t").answer(3).await?.into_state(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn refused_answer(&self) -> Option<&Interrupted> {
        let refused = self.node_error()?.downcast_ref::<Interrupted>()?;
        refused.is_refused().then_some(refused)
    }

    /// The questions the run waits for, if that is why it ended.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Self::Interrupted(pause) => &pause.interrupts,
            _ => &[],
        }
    }
}

/// What the nodes of one superstep wrote does not fit together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUpdate {
    /// Several nodes wrote a field that has no reducer.
    #[error(
        "field `{field}` was written by {} in one superstep; give it a `#[reducer(..)]`, or run the nodes one after the other",
        list(nodes)
    )]
    Conflict {
        /// The field.
        field: String,
        /// The nodes, in task order.
        nodes: Vec<NodeName>,
    },
    /// Several nodes set a field past its reducer.
    #[error(
        "field `{field}` was overwritten by {} in one superstep; only one overwrite can win",
        list(nodes)
    )]
    Overwrites {
        /// The field.
        field: String,
        /// The nodes, in task order.
        nodes: Vec<NodeName>,
    },
    /// A node answered with the whole state beside another write.
    #[error(
        "node `{node}` returned the whole state while {} wrote too; return an update instead",
        list(others)
    )]
    WholeState {
        /// The node that returned the state.
        node: NodeName,
        /// The other nodes that wrote.
        others: Vec<NodeName>,
    },
    /// A reducer panicked.
    #[error("{writer}: a reducer panicked: {message}")]
    Panicked {
        /// Who wrote the update.
        writer: WrittenBy,
        /// What it panicked with.
        message: String,
    },
    /// A reducer refused an update.
    #[error("{writer}: {source}")]
    Reducer {
        /// Who wrote the update.
        writer: WrittenBy,
        /// Why it was refused.
        source: ReducerError,
    },
}

/// Who wrote an update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrittenBy {
    /// A node.
    Node(NodeName),
    /// The input of a run.
    Input,
    /// A change of the thread from outside, or the update of a command that resumes it.
    External,
}

impl fmt::Display for WrittenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => write!(f, "update of node `{node}`"),
            Self::Input => f.write_str("input"),
            Self::External => f.write_str("update from outside"),
        }
    }
}

/// A run that waits for answers.
pub struct Pause {
    /// The questions, in task order; none at a breakpoint.
    pub interrupts: Vec<Interrupt>,
    /// The nodes that run when it goes on.
    pub next: Vec<NodeName>,
    pub(crate) state: Arc<dyn Any + Send + Sync>,
}

impl Pause {
    /// The state so far, if the graph's state type is `S`.
    pub fn state<S: Send + Sync + 'static>(&self) -> Option<&S> {
        self.state.downcast_ref()
    }
}

impl fmt::Debug for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pause")
            .field("interrupts", &self.interrupts)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.interrupts.is_empty() {
            return write!(
                f,
                "somebody to continue it at the breakpoint at {}",
                list(&self.next)
            );
        }
        let questions: Vec<_> = self
            .interrupts
            .iter()
            .map(|i| format!("`{}` of node `{}`", i.key, i.node))
            .collect();
        write!(f, "an answer to {}", questions.join(", "))
    }
}

fn path(namespace: &[NodeName], node: &NodeName) -> String {
    namespace
        .iter()
        .chain([node])
        .map(|name| &**name)
        .collect::<Vec<_>>()
        .join("/")
}

fn list(names: &[NodeName]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
