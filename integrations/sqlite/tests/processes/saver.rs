//! A saver that writes down what it has acknowledged.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{
    Batch, Chain, CheckpointId, Checkpointer, Formats, Head, ListOptions, Payload, Prune,
    SaverFuture, TaskOutcome, ThreadFilter, ThreadInfo, ThreadKey, Usage,
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
    fn formats(&self) -> Option<&Formats> {
        self.saver.formats()
    }

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

    fn load<'a>(
        &'a self,
        key: &'a ThreadKey,
        id: Option<CheckpointId>,
    ) -> SaverFuture<'a, Option<Chain>> {
        self.saver.load(key, id)
    }

    fn head<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, Option<Head>> {
        self.saver.head(key)
    }

    fn list<'a>(
        &'a self,
        key: &'a ThreadKey,
        options: ListOptions,
    ) -> SaverFuture<'a, Vec<CheckpointId>> {
        self.saver.list(key, options)
    }

    fn logs<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Vec<ThreadKey>> {
        self.saver.logs(thread)
    }

    fn threads(&self, filter: ThreadFilter) -> SaverFuture<'_, Vec<ThreadInfo>> {
        self.saver.threads(filter)
    }

    fn copy_thread<'a>(&'a self, from: &'a str, to: &'a str) -> SaverFuture<'a, ()> {
        self.saver.copy_thread(from, to)
    }

    fn prune<'a>(&'a self, key: &'a ThreadKey, prune: Prune) -> SaverFuture<'a, ()> {
        self.saver.prune(key, prune)
    }

    fn delete_log<'a>(&'a self, key: &'a ThreadKey) -> SaverFuture<'a, ()> {
        self.saver.delete_log(key)
    }

    fn delete_thread<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, ()> {
        self.saver.delete_thread(thread)
    }

    fn usage<'a>(&'a self, thread: &'a str) -> SaverFuture<'a, Usage> {
        self.saver.usage(thread)
    }

    fn lease<'a>(
        &'a self,
        thread: &'a str,
        holder: &'a str,
        term: Duration,
    ) -> SaverFuture<'a, bool> {
        self.saver.lease(thread, holder, term)
    }

    fn release<'a>(&'a self, thread: &'a str, holder: &'a str) -> SaverFuture<'a, ()> {
        self.saver.release(thread, holder)
    }
}
