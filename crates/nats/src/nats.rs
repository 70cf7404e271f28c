//! NATS as the network of a queue.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::object_store::{Config, ObjectStore};
use async_nats::{Client, StatusCode, jetstream};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use crate::link::{Link, LinkFuture, Packet};
use crate::{Queue, QueueError};

/// What a killed program leaves in a bucket is deleted after this time.
const MAX_AGE: Duration = Duration::from_secs(24 * 3_600);

/// How long the server's limit is kept. After a reconnect the server may be another one; asking the client
/// copies all that it knows of the server.
const LIMIT: Duration = Duration::from_secs(1);

/// How many messages wait for a slow listener.
const BUFFER: usize = 1_024;

/// A connection to NATS.
#[derive(Clone)]
pub struct Nats {
    client: Client,
    /// The buckets that are open, by queue.
    stores: Arc<AsyncMutex<HashMap<String, ObjectStore>>>,
    /// The server's limit, and when it was asked for.
    limit: Arc<Mutex<Option<(Instant, usize)>>>,
}

impl Nats {
    /// Connects to a server, such as `nats://127.0.0.1:4222`. Later it reconnects by itself.
    ///
    /// # Errors
    ///
    /// [`QueueError::Connect`].
    pub async fn connect(url: &str) -> Result<Self, QueueError> {
        let client = async_nats::ConnectOptions::new()
            .subscription_capacity(1 << 18)
            .connect(url)
            .await;
        let client = client.map_err(|source| QueueError::Connect {
            url: url.to_owned(),
            source: source.into(),
        })?;
        Ok(Self::over(client))
    }

    /// Uses a client that is connected already: with credentials, TLS, or options of its own.
    pub fn over(client: Client) -> Self {
        Self {
            client,
            stores: Arc::default(),
            limit: Arc::default(),
        }
    }

    /// Returns the queue of that name. Drivers and workers of one program use the same name.
    pub fn queue(self, name: &str) -> Queue {
        Queue::over(self, name)
    }

    async fn store(&self, queue: &str) -> Result<ObjectStore, QueueError> {
        let mut stores = self.stores.lock().await;
        if let Some(store) = stores.get(queue) {
            return Ok(store.clone());
        }
        let bucket = bucket(queue);
        let stream = jetstream::new(self.client.clone());
        let store = if let Ok(store) = stream.get_object_store(&bucket).await {
            store
        } else {
            let config = Config {
                bucket,
                max_age: MAX_AGE,
                ..Config::default()
            };
            let created = stream.create_object_store(config).await;
            created.map_err(|error| QueueError::link("failed to open the object store", error))?
        };
        stores.insert(queue.to_owned(), store.clone());
        Ok(store)
    }
}

/// Returns the name of a queue's bucket. It may have letters, digits, `_` and `-`: other characters, and `_`
/// itself, are written as `_` and their code.
fn bucket(queue: &str) -> String {
    let mut name = "langgraph-".to_owned();
    for c in queue.chars() {
        if c.is_ascii_alphanumeric() || c == '-' {
            name.push(c);
        } else {
            name.extend(["_", &format!("{:x}", u32::from(c)), "_"]);
        }
    }
    name
}

impl fmt::Debug for Nats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nats")
            .field(&self.client.server_info().host)
            .finish()
    }
}

impl Link for Nats {
    fn send(&self, subject: String, reply: Option<String>, payload: Bytes) -> LinkFuture<'_, ()> {
        Box::pin(async move {
            let sent = match reply {
                Some(reply) => {
                    let sent = self.client.publish_with_reply(subject, reply, payload);
                    sent.await
                }
                None => self.client.publish(subject, payload).await,
            };
            sent.map_err(|error| QueueError::link("failed to send a message", error))
        })
    }

    fn listen(&self, subject: String) -> LinkFuture<'_, mpsc::Receiver<Packet>> {
        Box::pin(async move {
            let failed = |error| QueueError::link("failed to subscribe", error);
            let mut messages = self.client.subscribe(subject).await.map_err(failed)?;
            let (packets, received) = mpsc::channel(BUFFER);
            tokio::spawn(async move {
                while let Some(message) = messages.next().await {
                    let has_no_receiver = message.status == Some(StatusCode::NO_RESPONDERS);
                    let packet = Packet {
                        subject: message.subject.to_string(),
                        reply: message.reply.map(|reply| reply.to_string()),
                        payload: (!has_no_receiver).then_some(message.payload),
                    };
                    if packets.send(packet).await.is_err() {
                        return;
                    }
                }
            });
            // The server has the subscription before any message names it.
            let flushed = self.client.flush().await;
            flushed.map_err(|error| QueueError::link("failed to subscribe", error))?;
            Ok(received)
        })
    }

    fn limit(&self) -> usize {
        let mut known = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Some((asked, limit)) if asked.elapsed() < LIMIT => limit,
            _ => {
                let limit = self.client.server_info().max_payload;
                *known = Some((Instant::now(), limit));
                limit
            }
        }
    }

    fn put<'a>(&'a self, queue: &'a str, name: String, value: Bytes) -> LinkFuture<'a, ()> {
        Box::pin(async move {
            let bytes = value.len();
            let Ok(store) = self.store(queue).await else {
                return Err(QueueError::TooLarge {
                    what: format!("`{name}`"),
                    bytes,
                    limit: self.limit(),
                });
            };
            let stored = store.put(&*name, &mut &*value).await;
            stored.map_err(|error| QueueError::link(format!("failed to store `{name}`"), error))?;
            Ok(())
        })
    }

    fn get<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, Bytes> {
        Box::pin(async move {
            let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
                QueueError::link(format!("failed to fetch `{name}`"), error)
            };
            let store = self.store(queue).await?;
            let mut object = store
                .get(&*name)
                .await
                .map_err(|error| failed(error.into()))?;
            let mut value = Vec::new();
            let read = object.read_to_end(&mut value).await;
            read.map_err(|error| failed(error.into()))?;
            Ok(value.into())
        })
    }

    fn delete<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, ()> {
        Box::pin(async move {
            let deleted = self.store(queue).await?.delete(&*name).await;
            deleted.map_err(|error| QueueError::link(format!("failed to delete `{name}`"), error))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn each_queue_has_its_own_bucket() {
        let names = ["a-b", "a_b", "a b", "a.b", "a_2e_b", "ä"].map(bucket);
        let valid = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        assert!(
            names.iter().all(|name| name.chars().all(valid)),
            "{names:?}"
        );
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), names.len(), "{names:?}");
    }
}
