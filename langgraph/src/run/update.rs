//! Changing a thread from outside.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use super::Subgraph;
use crate::AgentError;
use crate::checkpoint::CheckpointId;
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::{IntoInput, NodeError, Output};
use crate::state::State;

/// One update of a superstep that is written from outside: what, and as which node.
pub struct StateUpdate<S: State> {
    pub(crate) output: Result<Output<S>, NodeError>,
    pub(crate) node: Option<NodeName>,
}

impl<S: State> StateUpdate<S> {
    /// An update: a state, an update, or a command whose `goto` is followed.
    pub fn new(update: impl IntoInput<S>) -> Self {
        Self {
            output: update.into_output(),
            node: None,
        }
    }

    /// Written as if that node had run: its edges, joins and routers are followed. [`START`](crate::START)
    /// counts as one.
    #[must_use]
    pub fn as_node(mut self, node: impl Into<NodeName>) -> Self {
        self.node = Some(node.into());
        self
    }
}

impl<S: State> fmt::Debug for StateUpdate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateUpdate")
            .field("node", &self.node)
            .finish_non_exhaustive()
    }
}

/// A change of a thread, before it is made: await it. It answers with the new checkpoint.
#[must_use = "nothing is changed until it is awaited"]
pub struct ThreadUpdate<S: State> {
    pub(crate) target: Target<S>,
    pub(crate) at: Option<CheckpointId>,
    pub(crate) change: Change<S>,
}

/// What is changed.
pub(crate) enum Target<S: State> {
    Thread(CompiledStateGraph<S>, String),
    /// A graph inside a thread.
    Inside(Subgraph<S>),
}

pub(crate) enum Change<S: State> {
    /// Supersteps of updates.
    Updates(Vec<Vec<StateUpdate<S>>>),
    /// An input that is not taken up yet, beside what is pending.
    Input(Result<Output<S>, NodeError>),
    /// Nothing is pending any more.
    Clear,
    /// The same checkpoint again, beside itself.
    Copy,
}

impl<S: State> Change<S> {
    pub(crate) fn updates<U: IntoIterator<Item = StateUpdate<S>>>(
        supersteps: impl IntoIterator<Item = U>,
    ) -> Self {
        let supersteps = supersteps.into_iter();
        Self::Updates(
            supersteps
                .map(|updates| updates.into_iter().collect())
                .collect(),
        )
    }
}

impl<S: State> ThreadUpdate<S> {
    pub(crate) fn new(target: Target<S>, change: Change<S>) -> Self {
        Self {
            target,
            at: None,
            change,
        }
    }

    /// Changes the thread at that checkpoint instead of at its head. What came after it is kept.
    pub fn at(mut self, checkpoint: CheckpointId) -> Self {
        self.at = Some(checkpoint);
        self
    }

    /// Writes as if that node had run, for an update of one superstep; see
    /// [`StateUpdate::as_node`].
    pub fn as_node(mut self, node: impl Into<NodeName>) -> Self {
        if let Change::Updates(supersteps) = &mut self.change {
            let node = node.into();
            for update in supersteps.iter_mut().flatten() {
                update.node = Some(Arc::clone(&node));
            }
        }
        self
    }
}

impl<S: State> fmt::Debug for ThreadUpdate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ThreadUpdate");
        match &self.target {
            Target::Thread(_, thread) => shown.field("thread", thread),
            Target::Inside(subgraph) => shown.field("subgraph", subgraph),
        };
        shown.field("at", &self.at).finish_non_exhaustive()
    }
}

impl<S: State> IntoFuture for ThreadUpdate<S> {
    type Output = Result<CheckpointId, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

/// Changing threads from outside.
impl<S: State> CompiledStateGraph<S> {
    /// Writes to a thread from outside: a new checkpoint, whose update went through the reducers.
    ///
    /// What was pending is dropped, but for nodes that a join has started or that are deferred; what
    /// comes next is what follows the node that the update is written as. Unless
    /// [`as_node`](ThreadUpdate::as_node) says which, that is the node that ran last by an edge.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("a", |n: &i64| n + 1).add_node("b", |n: &i64| n * 2);
    /// graph.add_sequence(&["a", "b"]).interrupt_before(["b"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// graph.run(1).thread("t").await?; // pauses before `b`
    /// graph.update_state("t", 100).as_node("a").await?;
    /// assert_eq!(graph.proceed("t").await?.into_state(), 200);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update_state(
        &self,
        thread: impl Into<String>,
        update: impl IntoInput<S>,
    ) -> ThreadUpdate<S> {
        self.update_supersteps(thread, [[StateUpdate::new(update)]])
    }

    /// Writes several supersteps from outside, each of several updates, each as a node.
    pub fn update_supersteps<U: IntoIterator<Item = StateUpdate<S>>>(
        &self,
        thread: impl Into<String>,
        supersteps: impl IntoIterator<Item = U>,
    ) -> ThreadUpdate<S> {
        self.change(thread, Change::updates(supersteps))
    }

    /// Puts an input beside what is pending; [`proceed`](Self::proceed) takes it up.
    pub fn add_input(
        &self,
        thread: impl Into<String>,
        input: impl IntoInput<S>,
    ) -> ThreadUpdate<S> {
        self.change(thread, Change::Input(input.into_output()))
    }

    /// Drops whatever is pending on a thread. What tasks beside it have finished is kept, and what
    /// follows them comes next; else nothing does.
    pub fn clear_pending(&self, thread: impl Into<String>) -> ThreadUpdate<S> {
        self.change(thread, Change::Clear)
    }

    /// Makes a checkpoint that is the same as another, beside it: a branch to try things on.
    pub fn copy_checkpoint(&self, thread: impl Into<String>) -> ThreadUpdate<S> {
        self.change(thread, Change::Copy)
    }

    fn change(&self, thread: impl Into<String>, change: Change<S>) -> ThreadUpdate<S> {
        ThreadUpdate::new(Target::Thread(self.clone(), thread.into()), change)
    }
}
