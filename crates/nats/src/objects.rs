//! The objects of a queue: values that no message can hold, in a bucket of the queue.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::QueueError;
use crate::id;
use crate::link::Link;
use crate::protocol::{Body, MESSAGE_OVERHEAD, decode, raw};

/// The objects of one queue. What refers to an object says what it is: an order names no state, so a
/// message can have deleted only what it could have contained.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    link: Arc<dyn Link>,
    queue: String,
}

const ORDER: &str = "order-";

impl Objects {
    pub(crate) fn new(link: Arc<dyn Link>, queue: &str) -> Self {
        Self {
            link,
            queue: queue.to_owned(),
        }
    }

    /// Returns a name for a task's order: another one each time it is written, since a worker that counts as lost may
    /// still take, and delete, the one that it was sent.
    pub(crate) fn order() -> String {
        format!("{ORDER}{}", id::generate())
    }

    /// Returns the name of a worker's reply to a task of a driver.
    pub(crate) fn reply(driver: &str, worker: &str, task: u64) -> String {
        format!("reply-{driver}-{worker}-{task}")
    }

    /// Returns the name of a snapshot: another one for each upload, since an earlier one may be deleted late.
    pub(crate) fn state(id: &str, upload: u64) -> String {
        format!("state-{id}-{upload}")
    }

    /// Stores the value under a name if it does not fit into a message.
    pub(crate) async fn write(
        &self,
        value: &impl Serialize,
        name: String,
    ) -> Result<Body, QueueError> {
        let text = raw(value)?;
        if text.get().len() + 2 * MESSAGE_OVERHEAD <= self.link.limit() {
            return Ok(Body::Inline(text));
        }
        let bytes = Bytes::copy_from_slice(text.get().as_bytes());
        self.put(name.clone(), bytes).await?;
        Ok(Body::Stored(name))
    }

    /// Returns an order, and deletes its object.
    pub(crate) async fn take<T: DeserializeOwned>(&self, order: Body) -> Result<T, QueueError> {
        match &order {
            Body::Stored(name) if !name.starts_with(ORDER) => {
                Err(QueueError::link("invalid order", "it is another object"))
            }
            _ => self.read(order).await,
        }
    }

    /// Returns a value, and deletes its object. The caller has checked the name.
    pub(crate) async fn read<T: DeserializeOwned>(&self, body: Body) -> Result<T, QueueError> {
        match body {
            Body::Inline(text) => decode(text.get().as_bytes()),
            Body::Stored(name) => {
                let value = decode(&self.get(name.clone()).await?)?;
                self.delete(name).await?;
                Ok(value)
            }
        }
    }

    pub(crate) async fn put(&self, name: String, value: Bytes) -> Result<(), QueueError> {
        self.link.put(&self.queue, name, value).await
    }

    pub(crate) async fn get(&self, name: String) -> Result<Bytes, QueueError> {
        self.link.get(&self.queue, name).await
    }

    pub(crate) async fn delete(&self, name: String) -> Result<(), QueueError> {
        self.link.delete(&self.queue, name).await
    }

    /// Deletes an object in the background.
    pub(crate) fn discard(&self, name: String) {
        let objects = self.clone();
        tokio::spawn(async move {
            if let Err(error) = objects.delete(name).await {
                tracing::debug!(%error, "an object is left until it expires");
            }
        });
    }
}
