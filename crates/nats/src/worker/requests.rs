//! Requests of a worker to a driver.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::QueueError;
use crate::link::{Link, Packet};

/// After this time a request is sent again. It covers the upload of a large state.
const RESEND_AFTER: Duration = Duration::from_secs(2);

/// How many times a request is sent.
const ATTEMPTS: u32 = 10;

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
    pub(super) async fn request(&self, to: &str, payload: Bytes) -> Result<Bytes, QueueError> {
        for _ in 0..ATTEMPTS {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let reply = format!("{}.{number}", self.subject);
            let (answer, answered) = oneshot::channel();
            self.waiting().insert(reply.clone(), answer);
            let _waiting = Waiting {
                requests: self,
                reply: &reply,
            };
            let (to, payload) = (to.to_owned(), payload.clone());
            self.link.send(to, Some(reply.clone()), payload).await?;
            if let Ok(Ok(answer)) = timeout(RESEND_AFTER, answered).await {
                return Ok(answer);
            }
        }
        let after = RESEND_AFTER * ATTEMPTS;
        Err(QueueError::link(
            "no answer from the driver",
            format!("sent {ATTEMPTS} times in {after:?}"),
        ))
    }

    /// Gives an answer to its request.
    pub(super) fn answered(&self, packet: Packet) {
        let waiting = self.waiting().remove(&packet.subject);
        if let (Some(waiting), Some(payload)) = (waiting, packet.payload) {
            let _ = waiting.send(payload);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Bytes>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a request whose future ends or is dropped.
struct Waiting<'a> {
    requests: &'a Requests,
    reply: &'a str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.requests.waiting().remove(self.reply);
    }
}
