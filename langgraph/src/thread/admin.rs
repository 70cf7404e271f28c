//! Copying, pruning and deleting threads.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use super::{Place, Thread, Threads};
use crate::checkpoint::{RunStatus, StorageUsage, ThreadFilter, ThreadInfo, check_thread_id};
use crate::environment;
use crate::error::{AgentError, CheckpointError};
use crate::state::State;

/// The checkpoints that a pruned thread keeps. Its head always stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keep {
    /// The newest ones, up to this number.
    Newest(usize),
    /// Those created since this time.
    Since(SystemTime),
}

/// Maintains a thread: copy, prune, delete.
impl<S: State> Thread<S> {
    /// Copies the thread with its history and its pending tasks to a new thread of that name.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] without such a thread, [`CheckpointError::ThreadExists`]
    /// when there is a thread `to`. [`CheckpointError::OtherGraph`] if another graph has run on it last; see
    /// [`Threads::of_all_graphs`]. [`SubgraphError::PartOfThread`](super::SubgraphError::PartOfThread)
    /// for a graph inside a thread.
    pub async fn copy(&self, to: &str) -> Result<(), AgentError> {
        self.require_root("copy")?;
        check_thread_id(to)?;
        self.require_owner("copied", "copying a thread").await?;
        let administration = self.saver()?.administration_for("copying a thread")?;
        Ok(administration.copy_thread(&self.id, to).await?)
    }

    /// Deletes the thread, with the logs of its subgraphs.
    ///
    /// For a subgraph under [`PerThread`](crate::run::Persistence::PerThread), it deletes the log
    /// of the subgraph: the next call starts anew.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails; [`CheckpointError::OtherGraph`] if another graph has
    /// run on it last; see [`Threads::of_all_graphs`].
    /// [`SubgraphError::NotKept`](super::SubgraphError::NotKept) for a subgraph that is stored per
    /// call.
    pub async fn delete(&self) -> Result<(), AgentError> {
        let saver = self.saver()?;
        let administration = saver.administration_for("deleting a thread")?;
        let inside = match &self.place {
            Place::Root => {
                self.require_owner("deleted", "deleting a thread").await?;
                return Ok(administration.delete_thread(&self.id).await?);
            }
            Place::Subgraph(inside) => inside,
        };
        let (log, way) = self.open_kept(inside).await?;
        for key in administration.logs(&self.id).await? {
            if key.namespace.starts_with(&log.key.namespace) {
                administration.delete_log(&key).await?;
            }
        }
        way.run_again(saver).await
    }

    /// Returns the storage that the thread takes, with its subgraphs.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails.
    /// [`SubgraphError::PartOfThread`](super::SubgraphError::PartOfThread) for a subgraph of a
    /// thread.
    pub async fn usage(&self) -> Result<StorageUsage, AgentError> {
        self.require_root("usage")?;
        let administration = self.saver()?.administration_for("the usage of a thread")?;
        Ok(administration.usage(&self.id).await?)
    }

    /// Removes old checkpoints of all branches of the thread, and returns their number. The other
    /// checkpoints keep their states: what they were based on is folded into them.
    ///
    /// The logs of subgraphs are removed with their checkpoints. Only a graph under
    /// [`PerThread`](crate::run::Persistence::PerThread) can be pruned on its own; all checkpoints
    /// of its pending call stay.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::thread::Keep;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// let thread = graph.thread("t");
    /// thread.run(1).await?;
    ///
    /// assert_eq!(thread.prune(Keep::Newest(1)).await?, 2);
    /// assert_eq!(thread.state().await?.map(|snapshot| snapshot.values), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`CheckpointError::UnknownThread`] if there is no such thread, or the subgraph was never
    /// called; [`CheckpointError::OtherGraph`] if another graph has run on it last; another
    /// [`AgentError::Checkpoint`] if the storage fails. [`SubgraphError::NotKept`](super::SubgraphError::NotKept) for a subgraph that is stored per
    /// call.
    pub async fn prune(&self, keep: Keep) -> Result<usize, AgentError> {
        let inside = match &self.place {
            Place::Root => {
                self.require_owner("pruned", "pruning a thread").await?;
                return self.open_root()?.prune(keep).await;
            }
            Place::Subgraph(inside) => inside,
        };
        let (log, way) = self.open_kept(inside).await?;
        log.prune_but(keep, way.pending_call().as_deref()).await
    }
}

impl<S: State> Thread<S> {
    /// Fails for a thread of another graph, unless these are asked for.
    async fn require_owner(&self, act: &'static str, call: &'static str) -> Result<(), AgentError> {
        if self.every_graph {
            return Ok(());
        }
        let administration = self.saver()?.administration_for(call)?;
        let filter = ThreadFilter::new().thread(&*self.id);
        let info = administration.threads(filter).await?.pop();
        let name = &self.graph.topology().name;
        match info
            .filter(|info| !info.is_of(name))
            .and_then(|info| info.owner)
        {
            None => Ok(()),
            Some(owner) => Err(CheckpointError::OtherGraph {
                thread: self.id.clone(),
                graph: name.clone(),
                owner: owner.graph.clone(),
                act,
            }
            .into()),
        }
    }
}

