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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;

    use super::*;

    async fn holder(saver: &Saver, thread: &str) -> Option<String> {
        let held = saver.lease(thread, "another", TERM).await.unwrap();
        held.map(|held| held.holder)
    }

    #[tokio::test]
    async fn a_thread_is_seized_from_its_holder_and_from_no_later_one() {
        let saver = Saver::Sqlite(SqliteSaver::in_memory().unwrap());
        let (saver, asked) = (&saver, &AtomicUsize::new(0));
        let take = async |holder: &str| saver.lease("t", holder, TERM).await.unwrap();
        assert!(take("before").await.is_none());
        // Behind the first answer, another process ends the removal, and a run gets a new thread of that name.
        let is_due = || {
            let is_first = asked.fetch_add(1, Ordering::Relaxed) == 0;
            let goes_on = async move {
                if is_first {
                    saver.release("t", "before").await?;
                    assert!(saver.lease("t", "later", TERM).await?.is_none());
                }
                Ok(is_first)
            };
            goes_on.boxed()
        };
        assert!(!saver.seize("t", "removal", is_due).await.unwrap());
        assert_eq!(holder(saver, "t").await.as_deref(), Some("later"));

        let is_due = || async { Ok(true) }.boxed();
        assert!(saver.seize("t", "removal", is_due).await.unwrap());
        assert_eq!(holder(saver, "t").await.as_deref(), Some("removal"));
    }
}
