//! A saver that writes down what it has acknowledged.

use std::sync::Arc;

use langgraph::checkpoint::{
    Batch, Checkpointer, Payload, SaverFuture, TaskOutcome, ThreadKey, forward,
};

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

impl Checkpointer for Traced {
    fn put<'a>(&'a self, key: &'a ThreadKey, batch: Batch) -> SaverFuture<'a, ()> {
        Box::pin(async move {
            let keys = keys(&batch);
            let put = async {
                self.saver.put(key, batch).await?;
                for key in keys {
                    self.trace.line(&format!("ack {key}"));
                }
                Ok(())
            };
            self.trace.within(Phase::Put, put).await
        })
    }

    forward!(saver: formats, load, load_state, head, list, logs, threads, copy_thread, prune);
    forward!(saver: delete_log, delete_thread, usage, lease, release);
}
