//! The administration of threads in a PostgreSQL database.

use std::sync::Arc;
use std::time::SystemTime;

use langgraph_core::async_trait;
use langgraph_core::checkpoint::{
    Administration, Head, Prune, Rewind, StorageUsage, ThreadFilter, ThreadInfo, ThreadKey,
};
use langgraph_core::error::CheckpointError;
use langgraph_sql::LogName;

use super::{PostgresSaver, leases, prune, rewind, threads};

#[async_trait]
impl Administration for PostgresSaver {
    async fn logs(&self, thread: &str) -> Result<Vec<ThreadKey>, CheckpointError> {
        let client = self.database.client().await?;
        threads::logs(&client, thread).await
    }

    async fn threads(&self, filter: ThreadFilter) -> Result<Vec<ThreadInfo>, CheckpointError> {
        let client = self.database.client().await?;
        Ok(threads::list(&client, &filter).await?)
    }

    async fn set_wake_at(
        &self,
        thread: &str,
        head: Head,
        wake_at: Option<SystemTime>,
    ) -> Result<(), CheckpointError> {
        let client = self.database.client().await?;
        Ok(threads::set_wake_at(&client, thread, head, wake_at).await?)
    }

    async fn copy_thread(&self, from: &str, to: &str) -> Result<(), CheckpointError> {
        let names = Arc::new((from.to_owned(), to.to_owned()));
        let job = self.database.transaction(|transaction| {
            let names = Arc::clone(&names);
            Box::pin(async move { threads::copy(transaction, &names.0, &names.1).await })
        });
        job.await
    }

    async fn prune(&self, key: &ThreadKey, prune: Prune) -> Result<(), CheckpointError> {
        let task = Arc::new((LogName::of(key)?, prune, self.formats.clone()));
        let job = self.database.transaction(|transaction| {
            let (task, holder) = (Arc::clone(&task), self.holder.clone());
            Box::pin(async move {
                let (name, prune, formats) = &*task;
                leases::check(transaction, &name.thread, holder.as_deref()).await?;
                prune::prune(transaction, name, prune, formats).await
            })
        });
        job.await
    }

    async fn rewind(&self, key: &ThreadKey, rewind: Rewind) -> Result<bool, CheckpointError> {
        let task = Arc::new((LogName::of(key)?, rewind));
        let job = self.database.transaction(|transaction| {
            let (task, holder) = (Arc::clone(&task), self.holder.clone());
            Box::pin(async move {
                let (name, rewind) = &*task;
                leases::check(transaction, &name.thread, holder.as_deref()).await?;
                rewind::rewind(transaction, name, rewind).await
            })
        });
        job.await
    }

    async fn delete_log(&self, key: &ThreadKey) -> Result<(), CheckpointError> {
        let name = Arc::new(LogName::of(key)?);
        let job = self.database.transaction(|transaction| {
            let (name, holder) = (Arc::clone(&name), self.holder.clone());
            Box::pin(async move {
                leases::check(transaction, &name.thread, holder.as_deref()).await?;
                threads::delete_log(transaction, &name).await
            })
        });
        job.await
    }

    async fn delete_thread(&self, thread: &str) -> Result<(), CheckpointError> {
        let thread: Arc<str> = thread.into();
        let job = self.database.transaction(|transaction| {
            let (thread, holder) = (Arc::clone(&thread), self.holder.clone());
            Box::pin(async move {
                leases::check(transaction, &thread, holder.as_deref()).await?;
                threads::delete(transaction, &thread).await
            })
        });
        job.await
    }

    async fn delete_thread_at(&self, thread: &str, head: Head) -> Result<(), CheckpointError> {
        let thread: Arc<str> = thread.into();
        let job = self.database.transaction(|transaction| {
            let (thread, holder) = (Arc::clone(&thread), self.holder.clone());
            Box::pin(async move {
                leases::check(transaction, &thread, holder.as_deref()).await?;
                threads::delete_at(transaction, &thread, head).await
            })
        });
        job.await
    }

    async fn usage(&self, thread: &str) -> Result<StorageUsage, CheckpointError> {
        let client = self.database.client().await?;
        Ok(threads::usage(&client, thread).await?)
    }
}
