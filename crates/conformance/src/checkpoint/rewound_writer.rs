//! A log that is taken back while a run writes to it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::log::{Log, checkpoint, finished};
use super::rewinding::{back_to, shown};
use super::{Savers, administration};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{Batch, Checkpointer, Rewind};
use langgraph::error::CheckpointError;

crate::case::cases! {
    Savers:
    rewinding_beside_a_writer_leaves_the_log_as_it_was,
}

/// Stores supersteps until it is refused.
async fn write_on(saver: Arc<dyn Checkpointer>, mut log: Log) -> Result<(), CheckpointError> {
    loop {
        let (before, id) = (log.head.map(|head| head.id), log.next_id());
        let batch = Batch {
            checkpoints: vec![checkpoint(id, before)],
            tasks: before
                .into_iter()
                .map(|before| finished(before, 0, &json!(1)))
                .collect(),
            ..Batch::default()
        };
        match log.put(batch).await {
            Err(CheckpointError::Conflict { .. }) => return Ok(()),
            put => put?,
        }
        // The rewinding gets its turn, on one thread too.
        saver.head(&log.key).await?;
        tokio::task::yield_now().await;
    }
}

async fn rewinding_beside_a_writer_leaves_the_log_as_it_was(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    for _ in 0..10 {
        let saver = savers.open().await?;
        administration(&saver)?;
        let mut log = Log::root(&saver, "t");
        let ids = log.grow(3).await?;
        let before = shown(&log).await?;
        let mut writer = Log::root(&saver, "t");
        writer.head = log.head;
        let writer = tokio::spawn(write_on(Arc::clone(&saver), writer));
        // It stores some, or none yet.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let end = Rewind {
            tasks: 0,
            ..back_to(ids[3])
        };
        let is_done = administration(&saver)?.rewind(&log.key, end);
        holds("the checkpoint is there", is_done.await?)?;
        let written = writer.await;
        written.map_err(|error| Problem::Wrong(error.to_string()))??;
        same("the log", shown(&log).await?, before)?;
    }
    Ok(())
}
