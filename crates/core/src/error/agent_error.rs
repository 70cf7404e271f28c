//! Errors of runs.

use std::time::Duration;

use langgraph_topology::NodeName;

use super::{
    CheckpointError, ErrorKind, Failure, Interrupted, InvalidUpdate, MissingResource, NoRuntime,
    NodeError, Pause, SubgraphError, quoted,
};
use crate::interrupt::Interrupt;

/// Why a run ended without its result.
///
/// # Examples
///
/// ```
/// use langgraph::error::AgentError;
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
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// A node failed, after its retries.
    #[error("node `{}` {}: {source}", path(.namespace, .node), verb(.source))]
    Node {
        /// The node.
        node: NodeName,
        /// The path of nodes to its graph, outermost first; empty at the root.
        namespace: Vec<NodeName>,
        /// The error of its last attempt.
        source: Failure,
    },
    /// An `Agent` failed with an error of its own, which `?` has turned into this.
    #[error("{}{source}", agent_prefix(.agent.as_deref()))]
    Agent {
        /// The agent's name; it is known where the agent is a node.
        agent: Option<String>,
        /// What it failed with.
        source: Failure,
    },
    /// The run waits for answers; see [`Pause`].
    #[error("the run waits for {}", .0)]
    Interrupted(Box<Pause>),
    /// A new input came while the thread waits for answers; see
    /// `thread::OnOpenInterrupt`.
    #[error(
        "thread `{thread}` waits for an answer to {}; answer it, or say with `.on_open_interrupt(..)` what becomes of it",
        quoted::interrupts(.interrupts)
    )]
    InterruptsOpen {
        /// The thread.
        thread: String,
        /// The questions, in task order.
        interrupts: Vec<Interrupt>,
    },
    /// The run reached its step limit with nodes left to run.
    #[error(
        "step limit of {limit} reached, and {} would run next; raise it with `.limit(n)`, or give the loop an exit",
        quoted::names(.next)
    )]
    StepLimit {
        /// The limit.
        limit: usize,
        /// The nodes that would have run next.
        next: Vec<NodeName>,
    },
    /// The run would have followed an edge more often than its bound allows, and the bound names no exit.
    #[error(
        "after `{from}`: the run has followed the edge to `{to}` {at_most} times, which is its bound; raise the bound, \
         or name where to go then, as in `{to} at_most {at_most} else END`"
    )]
    BoundReached {
        /// Where the edge begins.
        from: NodeName,
        /// Where it leads.
        to: NodeName,
        /// How often a run follows it.
        at_most: u32,
    },
    /// The writes of a superstep conflict, or a reducer refused one.
    #[error(transparent)]
    InvalidUpdate(InvalidUpdate),
    /// A node or a router named a target that does not exist.
    #[error("after `{node}`: {problem}")]
    Routing {
        /// The node that jumped, or whose router was called.
        node: NodeName,
        /// The unknown target.
        target: String,
        /// The problem.
        problem: String,
    },
    /// The checkpointer failed, or a thread cannot be read.
    #[error("checkpoint: {0}")]
    Checkpoint(#[source] CheckpointError),
    /// A subgraph of a thread cannot be read or changed.
    #[error(transparent)]
    Subgraph(SubgraphError),
    /// The call of a remote agent failed.
    #[error("remote node `{}` (agent `{agent}`): {source}", path(.namespace, .node))]
    Remote {
        /// The node.
        node: NodeName,
        /// The path of nodes to its graph, outermost first; empty at the root.
        namespace: Vec<NodeName>,
        /// The agent.
        agent: String,
        /// The cause.
        source: Failure,
    },
    /// The caller passed an invalid input.
    #[error("{0}")]
    InvalidInput(String),
    /// An option of the run is invalid.
    #[error("{0}")]
    InvalidOption(String),
    /// A node's command is for a parent graph, and there is none.
    #[error(
        "a node answered with `Command::parent` (`{command}`), which reaches the graph around only from a graph that is a node; there is none here"
    )]
    NoParent {
        /// The type of the command, which names the state of its graph.
        command: String,
    },
    /// The caller cancelled the run.
    #[error("the run was cancelled")]
    Cancelled,
    /// The run needs a tokio runtime, and there is none.
    #[error(transparent)]
    NoRuntime(NoRuntime),
    /// The run that merged the input of this call failed; see
    /// `thread::OnConflict::Join`.
    #[error("the run that merged this input on thread `{thread}` failed: {reason}")]
    JoinedRun {
        /// The thread.
        thread: String,
        /// The kind of its error.
        kind: ErrorKind,
        /// Its error.
        reason: String,
    },
    /// Code of the state or of an error panicked outside of nodes.
    #[error("the run panicked: {0}")]
    Panicked(String),
    /// The run exceeded its time limit.
    #[error("the run exceeded its deadline of {0:?}")]
    TimedOut(Duration),
}

impl AgentError {
    /// Returns the error of the node that failed, if a node failed.
    pub fn node_error(&self) -> Option<&NodeError> {
        match self {
            Self::Node { source, .. }
            | Self::Agent { source, .. }
            | Self::Remote { source, .. } => Some(source.node_error()),
            _ => None,
        }
    }

    /// Adds the name of the agent, unless the error has one.
    #[must_use]
    pub fn of_agent(mut self, name: &str) -> Self {
        if let Self::Agent { agent, .. } = &mut self {
            agent.get_or_insert_with(|| name.to_owned());
        }
        self
    }

    /// Returns the error of an answer that the caller passed, if the run failed because of it. That
    /// is the caller's mistake, not the node's. The interrupt stays open.
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
    /// assert_eq!(graph.thread("t").answer(3).await?.finished()?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn refused_answer(&self) -> Option<&Interrupted> {
        let refused = self.node_error()?.downcast_ref::<Interrupted>()?;
        refused.is_refused().then_some(refused)
    }

    /// Returns the open interrupts, if the run waits for answers.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Self::Interrupted(pause) => &pause.interrupts,
            Self::InterruptsOpen { interrupts, .. } => interrupts,
            _ => &[],
        }
    }
}

fn agent_prefix(agent: Option<&str>) -> String {
    let prefix = |name| format!("agent `{name}` failed: ");
    agent.map_or_else(String::new, prefix)
}

/// Says what the node does: an answer of the wrong form is no failure of the node, which waits on.
fn verb(source: &Failure) -> &'static str {
    let refused = source.downcast_ref::<Interrupted>();
    match refused {
        Some(refused) if refused.is_refused() => "waits on",
        _ if source.downcast_ref::<MissingResource>().is_some() => "cannot run",
        _ => "failed",
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

crate::debug_is_message!(AgentError);
