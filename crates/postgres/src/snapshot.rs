//! Read-only transactions on one snapshot of the database.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::Client;
use futures_util::future::{FutureExt, join};

use crate::PostgresError;

const END: &str = "ROLLBACK";

/// A connection whose queries see one snapshot of the database.
pub(crate) struct Snapshot {
    client: Client,
    /// True while there may be a transaction whose end is not sent.
    is_open: AtomicBool,
}

impl Snapshot {
    pub(crate) const fn new(client: Client) -> Self {
        let is_open = AtomicBool::new(false);
        Self { client, is_open }
    }

    /// Returns the connection.
    pub(crate) const fn client(&self) -> &Client {
        &self.client
    }

    /// Runs `job`, which queries that connection, in a transaction that begins in the round trip of its first query, and
    /// ends in that of its [last](Self::last) one.
    pub(crate) async fn run<'a, T, E, F>(&'a self, job: impl FnOnce(&'a Self) -> F) -> Result<T, E>
    where
        E: From<PostgresError>,
        F: Future<Output = Result<T, E>>,
    {
        self.is_open.store(true, Ordering::Relaxed);
        let begin = "START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
        // Sent before the first query: the futures are polled in this order.
        let (begun, answer) = join(self.client.batch_execute(begin), job(self)).await;
        if self.is_open.load(Ordering::Relaxed) {
            // Nothing was written, so nothing can be lost. Until this is answered, the transaction may have locks; and a
            // runtime on one thread that is blocked behind this would not send it.
            let _ = self.client.batch_execute(END).await;
            self.is_open.store(false, Ordering::Relaxed);
        }
        begun.map_err(PostgresError::from)?;
        answer
    }

    /// Sends the last query of the transaction, and behind it, in the same round trip, the end. `query` sends it when it
    /// is polled first.
    pub(crate) async fn last<T>(&self, query: impl Future<Output = T>) -> T {
        let mut query = pin!(query);
        poll_fn(|cx| {
            let polled = query.as_mut().poll(cx);
            self.end();
            polled
        })
        .await
    }

    /// Sends the end, without a wait for its answer: the first poll sends it, ahead of what the connection is asked next.
    fn end(&self) {
        if self.is_open.swap(false, Ordering::Relaxed) {
            let _ = self.client.batch_execute(END).now_or_never();
        }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.end();
    }
}
