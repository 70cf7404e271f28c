//! The administration of threads in a SQLite database.

use std::time::SystemTime;

use langgraph_core::async_trait;
use langgraph_core::checkpoint::{
    Administration, Head, Prune, Rewind, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey,
};
use langgraph_core::error::CheckpointError;
use langgraph_sql::LogName;
use rusqlite::Connection;

use super::{SqliteSaver, leases, prune, rewind, threads};

#[async_trait]
impl Administration for SqliteSaver {
    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError> {
        let thread = thread.to_owned();
        let job = move |connection: &_| threads::logs(connection, &thread);
        self.database.read(job).await
    }

    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let job = move |connection: &_| threads::list(connection, &filter);
        self.database.read(job).await
    }

    async fn set_wake_at(
        &self,
        thread: &str,
        head: Head,
        wake_at: Option<SystemTime>,
    ) -> Result<(), CheckpointError> {
        let thread = thread.to_owned();
        let job = move |connection: &_| threads::set_wake_at(connection, &thread, head, wake_at);
        self.database.write_short(job).await
    }

    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError> {
        let (from, to) = (from.to_owned(), to.to_owned());
        let job = move |connection: &_| threads::copy(connection, &from, &to);
        self.database.write(job).await
    }

    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError> {
        let name = LogName::of(key)?;
        let formats = self.formats.clone();
        let job = move |connection: &_| prune::prune(connection, &name, prune, &formats);
        self.write_held(&key.thread, job).await
    }

    async fn rewind(&self, key: &ThreadKey, rewind: Rewind) -> Result<bool, CheckpointError> {
        let name = LogName::of(key)?;
        let job = move |connection: &_| rewind::rewind(connection, &name, &rewind);
        self.write_held(&key.thread, job).await
    }

    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError> {
        let name = LogName::of(key)?;
        let job = move |connection: &_| threads::delete_log(connection, &name);
        self.write_held(&key.thread, job).await
    }

    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError> {
        let name = thread.to_owned();
        let job = move |connection: &_| threads::delete(connection, &name);
        self.write_held(thread, job).await
    }

    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError> {
        let name = thread.to_owned();
        let job = move |connection: &_| threads::delete_at(connection, &name, head);
        self.write_held(thread, job).await
    }

    async fn usage(&self, thread: &str) -> Result<StorageUsage, CheckpointError> {
        let thread = thread.to_owned();
        let job = move |connection: &_| threads::usage(connection, &thread);
        self.database.read(job).await
    }
}

impl SqliteSaver {
    /// Writes to a thread, unless this saver is that of a holder that has lost the thread: the transaction that writes
    /// says so.
    async fn write_held<T: Send + 'static>(
        &self,
        thread: &str,
        job: impl FnOnce(&Connection) -> Result<T, CheckpointError> + Send + 'static,
    ) -> Result<T, CheckpointError> {
        let (thread, holder) = (thread.to_owned(), self.holder.clone());
        let job = move |connection: &_| {
            leases::check(connection, &thread, holder.as_deref())?;
            job(connection)
        };
        self.database.write(job).await
    }
}
