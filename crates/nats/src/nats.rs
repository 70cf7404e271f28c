//! NATS as a link.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::jetstream::object_store::{Config, ObjectStore};
use async_nats::{Client, StatusCode, jetstream};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{OnceCell, mpsc};

use crate::link::{Link, LinkFuture, Packet};
use crate::{Queue, QueueError};

/// The bucket of values that no message can hold.
const BUCKET: &str = "langgraph-tasks";

/// For how long the server's limit is known. After a reconnect the server may be another one; asking the client
/// copies all that it knows of the server.
const LIMIT: Duration = Duration::from_secs(1);

/// How many messages wait for a slow listener.
const BUFFER: usize = 1_024;

/// A connection to NATS.
#[derive(Clone)]
pub struct Nats {
    client: Client,
    store: Arc<OnceCell<ObjectStore>>,
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
            store: Arc::default(),
            limit: Arc::default(),
        }
    }

    /// Returns the queue of that name. Drivers and workers of one program use the same name.
    pub fn queue(self, name: &str) -> Queue {
        Queue::over(self, name)
    }

    async fn store(&self) -> Result<&ObjectStore, QueueError> {
        self.store
            .get_or_try_init(|| async {
                let stream = jetstream::new(self.client.clone());
                if let Ok(store) = stream.get_object_store(BUCKET).await {
                    return Ok(store);
                }
                let config = Config {
                    bucket: BUCKET.to_owned(),
                    // What a killed program leaves goes away.
                    max_age: std::time::Duration::from_secs(24 * 3_600),
                    ..Config::default()
                };
                let store = stream.create_object_store(config).await;
                store.map_err(|error| QueueError::link("the object store cannot be opened", error))
            })
            .await
    }
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
            sent.map_err(|error| QueueError::link("a message cannot be sent", error))
        })
    }

    fn listen(&self, subject: String) -> LinkFuture<'_, mpsc::Receiver<Packet>> {
        Box::pin(async move {
            let failed = |error| QueueError::link("a subject cannot be listened to", error);
            let mut messages = self.client.subscribe(subject).await.map_err(failed)?;
            let (packets, received) = mpsc::channel(BUFFER);
            tokio::spawn(async move {
                while let Some(message) = messages.next().await {
                    let nobody = message.status == Some(StatusCode::NO_RESPONDERS);
                    let packet = Packet {
                        subject: message.subject.to_string(),
                        reply: message.reply.map(|reply| reply.to_string()),
                        payload: (!nobody).then_some(message.payload),
                    };
                    if packets.send(packet).await.is_err() {
                        return;
                    }
                }
            });
            // The server knows of it before anyone hears where to send.
            let flushed = self.client.flush().await;
            flushed.map_err(|error| QueueError::link("a subject cannot be listened to", error))?;
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

    fn put(&self, name: String, value: Bytes) -> LinkFuture<'_, ()> {
        Box::pin(async move {
            let bytes = value.len();
            let Ok(store) = self.store().await else {
                return Err(QueueError::TooLarge {
                    what: format!("`{name}`"),
                    bytes,
                    limit: self.limit(),
                });
            };
            let stored = store.put(&*name, &mut &*value).await;
            stored
                .map_err(|error| QueueError::link(format!("`{name}` cannot be stored"), error))?;
            Ok(())
        })
    }

    fn get(&self, name: String) -> LinkFuture<'_, Bytes> {
        Box::pin(async move {
            let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
                QueueError::link(format!("`{name}` cannot be fetched"), error)
            };
            let store = self.store().await?;
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

    fn delete(&self, name: String) -> LinkFuture<'_, ()> {
        Box::pin(async move {
            let deleted = self.store().await?.delete(&*name).await;
            deleted.map_err(|error| QueueError::link(format!("`{name}` cannot be removed"), error))
        })
    }
}
