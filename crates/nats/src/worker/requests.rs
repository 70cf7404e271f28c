//! Requests of a worker to a driver.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::QueueError;
use crate::link::{Link, Packet};

/// After this time a request is sent again.
const AGAIN: Duration = Duration::from_secs(2);

/// How often it is sent.
const TRIES: u32 = 10;

/// Requests that wait for their answers.
#[derive(Debug)]
pub(super) struct Requests {
    link: Arc<dyn Link>,
    /// Answers come to subjects below this one.
    subject: String,
    next: AtomicU64,
    waiting: Mutex<HashMap<String, oneshot::Sender<Bytes>>>,
}

impl Requests {
    pub(super) fn new(link: Arc<dyn Link>, subject: String) -> Self {
        Self {
            link,
            subject,
            next: AtomicU64::new(0),
            waiting: Mutex::default(),
        }
    }

    /// Sends a request until it is answered.
    pub(super) async fn ask(&self, to: &str, payload: Bytes) -> Result<Bytes, QueueError> {
        for _ in 0..TRIES {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let reply = format!("{}.{number}", self.subject);
            let (answer, answered) = oneshot::channel();
            self.waiting().insert(reply.clone(), answer);
            let (to, payload) = (to.to_owned(), payload.clone());
            self.link.send(to, Some(reply.clone()), payload).await?;
            let answered = timeout(AGAIN, answered).await;
            self.waiting().remove(&reply);
            if let Ok(Ok(answer)) = answered {
                return Ok(answer);
            }
        }
        Err(QueueError::link("a driver does not answer", "it is gone"))
    }

    /// Hands an answer to its request.
    pub(super) fn answered(&self, packet: Packet) {
        let waiting = self.waiting().remove(&packet.subject);
        if let (Some(waiting), Some(payload)) = (waiting, packet.payload) {
            let _ = waiting.send(payload);
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<String, oneshot::Sender<Bytes>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
