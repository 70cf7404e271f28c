//! Read-only transactions on one snapshot of the database.

use deadpool_postgres::Client;
use futures_util::future::{FutureExt, join};

use crate::PostgresError;

/// A connection whose queries see one snapshot of the database.
pub(crate) struct Snapshot {
    client: Client,
    /// True while there may be a transaction.
    is_open: bool,
}

impl Snapshot {
    pub(crate) const fn new(client: Client) -> Self {
        let is_open = false;
        Self { client, is_open }
    }

    /// Runs `job`, which queries that connection, in a transaction that begins in the round trip of its first query.
    pub(crate) async fn run<'a, T, E, F>(
        &'a mut self,
        job: impl FnOnce(&'a Client) -> F,
    ) -> Result<T, E>
    where
        E: From<PostgresError>,
        F: Future<Output = Result<T, E>>,
    {
        self.is_open = true;
        let begin = "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        // Sent before the first query: the futures are polled in this order.
        let (begun, answer) = join(self.client.batch_execute(begin), job(&self.client)).await;
        // Nothing was written, so nothing can be lost. Until this is answered, the transaction may have locks; and a
        // runtime on one thread that is blocked behind this would not send it.
        let _ = self.client.batch_execute("ROLLBACK").await;
        self.is_open = false;
        begun.map_err(PostgresError::from)?;
        answer
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if self.is_open {
            // The first poll sends it, ahead of what the connection is asked next.
            let _ = self.client.batch_execute("ROLLBACK").now_or_never();
        }
    }
}
