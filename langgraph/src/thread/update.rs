//! Updates of a thread from outside.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use super::contained::contained;
use super::{OnConflict, Thread};
use crate::checkpoint::CheckpointId;
use crate::error::{AgentError, CheckpointError, NodeError};
use crate::graph::NodeName;
use crate::graph::thread_policy::ThreadPolicy;
use crate::node::{IntoInput, Output};
use crate::state::State;

/// One update of a superstep from outside, and the node that it counts for.
pub struct StateUpdate<S: State> {
    pub(super) output: Result<Output<S>, NodeError>,
    pub(super) node: Option<NodeName>,
}

impl<S: State> StateUpdate<S> {
    /// Creates an update from a state, an update, or a command whose `goto` is followed.
    pub fn new(update: impl IntoInput<S>) -> Self {
        Self {
            output: update.into_output(),
            node: None,
        }
    }

    /// Writes as if that node had run: its edges, joins and routers are followed.
    /// [`START`](crate::START) counts as a node.
    #[must_use]
    pub fn as_node(mut self, node: impl Into<NodeName>) -> Self {
        self.node = Some(node.into());
        self
    }

    /// Returns the node that it is written as. An update that is the only one may leave this to the thread, where one
    /// node has run last.
    pub(super) fn written_as<'a>(
        &'a self,
        last: &'a [NodeName],
        several: bool,
    ) -> Result<&'a NodeName, CheckpointError> {
        let refused = |reason: String| Err(CheckpointError::InvalidUpdate(reason));
        match (&self.node, last) {
            (None, _) if several => refused(
                "each of several updates says which node it is written as; add `.as_node(..)`"
                    .to_owned(),
            ),
            (Some(node), _) | (None, [node]) => Ok(node),
            (None, nodes) => {
                let nodes = nodes.iter().map(|node| format!("`{node}`"));
                let nodes = nodes.collect::<Vec<_>>().join(" and ");
                refused(format!(
                    "{nodes} ran last, so the update has to say which node it is written as; add `.as_node(..)`"
                ))
            }
        }
    }
}

impl_debug!([S: State] StateUpdate<S>, |update| node = update.node);

/// A change of a thread. Await it to apply it; it returns the new checkpoint.
#[must_use = "nothing is changed until it is awaited"]
pub struct ThreadUpdate<S: State> {
    pub(super) thread: Thread<S>,
    pub(super) change: Change<S>,
    pub(super) policy: ThreadPolicy,
    pub(super) create: bool,
}

pub(super) enum Change<S: State> {
    /// Supersteps of updates.
    Updates(Vec<Vec<StateUpdate<S>>>),
    /// An input for later, beside the pending tasks.
    Input(Result<Output<S>, NodeError>),
    /// Drops all pending tasks.
    Clear,
    /// Copies the checkpoint.
    Fork,
}

impl<S: State> ThreadUpdate<S> {
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

impl<S: State> ThreadUpdate<S> {
    /// What happens when a run is at work on the thread, instead of what
    /// [the graph](crate::CompiledStateGraph::on_conflict) says.
    pub fn on_conflict(mut self, policy: OnConflict) -> Self {
        self.policy.on_conflict = policy;
        self
    }

    /// Creates the thread if there is none. Without it, a change of a thread that does not exist
    /// fails with [`CheckpointError::UnknownThread`](crate::error::CheckpointError::UnknownThread).
    pub fn create(mut self) -> Self {
        self.create = true;
        self
    }
}

impl_debug!([S: State] ThreadUpdate<S>, |update| thread = update.thread);

impl<S: State> IntoFuture for ThreadUpdate<S> {
    type Output = Result<CheckpointId, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(contained(self.make()))
    }
}

/// Changes a thread from outside: at its head, or at the checkpoint of [`at`](Self::at). Later
/// checkpoints are kept.
///
/// A change of a subgraph takes effect when the thread continues: call [`proceed`](Self::proceed)
/// on the thread. The change withdraws the interrupts of the subgraph, and its parent tasks run
/// again.
impl<S: State> Thread<S> {
    /// Writes to the thread from outside: it creates a checkpoint, and the reducers merge the
    /// update.
    ///
    /// The update drops pending tasks, except for nodes that a join has started and for deferred
    /// nodes. Then the successors of the node that it is written as run.
    /// [`as_node`](ThreadUpdate::as_node) sets this node; the default is the node that last ran by
    /// an edge, or by a goto from outside. A task that a new input or [`clear_pending`](Self::clear_pending) has
    /// dropped counts as run, and of nodes that ran side by side, those that were pending before the others do not.
    ///
    /// As [`START`](crate::START) it is the input of a new run, if no such node stays pending: bounds count from 0, and
    /// half-filled joins are empty.
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
    /// let thread = graph.thread("t");
    /// thread.run(1).await?; // pauses before `b`
    /// thread.update(100).as_node("a").await?;
    /// assert_eq!(thread.proceed().await?.finished()?, 200);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(&self, update: impl IntoInput<S>) -> ThreadUpdate<S> {
        self.update_supersteps([[StateUpdate::new(update)]])
    }

    /// Writes several supersteps from outside, each of several updates, each as a node.
    pub fn update_supersteps<U: IntoIterator<Item = StateUpdate<S>>>(
        &self,
        supersteps: impl IntoIterator<Item = U>,
    ) -> ThreadUpdate<S> {
        let supersteps = supersteps.into_iter();
        self.change(Change::Updates(
            supersteps
                .map(|updates| updates.into_iter().collect())
                .collect(),
        ))
    }

    /// Adds an input beside the pending tasks; [`proceed`](Self::proceed) takes it.
    pub fn add_input(&self, input: impl IntoInput<S>) -> ThreadUpdate<S> {
        self.change(Change::Input(input.into_output()))
    }

    /// Drops all pending tasks. It keeps the results of finished tasks of the superstep, whose
    /// successors run next, if there are any.
    pub fn clear_pending(&self) -> ThreadUpdate<S> {
        self.change(Change::Clear)
    }

    /// Copies the head, or the checkpoint of [`at`](Self::at): a branch for experiments. All of its
    /// tasks run again when the thread continues.
    ///
    /// # Examples
    ///
    /// Runs a subgraph again from an earlier point:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut inner = StateGraph::<i64>::new();
    /// inner.add_node("draw", |_: &i64| 4);
    /// inner.add_node("check", |_: &i64, cx: &Context| -> Result<i64, NodeError> {
    ///     Ok(cx.interrupt("right?", "is 4 right?")?)
    /// });
    /// inner.add_sequence(&["draw", "check"]);
    ///
    /// let mut outer = StateGraph::<i64>::new();
    /// outer.add_node("inner", inner.compile()?).add_sequence(&["inner"]);
    /// let graph = outer.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// let thread = graph.thread("t");
    /// thread.run(0).await?; // asks
    ///
    /// let inner = thread.subgraph::<i64>("inner")?;
    /// let before_draw = inner.history().await?.into_iter().find(|s| s.step == 0).unwrap();
    /// inner.at(before_draw.id).fork().await?;
    /// thread.proceed().await?; // draws and asks again
    /// assert_eq!(inner.history().await?.len(), 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn fork(&self) -> ThreadUpdate<S> {
        self.change(Change::Fork)
    }

    fn change(&self, change: Change<S>) -> ThreadUpdate<S> {
        ThreadUpdate {
            thread: self.clone(),
            change,
            policy: self.graph.thread_policy(),
            create: false,
        }
    }
}
