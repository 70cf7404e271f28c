//! A saver that writes down what it has acknowledged.

use std::sync::Arc;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Checkpointer, Payload, TaskOutcome, ThreadKey, forward_checkpointer,
};
use langgraph::error::CheckpointError;

use crate::trace::{Phase, Trace};

pub(crate) struct Traced {
    pub(crate) saver: Arc<dyn Checkpointer>,
    pub(crate) trace: Arc<Trace>,
}

/// The keys of effects in what a batch says of tasks: `key:…` where a node writes them, `once:…`
/// for work that is done once.
fn keys(batch: &Batch) -> Vec<String> {
    let mut keys = Vec::new();
    for task in &batch.tasks {
        if let Some(
            TaskOutcome::Finished(Payload::Bytes(done)) | TaskOutcome::Ran(Payload::Bytes(done)),
        ) = &task.outcome
        {
            let text = String::from_utf8_lossy(&done.bytes);
            let written = text.split('"').filter(|part| part.starts_with("key:"));
            keys.extend(written.map(str::to_owned));
        }
        for once in &task.once {
            let text = serde_json::to_string(once).expect("a record is JSON");
            let done = text.split('"').filter(|part| part.starts_with("once:"));
            keys.extend(done.map(str::to_owned));
        }
    }
    keys
}

#[async_trait]
impl Checkpointer for Traced {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let keys = keys(&batch);
        let put = async {
            self.saver.put(key, batch).await?;
            for key in keys {
                self.trace.line(&format!("ack {key}"));
            }
            Ok(())
        };
        self.trace.within(Phase::Put, put).await
    }

    forward_checkpointer!(saver);
}
