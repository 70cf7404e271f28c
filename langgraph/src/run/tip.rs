//! The end of a log, at which a run and its tasks write.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::checkpoint::{
    Batch, CheckpointError, CheckpointId, CheckpointRecord, Checkpointer, Head, Payload, ThreadKey,
};

/// The end of a log. Whoever writes there waits for the one before.
pub(crate) struct Tip {
    pub(crate) saver: Arc<dyn Checkpointer>,
    pub(crate) key: ThreadKey,
    /// True when values are written as bytes before they are handed over.
    encodes: bool,
    /// The head of the log as this run knows it.
    head: Mutex<Option<Head>>,
}

impl Tip {
    pub(crate) fn new(
        saver: Arc<dyn Checkpointer>,
        key: ThreadKey,
        head: Option<Head>,
        encodes: bool,
    ) -> Self {
        Self {
            encodes: encodes && saver.formats().is_some(),
            saver,
            key,
            head: Mutex::new(head),
        }
    }

    pub(crate) fn encodes(&self) -> bool {
        self.encodes
    }

    /// A payload in the form in which it is handed over.
    pub(crate) fn encode(
        &self,
        payload: Payload,
        what: impl FnOnce() -> String,
    ) -> Result<Payload, CheckpointError> {
        match self.saver.formats() {
            Some(formats) if self.encodes => match payload.encode(formats) {
                Ok(encoded) => Ok(encoded.into()),
                Err(source) => Err(CheckpointError::Unwritable {
                    thread: self.key.thread.clone(),
                    what: what(),
                    source,
                }),
            },
            _ => Ok(payload),
        }
    }

    /// Stores a batch.
    pub(crate) async fn put(&self, mut batch: Batch) -> Result<(), CheckpointError> {
        let mut head = self.head.lock().await;
        batch.head = *head;
        let next = batch.next_head();
        self.saver.put(&self.key, batch).await?;
        *head = next;
        Ok(())
    }

    /// Stores a checkpoint, which gets its id here.
    pub(crate) async fn put_checkpoint(
        &self,
        mut record: CheckpointRecord,
        batch: impl FnOnce(CheckpointRecord) -> Batch,
    ) -> Result<CheckpointId, CheckpointError> {
        let mut head = self.head.lock().await;
        let id = CheckpointId::after(head.map(|head| head.id));
        record.id = id;
        let mut batch = batch(record);
        batch.head = *head;
        let next = batch.next_head();
        self.saver.put(&self.key, batch).await?;
        *head = next;
        Ok(id)
    }
}
