//! The graphs inside a thread, each with a log of its own.

use std::sync::Arc;

use self::resolve::{FoundLog, Resolved};
use super::log_view::LogView;
use super::{Inside, Place, Thread};
use crate::error::AgentError;
use crate::node::InnerGraph;
use crate::node::Persistence;
use crate::state::State;

mod copy;
mod erased;
mod invalidate;
mod path;
mod resolve;
mod write;

use crate::error::SubgraphError;
pub use path::SubgraphPath;

/// The graphs inside a thread.
impl<S: State> Thread<S> {
    /// A graph inside the thread, over the state `T`: the node that it is, or the nodes on the way
    /// to it. It has the same handle over a log of its own.
    ///
    /// A graph that is kept per call has one log for each call; this is the newest call on the
    /// branch that the thread is on, or with [`at`](Self::at) on the thread, the one of an older
    /// checkpoint. A graph that is kept [from call to call](crate::run::Persistence::PerThread) has
    /// one log for all of them.
    ///
    /// The graph inside goes on with its thread, which runs, resumes and proceeds for both. A
    /// change of it at an older checkpoint of the thread is made in a copy of that checkpoint,
    /// whose other tasks all run again; the copy becomes the thread's head.
    ///
    /// # Errors
    ///
    /// [`SubgraphError`] when a node on the way does not exist or is no graph, when the graph is
    /// over another state, or keeps nothing.
    ///
    /// # Examples
    ///
    /// A graph inside waits, is corrected from outside, and goes on with that:
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
    /// assert_eq!(thread.proceed().await?.into_state(), 101);
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
            Place::Inside(inside) => (
                Arc::clone(&inside.root),
                inside.path.clone().join(path.into().starting_at(self.at)),
            ),
        };
        let mut graph = resolve::check::<T>(&*root, &mut path)?;
        graph.saver.clone_from(&self.graph.saver);
        Ok(Thread {
            id: self.id.clone(),
            graph,
            place: Place::Inside(Inside { root, path }),
            at: None,
        })
    }

    /// Follows the way to a graph inside, as far as it goes.
    pub(super) async fn resolve(&self, inside: &Inside) -> Result<Resolved, AgentError> {
        let saver = self.saver()?;
        resolve::resolve(&*inside.root, saver, &self.id, &inside.path).await
    }

    /// The log that was found at the end of a way.
    pub(super) fn open_inside(
        &self,
        inside: &Inside,
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

    /// The log of a graph that is kept from call to call, and the way to it.
    pub(super) async fn open_kept(
        &self,
        inside: &Inside,
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
