//! Where the threads of the graphs are.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use langgraph::checkpoint::{Checkpointer, HeldBy};
use langgraph::error::CheckpointError;
#[cfg(feature = "postgres")]
use langgraph_postgres::PostgresSaver;
use langgraph_sqlite::SqliteSaver;

use crate::error::ApiResult;

/// How long a run holds its thread without a renewal. The queue, and not this, says which run is next.
pub(crate) const TERM: Duration = Duration::from_secs(600);

/// The saver of all graphs.
pub(crate) enum Saver {
    Sqlite(SqliteSaver),
    #[cfg(feature = "postgres")]
    Postgres(PostgresSaver),
}

impl Saver {
    /// Returns the saver for reads, and for changes from outside.
    pub(crate) fn plain(&self) -> Arc<dyn Checkpointer> {
        match self {
            Self::Sqlite(saver) => Arc::new(saver.clone()),
            #[cfg(feature = "postgres")]
            Self::Postgres(saver) => Arc::new(saver.clone()),
        }
    }

    /// Returns the saver for the holder of a thread under that name.
    pub(crate) fn held_by(&self, holder: &Arc<str>) -> Arc<dyn Checkpointer> {
        match self {
            Self::Sqlite(saver) => Arc::new(saver.held_by(Arc::clone(holder))),
            #[cfg(feature = "postgres")]
            Self::Postgres(saver) => Arc::new(saver.held_by(Arc::clone(holder))),
        }
    }

    /// Takes a thread, or renews its lease. Returns the holder that has it instead.
    pub(crate) async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        let saver = self.plain();
        let leases = saver.leases_for("a run of the server")?;
        leases.lease(thread, holder, term).await
    }

    /// Takes a thread from its holder, as long as that `is_due`; returns false if it is not. It is asked behind each look
    /// at the holder: one that was there before has come earlier, and its name is never given again, so that a process
    /// that stands still in between takes the thread from no later one.
    pub(crate) async fn seize<'a>(
        &self,
        thread: &str,
        holder: &str,
        is_due: impl Fn() -> BoxFuture<'a, ApiResult<bool>>,
    ) -> ApiResult<bool> {
        while let Some(held) = self.lease(thread, holder, TERM).await? {
            if !is_due().await? {
                return Ok(false);
            }
            self.release(thread, &held.holder).await?;
        }
        Ok(true)
    }

    pub(crate) async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let saver = self.plain();
        let leases = saver.leases_for("a run of the server")?;
        leases.release(thread, holder).await
    }
}
