//! A saver whose calls pass a hook.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use langgraph::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Bytes, Chain, CheckpointId, Checkpointer, Formats, Head, HeldBy, Leases,
    ListOptions, Prune, Rewind, Saver, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey,
    ThreadPosition, VisitStatePart,
};
use langgraph::error::CheckpointError;

/// A call of a saver, on its way through an [`Intercept`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SaverCall<'a> {
    /// Writes a batch.
    Put(&'a ThreadKey, &'a Batch),
    /// Reads a log, its state, its head or its checkpoints.
    Read(&'a ThreadKey),
    /// Takes or renews the lease of a thread.
    Lease(&'a str),
    /// Gives back the lease of a thread.
    Release(&'a str),
    /// Lists threads.
    Threads,
    /// Another call of [`Administration`].
    Administration,
}

/// What happens around the calls of an [`InterceptedSaver`].
///
/// # Examples
///
/// A saver whose disk is full:
///
/// ```
/// use std::sync::Arc;
/// use langgraph::checkpoint::{Checkpointer, MemorySaver};
/// use langgraph::error::CheckpointError;
/// use langgraph::prelude::*;
/// use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};
///
/// struct FullDisk;
///
/// impl Intercept for FullDisk {
///     async fn around<T: Send>(
///         &self,
///         call: SaverCall<'_>,
///         run: impl Future<Output = Result<T, CheckpointError>> + Send,
///     ) -> Result<T, CheckpointError> {
///         match call {
///             SaverCall::Put(..) => Err(CheckpointError::storage("no space left on device")),
///             _ => run.await,
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let saver: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let graph = graph.compile()?.checkpointer(Arc::new(InterceptedSaver::new(saver, FullDisk)));
///
/// let error = graph.run(1).thread("t").await.unwrap_err();
/// assert!(error.to_string().contains("no space left on device"));
/// # Ok(())
/// # }
/// ```
pub trait Intercept: Send + Sync + 'static {
    /// Runs a call, or fails in its place.
    fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> impl Future<Output = Result<T, CheckpointError>> + Send;

    /// Returns another holder, if no lease is to be given.
    fn held_by(&self, term: Duration) -> Option<HeldBy> {
        let _ = term;
        None
    }

    /// Returns the formats in which values are stored as bytes; `None` for those of the saver.
    fn formats(&self) -> Option<&Formats> {
        None
    }
}

/// Forwards each call to a saver, through an [`Intercept`]: for tests of what a program does when
/// its storage is slow, fails, or changes meanwhile.
pub struct InterceptedSaver<I> {
    saver: Arc<dyn Checkpointer>,
    intercept: I,
}

impl<I: Intercept> InterceptedSaver<I> {
    /// Creates a saver in front of `saver`.
    pub fn new(saver: Arc<dyn Checkpointer>, intercept: I) -> Self {
        Self { saver, intercept }
    }

    /// Returns the hook.
    pub fn intercept(&self) -> &I {
        &self.intercept
    }

    async fn read<T: Send>(
        &self,
        key: &ThreadKey,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        self.intercept.around(SaverCall::Read(key), run).await
    }

    async fn administer<T: Send>(
        &self,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        self.intercept.around(SaverCall::Administration, run).await
    }

    fn administered(&self) -> Result<&dyn Administration, CheckpointError> {
        self.saver.administration_for("an intercepted call")
    }

    fn leased(&self) -> Result<&dyn Leases, CheckpointError> {
        self.saver.leases_for("an intercepted call")
    }
}

impl<I> fmt::Debug for InterceptedSaver<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterceptedSaver").finish_non_exhaustive()
    }
}

#[async_trait]
impl<I: Intercept> Checkpointer for InterceptedSaver<I> {
    fn formats(&self) -> Option<&Formats> {
        self.intercept.formats().or_else(|| self.saver.formats())
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let run = self.saver.put(key, batch.clone());
        let call = SaverCall::Put(key, &batch);
        self.intercept.around(call, run).await
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.read(key, self.saver.load(key, id)).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.read(key, self.saver.load_state(key, id, visit)).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.read(key, self.saver.head(key)).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.read(key, self.saver.list(key, options)).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.saver.leases().map(|_| self as _)
    }

    fn administration(&self) -> Option<&dyn Administration> {
        self.saver.administration().map(|_| self as _)
    }
}

impl<I: Intercept> Saver for InterceptedSaver<I> {
    type Stores = Bytes;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

#[async_trait]
impl<I: Intercept> Leases for InterceptedSaver<I> {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        if let Some(other) = self.intercept.held_by(term) {
            return Ok(Some(other));
        }
        let run = self.leased()?.lease(thread, holder, term);
        self.intercept.around(SaverCall::Lease(thread), run).await
    }

    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError> {
        if self.intercept.held_by(term).is_some() {
            return Ok(false);
        }
        let run = self.leased()?.renew(thread, holder, term);
        self.intercept.around(SaverCall::Lease(thread), run).await
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let run = self.leased()?.release(thread, holder);
        self.intercept.around(SaverCall::Release(thread), run).await
    }
}

#[async_trait]
impl<I: Intercept> Administration for InterceptedSaver<I> {
    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let run = self.administered()?.threads(filter);
        self.intercept.around(SaverCall::Threads, run).await
    }

    async fn set_wake_at(
        &self,
        thread: &str,
        head: Head,
        wake_at: Option<SystemTime>,
    ) -> Result<(), CheckpointError> {
        let run = self.administered()?.set_wake_at(thread, head, wake_at);
        self.administer(run).await
    }

    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError> {
        self.administer(self.administered()?.logs(thread)).await
    }

    async fn usage(&self, thread: &str) -> Result<StorageUsage, CheckpointError> {
        self.administer(self.administered()?.usage(thread)).await
    }

    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError> {
        let run = self.administered()?.copy_thread(from, to);
        self.administer(run).await
    }

    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError> {
        self.administer(self.administered()?.prune(key, prune))
            .await
    }

    async fn rewind(&self, key: &ThreadKey, rewind: Rewind) -> Result<bool, CheckpointError> {
        let run = self.administered()?.rewind(key, rewind);
        self.administer(run).await
    }

    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError> {
        self.administer(self.administered()?.delete_log(key)).await
    }

    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError> {
        self.administer(self.administered()?.delete_thread(thread))
            .await
    }

    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError> {
        let run = self.administered()?.delete_thread_at(thread, head);
        self.administer(run).await
    }
}
