//! The saver trait.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Administration, Batch, Chain, Formats, GrowingLinks, Leases, ListOptions, StatePart, ThreadKey,
    ThreadPosition,
};
use crate::checkpoint_id::CheckpointId;
use crate::error::CheckpointError;
use crate::head::Head;

/// What an asynchronous method of a saver returns under `#[async_trait]`.
pub type SaverFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CheckpointError>> + Send + 'a>>;

/// Receives the ancestors of a checkpoint, part by part.
pub type VisitStatePart<'a> = dyn FnMut(StatePart) + Send + 'a;

/// Stores the logs of threads.
///
/// A record is stored when [`put`](Self::put) returns. The runtime does not run a task again whose
/// record is stored.
///
/// Runs need the five required methods and no more. Two further traits add to them:
/// [`Leases`], for runs that wait for a thread, and [`Administration`], for listing, copying, pruning,
/// rewinding and deleting threads. A call that needs one of them fails when the saver has none:
/// [`CheckpointError::NoLeases`], [`CheckpointError::NoAdministration`]. For a graph to take a saver,
/// it implements [`Saver`](super::Saver) too.
///
/// # Examples
///
/// Implementations are `async fn`s under `#[async_trait]`. A saver that
/// counts what another one stores:
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use langgraph::async_trait;
/// use langgraph::checkpoint::{Batch, Checkpointer, MemorySaver, Saver, ThreadKey, Values, forward_checkpointer};
/// use langgraph::error::CheckpointError;
/// use langgraph::prelude::*;
///
/// struct Counting {
///     saver: MemorySaver,
///     puts: AtomicU64,
/// }
///
/// #[async_trait]
/// impl Checkpointer for Counting {
///     async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
///         self.puts.fetch_add(1, Ordering::Relaxed);
///         self.saver.put(key, batch).await
///     }
///
///     forward_checkpointer!(saver);
/// }
///
/// impl Saver for Counting {
///     type Stores = Values;
///
///     fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
///         self
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
/// let saver = Arc::new(Counting { saver: MemorySaver::new(), puts: AtomicU64::new(0) });
/// let graph = graph.compile()?.checkpointer(Arc::clone(&saver));
///
/// graph.run(1).thread("t").await?;
/// // The input, what follows START, and the superstep.
/// assert_eq!(saver.puts.load(Ordering::Relaxed), 3);
/// assert_eq!(graph.threads().list(Default::default()).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Checkpointer: Send + Sync + 'static {
    /// Returns the formats in which this saver stores values as bytes; `None` if it stores values
    /// as they are.
    fn formats(&self) -> Option<&Formats>;

    /// Stores a batch atomically. An empty batch only raises the version of the log, so that a
    /// writer with the old version is refused.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] if the head of the log is not the one that the batch names.
    /// [`CheckpointError::BaseGone`] if a new checkpoint is based on one that is not stored; see
    /// [`Batch::bases`].
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError>;

    /// As [`put`](Self::put), for a saver that never waits, as in memory. It takes the records out of
    /// `batch`, whose lists the caller fills again, and needs no future.
    ///
    /// The default takes nothing and returns `None`: the runtime awaits [`put`](Self::put), and
    /// lets it end if the run is dropped in the meantime.
    fn put_now(&self, _: &ThreadKey, _: &mut Batch) -> Option<Result<(), CheckpointError>> {
        None
    }

    /// For a saver in memory: takes the links that a run adds to the log behind `head`, from the one that is there
    /// on, until the saver [closes](GrowingLinks::close) them. Each counts as a batch. The result is false if the saver
    /// does not take them.
    ///
    /// The default takes none: the runtime stores each checkpoint as a whole.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Conflict`] if `head` is not the head of the log.
    fn share_links(
        &self,
        _: &ThreadKey,
        _: Head,
        _: Arc<dyn GrowingLinks>,
    ) -> Result<bool, CheckpointError> {
        Ok(false)
    }

    /// Loads the records from which the state of a checkpoint is folded; without `id`, of the head.
    /// These are its ancestors from the nearest snapshot on, oldest first, and the checkpoint
    /// itself last. The list is empty if there is no such checkpoint; the result is `None` if there
    /// is no such log.
    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError>;

    /// Returns the head of the log.
    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError>;

    /// Returns the ids of a log's checkpoints, newest first.
    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError>;

    /// As [`load`](Self::load), for callers that need only the state. It passes the writes of each
    /// ancestor to `see`, oldest first, while it reads them, and returns the records of the
    /// checkpoint itself. The result is `None` if there is no such log.
    ///
    /// The default loads everything. On an error, the caller ignores what `see` has received.
    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        let chain = self.load(key, id).await?;
        Ok(chain.map(|chain| chain.visit_parts(visit)))
    }

    /// Fails if this saver stores only for a holder of the thread's lease, and another one has it. The runtime asks
    /// before work that runs once: its record would be refused.
    ///
    /// The default knows of no holder, and succeeds.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::LeaseLost`], which names the thread.
    async fn check_holder(&self, _: &str) -> Result<(), CheckpointError> {
        Ok(())
    }

    /// Returns true if runs only rehearse what is stored: a task's work that runs once is refused
    /// unless its result is stored, and caches of nodes are neither read nor filled.
    fn is_dry_run(&self) -> bool {
        false
    }

    /// Returns the leases of this saver. A saver that implements [`Leases`] returns `Some(self)`.
    fn leases(&self) -> Option<&dyn Leases> {
        None
    }

    /// Returns the administration of this saver. A saver that implements [`Administration`] returns
    /// `Some(self)`.
    fn administration(&self) -> Option<&dyn Administration> {
        None
    }
}

impl dyn Checkpointer {
    /// Returns the leases of this saver; `call` is the operation that needs them.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::NoLeases`], which names `call`.
    pub fn leases_for(&self, call: &'static str) -> Result<&dyn Leases, CheckpointError> {
        self.leases().ok_or(CheckpointError::NoLeases(call))
    }

    /// Returns the administration of this saver; `call` is the operation that needs it.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::NoAdministration`], which names `call`.
    pub fn administration_for(
        &self,
        call: &'static str,
    ) -> Result<&dyn Administration, CheckpointError> {
        let missing = CheckpointError::NoAdministration(call);
        self.administration().ok_or(missing)
    }
}