/// Lists and deletes threads.
impl<S: State> Threads<S> {
    /// Returns the threads of the graph that match the filter, sorted by name. A long list is read in pages:
    /// [`limit`](ThreadFilter::limit) says how many, [`after`](ThreadFilter::after) names the last one of
    /// the page before.
    ///
    /// Threads that another graph has run on last are left out, unless the filter
    /// [names](ThreadFilter::graph) that one, or these are [all graphs'](Self::of_all_graphs) threads.
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph::checkpoint::{MemorySaver, ThreadFilter};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// graph.thread("one").run(1).await?;
    /// graph.thread("two").run(1).await?;
    ///
    /// let threads = graph.threads().list(ThreadFilter::new().after("one")).await?;
    /// assert_eq!((threads.len(), &*threads[0].thread), (1, "two"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list(&self, mut filter: ThreadFilter) -> Result<Vec<ThreadInfo>, AgentError> {
        if !self.every_graph && filter.graph.is_none() {
            filter = filter.graph(self.graph_name());
        }
        let administration = self.saver()?.administration_for("listing threads")?;
        Ok(administration.threads(filter).await?)
    }

    /// Deletes the threads of the graph without writes for `idle`, and says how many. A thread that is
    /// written to in the meantime stays, and so does one that cannot be read, which is
    /// [named](DeletedIdle::damaged): [`Thread::delete`] deletes it. If a run writes less often than `idle`, its thread may be
    /// deleted, and the run fails with [`CheckpointError::Conflict`].
    ///
    /// A thread that waits for a time, an event, an answer or at a breakpoint is not idle, however long it
    /// waits; [`including`](DeleteIdle::including) [`RunStatus::Interrupted`] deletes these too.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// graph.thread("t").run(1).await?;
    ///
    /// let month = Duration::from_secs(30 * 24 * 3600);
    /// assert_eq!(graph.threads().delete_idle(month).await?.threads, 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the storage fails.
    pub fn delete_idle(&self, idle: Duration) -> DeleteIdle<S> {
        let mut statuses = RunStatus::ALL.to_vec();
        statuses.retain(|status| *status != RunStatus::Interrupted);
        DeleteIdle {
            threads: self.clone(),
            idle,
            statuses,
        }
    }
}

/// How many threads one query lists.
const PAGE: usize = 1_000;

/// What a [deletion of idle threads](Threads::delete_idle) has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeletedIdle {
    /// How many threads were deleted.
    pub threads: usize,
    /// The threads of which something cannot be read, whether idle or not. They stay.
    pub damaged: Vec<String>,
}

/// A deletion of idle threads before it starts: set options, then await it.
#[must_use = "nothing is deleted until it is awaited"]
pub struct DeleteIdle<S: State> {
    threads: Threads<S>,
    idle: Duration,
    statuses: Vec<RunStatus>,
}

impl<S: State> DeleteIdle<S> {
    /// Also deletes threads whose last run stands so.
    pub fn including(mut self, status: RunStatus) -> Self {
        self.statuses.push(status);
        self
    }

    async fn delete(self) -> Result<DeletedIdle, AgentError> {
        let saver = self.threads.saver()?;
        let administration = saver.administration_for("deleting idle threads")?;
        let now = environment::now();
        let since = now.checked_sub(self.idle).unwrap_or(SystemTime::UNIX_EPOCH);
        let mut filter = ThreadFilter::new().idle_since(since).limit(PAGE);
        filter.statuses.clone_from(&self.statuses);
        let mut deleted = DeletedIdle::default();
        loop {
            let page = self.threads.list(filter.clone()).await?;
            for info in page.iter().filter(|info| info.damage.is_none()) {
                // Not a thread that was written to since the listing.
                let result = administration.delete_thread_at(&info.thread, info.head);
                match result.await {
                    Ok(()) => deleted.threads += 1,
                    Err(CheckpointError::Conflict { .. }) => {}
                    Err(error) if error.is_damage() => deleted.damaged.push(info.thread.clone()),
                    Err(error) => return Err(error.into()),
                }
            }
            match page.last() {
                Some(last) if page.len() == PAGE => filter = filter.after(&last.thread),
                _ => break,
            }
        }
        let damaged = self.threads.list(ThreadFilter::new().damaged()).await?;
        let damaged = damaged.into_iter().map(|info| info.thread);
        deleted.damaged.extend(damaged);
        deleted.damaged.sort_unstable();
        deleted.damaged.dedup();
        Ok(deleted)
    }
}

impl<S: State> IntoFuture for DeleteIdle<S> {
    type Output = Result<DeletedIdle, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.delete())
    }
}

impl_debug!([S: State] DeleteIdle<S>, |deletion|
    idle = deletion.idle, statuses = deletion.statuses);
