//! Fences: what makes every later record of another run fail.

use super::box_future::BoxFuture;
use langgraph_core::checkpoint::{Administration, Batch, Checkpointer, ThreadFilter, ThreadInfo};
use langgraph_core::error::CheckpointError;

/// Raises the version of every log of a thread, so that the other run's next record is refused. What
/// the thread says about its last run stays.
///
/// # Errors
///
/// If the saver has no administration, or fails.
pub(crate) fn fence<'a>(
    saver: &'a dyn Checkpointer,
    thread: &'a str,
) -> BoxFuture<'a, Result<(), CheckpointError>> {
    Box::pin(async move {
        let administration = saver.administration_for("`OnConflict::Cancel`")?;
        for key in administration.logs(thread).await? {
            loop {
                let head = saver.head(&key).await?;
                let mut batch = Batch {
                    head,
                    ..Batch::default()
                };
                if key.namespace.is_empty()
                    && let Some(info) = info(administration, thread).await?
                {
                    batch.status = info.status;
                    batch.wake_at = info.wake_at;
                }
                match saver.put(&key, batch).await {
                    // The other run was faster this time.
                    Err(CheckpointError::Conflict { .. }) => {}
                    result => break result?,
                }
            }
        }
        Ok(())
    })
}

async fn info(
    administration: &dyn Administration,
    thread: &str,
) -> Result<Option<ThreadInfo>, CheckpointError> {
    let filter = ThreadFilter::new().thread(thread);
    Ok(administration.threads(filter).await?.pop())
}
