//! Changing a graph inside a thread from outside.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::SubgraphError;
use super::seed::seed;
use super::{Opened, Subgraph};
use crate::AgentError;
use crate::checkpoint::{CheckpointId, ThreadKey};
use crate::node::{IntoOutput, Resources};
use crate::run::change::apply;
use crate::run::log::Log;
use crate::run::prepare::machine_inside;
use crate::run::record::Snapshots;
use crate::run::update::{Change, Target};
use crate::run::{Persistence, StateUpdate, ThreadUpdate};
use crate::state::State;

/// Changing it from outside. A change is gone on with by the thread: `graph.proceed(thread)`. What
/// the graph had asked is not asked any more; the tasks around it run again.
impl<T: State> Subgraph<T> {
    /// Writes to the graph from outside, as
    /// [`CompiledStateGraph::update_state`](crate::CompiledStateGraph::update_state) writes to a
    /// thread. [`ThreadUpdate::at`] names one of its own checkpoints.
    pub fn update_state(&self, update: impl IntoOutput<T>) -> ThreadUpdate<T> {
        self.update_supersteps([[StateUpdate::new(update)]])
    }

    /// Writes several supersteps from outside, each of several updates, each as a node.
    pub fn update_supersteps<U: IntoIterator<Item = StateUpdate<T>>>(
        &self,
        supersteps: impl IntoIterator<Item = U>,
    ) -> ThreadUpdate<T> {
        self.change(Change::updates(supersteps))
    }

    /// Puts an input beside what is pending in the graph.
    pub fn add_input(&self, input: impl IntoOutput<T>) -> ThreadUpdate<T> {
        self.change(Change::Input(input.into_output()))
    }

    /// Drops whatever is pending in the graph: it has ended when the thread goes on.
    pub fn clear_pending(&self) -> ThreadUpdate<T> {
        self.change(Change::Clear)
    }

    /// Goes back inside the graph: a copy of the checkpoint that [`at`](ThreadUpdate::at) names (of
    /// the head, without one), whose tasks all run again when the thread goes on.
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
    /// graph.run(0).thread("t").await?; // asks
    ///
    /// let inner = graph.subgraph::<i64>("t", "inner")?;
    /// let before_draw = inner.history().await?.into_iter().find(|s| s.step == 0).unwrap();
    /// inner.copy_checkpoint().at(before_draw.id).await?;
    /// graph.proceed("t").await?; // draws and asks again
    /// assert_eq!(inner.history().await?.len(), 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy_checkpoint(&self) -> ThreadUpdate<T> {
        self.change(Change::Copy)
    }

    fn change(&self, change: Change<T>) -> ThreadUpdate<T> {
        ThreadUpdate::new(Target::Inside(self.clone()), change)
    }

    /// Makes a change, at a checkpoint of the graph's own.
    pub(in crate::run) async fn make(
        self,
        change: Change<T>,
        at: Option<CheckpointId>,
    ) -> Result<CheckpointId, AgentError> {
        let mut descent = self.descend().await?;
        let not_started = || self.error(|thread, path| SubgraphError::NotStarted { thread, path });
        let Some(found) = descent.found.take() else {
            return Err(not_started());
        };
        let kept = matches!(found.graph.persistence(), Persistence::PerThread(_));
        let opened = self.opened(found)?;
        let started = self.saver.head(&opened.key).await?.is_some();
        if !kept && !started {
            return Err(not_started());
        }
        let resources = std::mem::take(&mut descent.resources);
        if kept || descent.pending().is_some() {
            let made = self
                .apply(&opened, &opened.key, resources, change, at)
                .await?;
            descent.run_again(&self.saver).await?;
            return Ok(made);
        }
        if self.at.is_none() {
            return Err(self.error(|thread, path| SubgraphError::Ended { thread, path }));
        }
        let Some(seeded) = seed(&self.saver, &descent, &self.path, &opened.key, at).await? else {
            return Err(self.error(|thread, path| SubgraphError::Ended { thread, path }));
        };
        // The thread comes last: until then nobody sees what is below its copy.
        let made = async {
            let key = seeded.key();
            let made = self.apply(&opened, key, resources, change, at).await?;
            self.root
                .fork(&self.saver, &self.thread, seeded.fork)
                .await?;
            Ok(made)
        };
        let made = made.await;
        if made.is_err() {
            seeded.remove(&self.saver).await;
        }
        made
    }

    async fn apply(
        &self,
        opened: &Opened<T>,
        key: &ThreadKey,
        resources: Resources,
        change: Change<T>,
        at: Option<CheckpointId>,
    ) -> Result<CheckpointId, AgentError> {
        let (graph, initial) = (&opened.graph, T::clone(&opened.initial));
        let mut machine = machine_inside(graph, &opened.namespace, resources, initial);
        let mut log = Log {
            saver: Arc::clone(&self.saver),
            key: key.clone(),
            metadata: BTreeMap::new(),
            snapshots: Snapshots::Never,
            call: None,
            encodes: true,
            at_rest: true,
            next: None,
        };
        let loaded = log.load(&machine, at).await?;
        // What is changed in a call stays a part of it.
        log.call = loaded
            .as_ref()
            .and_then(|loaded| loaded.stored.checkpoint.call.clone());
        apply(&mut machine, &log, loaded, change).await
    }
}
