//! The subgraphs of a thread, each with a log of its own.

use std::sync::Arc;

use self::resolve::{FoundLog, Resolved};
use super::contained::contained;
use super::log_view::LogView;
use super::{Place, SubgraphPlace, Thread};
use crate::checkpoint::CheckpointId;
use crate::error::AgentError;
use crate::node::InnerGraph;
use crate::node::Persistence;
use crate::state::State;

mod copy;
mod erased;
mod path;
mod resolve;
mod write;

use crate::error::SubgraphError;
pub use path::SubgraphPath;

/// The subgraphs of a thread.
impl<S: State> Thread<S> {
    /// Returns the handle of a subgraph over the state `T`, given the path of nodes to it. It is
    /// the same handle over another log.
    ///
    /// A graph that is stored per call has one log for each call. The handle refers to the newest
    /// call on the thread's branch; or, with [`at`](Self::at) on the thread, to the call of that
    /// checkpoint. A graph under [`PerThread`](crate::run::Persistence::PerThread) has one log for
    /// all calls.
    ///
    /// The subgraph continues with its thread: run, resume and proceed on the thread. An update of
    /// the subgraph at an older checkpoint of the thread changes a copy of that checkpoint, whose
    /// other tasks all run again; the copy becomes the thread's head.
    ///
    /// # Errors
    ///
    /// [`SubgraphError`] if a node on the path does not exist or is not a graph, or if the graph
    /// has another state or persists nothing.
    ///
    /// # Examples
    ///
    /// A subgraph pauses, is corrected from outside, and continues with the correction:
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut inner = StateGraph::<i64>::new();
    /// inner.add_node("double", |n: &i64| n * 2).add_node("increment", |n: &i64| n + 1);
    /// inner.add_sequence(&["double", "increment"]).interrupt_before(["increment"]);
    ///
    /// let mut outer = StateGraph::<i64>::new();
    /// outer.add_node("inner", inner.compile()?).add_sequence(&["inner"]);
    /// let graph = outer.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// let thread = graph.thread("t");
    /// thread.run(20).await?; // pauses before `inner/increment`
    ///
    /// let inner = thread.subgraph::<i64>("inner")?;
    /// assert_eq!(inner.state().await?.unwrap().values, 40);
    /// inner.update(100).as_node("double").await?;
    /// assert_eq!(thread.proceed().await?.finished()?, 101);
    /// # Ok(())
    /// # }
    /// ```
    pub fn subgraph<T: State>(
        &self,
        path: impl Into<SubgraphPath>,
    ) -> Result<Thread<T>, SubgraphError> {
        let (root, mut path): (Arc<dyn InnerGraph>, _) = match &self.place {
            Place::Root => (
                Arc::new(self.graph.clone()),
                path.into().starting_at(self.at),
            ),
            Place::Subgraph(inside) => (
                Arc::clone(&inside.root),
                inside.path.clone().join(path.into().starting_at(self.at)),
            ),
        };
        let mut graph = resolve::check::<T>(&*root, &mut path)?;
        graph.saver.clone_from(&self.graph.saver);
        Ok(Thread {
            id: self.id.clone(),
            graph,
            place: Place::Subgraph(SubgraphPlace { root, path }),
            every_graph: self.every_graph,
            at: None,
        })
    }

    /// Returns the checkpoints of the tasks around a subgraph, outermost first: the thread's, which runs the first graph
    /// of the path, then those of the graphs on it. There are fewer if one of these has not been called, and a thread
    /// has none.
    ///
    /// # Errors
    ///
    /// As [`state`](Self::state).
    pub async fn outer_checkpoints(&self) -> Result<Vec<CheckpointId>, AgentError> {
        let Place::Subgraph(inside) = &self.place else {
            return Ok(Vec::new());
        };
        let way = contained(self.resolve(inside)).await?;
        Ok(way.outer.iter().map(|outer| outer.checkpoint).collect())
    }

    /// Follows the path to a subgraph, as far as it exists.
    pub(super) async fn resolve(&self, inside: &SubgraphPlace) -> Result<Resolved, AgentError> {
        let saver = self.saver()?;
        resolve::resolve(&*inside.root, saver, &self.id, &inside.path).await
    }

    /// Opens the log at the end of a path.
    pub(super) fn open_inside(
        &self,
        inside: &SubgraphPlace,
        found: FoundLog,
    ) -> Result<LogView<S>, AgentError> {
        Ok(LogView {
            saver: Arc::clone(self.saver()?),
            initial: self.graph.begins_with(found.around),
            graph: self.graph.clone(),
            key: found.key,
            namespace: inside.path.names(),
        })
    }

    /// Opens the log of a graph under `PerThread`, and resolves the path to it.
    pub(super) async fn open_kept(
        &self,
        inside: &SubgraphPlace,
    ) -> Result<(LogView<S>, Resolved), AgentError> {
        let mut way = self.resolve(inside).await?;
        let found = way.found.take().filter(|_| self.is_kept());
        let Some(found) = found else {
            let path = inside.path.to_string();
            return Err(SubgraphError::NotKept { path }.into());
        };
        Ok((self.open_inside(inside, found)?, way))
    }

    fn is_kept(&self) -> bool {
        matches!(self.graph.persistence, Persistence::PerThread(_))
    }
}
