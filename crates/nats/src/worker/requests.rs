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

    /// Sends a request until it is answered. The first answer counts, whichever time it answers.
    pub(super) async fn request(&self, to: &str, payload: Bytes) -> Result<Bytes, QueueError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let reply = format!("{}.{number}", self.subject);
        let (answer, mut answered) = oneshot::channel();
        self.waiting().insert(reply.clone(), answer);
        let _waiting = Waiting {
            requests: self,
            reply: &reply,
        };
        for _ in 0..ATTEMPTS {
            let (to, payload) = (to.to_owned(), payload.clone());
            self.link.send(to, Some(reply.clone()), payload).await?;
            if let Ok(Ok(answer)) = timeout(RESEND_AFTER, &mut answered).await {
                return Ok(answer);
            }
        }
        let after = RESEND_AFTER * ATTEMPTS;
        Err(QueueError::link(
            "no answer from the driver",
            format!("sent {ATTEMPTS} times in {after:?}"),
        ))
    }

    /// Gives an answer to its request. One that nobody received waits on: it is sent again.
    pub(super) fn answered(&self, packet: Packet) {
        let Some(payload) = packet.payload else {
            return;
        };
        let waiting = self.waiting().remove(&packet.subject);
        if let Some(waiting) = waiting {
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

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;
    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::link::LinkFuture;

    /// Sends what is sent to a driver.
    #[derive(Debug)]
    struct OneWay(mpsc::UnboundedSender<Packet>);

    impl Link for OneWay {
        fn send(
            &self,
            subject: String,
            reply: Option<String>,
            payload: Bytes,
        ) -> LinkFuture<'_, ()> {
            let payload = Some(payload);
            let sent = self.0.send(Packet {
                subject,
                reply,
                payload,
            });
            Box::pin(async { sent.map_err(|error| QueueError::link("gone", error)) })
        }

        fn listen(&self, _: String) -> LinkFuture<'_, mpsc::Receiver<Packet>> {
            Box::pin(async { Err(QueueError::Ended) })
        }

        fn limit(&self) -> usize {
            1_000
        }

        fn put<'a>(&'a self, _: &'a str, _: String, _: Bytes) -> LinkFuture<'a, ()> {
            Box::pin(async { Err(QueueError::Ended) })
        }

        fn get<'a>(&'a self, _: &'a str, _: String) -> LinkFuture<'a, Bytes> {
            Box::pin(async { Err(QueueError::Ended) })
        }

        fn delete<'a>(&'a self, _: &'a str, _: String) -> LinkFuture<'a, ()> {
            Box::pin(async { Err(QueueError::Ended) })
        }
    }

    fn requests() -> (Arc<Requests>, mpsc::UnboundedReceiver<Packet>) {
        let (sent, driver) = mpsc::unbounded_channel();
        let requests = Requests::new(Arc::new(OneWay(sent)), "worker".to_owned());
        (Arc::new(requests), driver)
    }

    fn packet(subject: Option<String>, payload: Option<&'static str>) -> Packet {
        Packet {
            subject: subject.unwrap(),
            reply: None,
            payload: payload.map(Bytes::from),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_takes_longer_than_the_next_attempt_counts() {
        let (requests, mut driver) = requests();
        let answering = Arc::clone(&requests);
        // Each takes three seconds, one after the other, as in a slow database.
        tokio::spawn(async move {
            while let Some(sent) = driver.recv().await {
                sleep(Duration::from_secs(3)).await;
                answering.answered(packet(sent.reply, Some("stored")));
            }
        });
        let begun = Instant::now();
        let answer = requests.request("driver", Bytes::new()).await;
        assert_eq!(answer.unwrap(), "stored");
        assert_eq!(begun.elapsed(), Duration::from_secs(3));
        assert!(requests.waiting().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_nobody_received_is_sent_again_after_a_while() {
        let (requests, mut driver) = requests();
        let answering = Arc::clone(&requests);
        // The driver is away for two attempts, as while it connects again.
        tokio::spawn(async move {
            for payload in [None, None, Some("stored")] {
                let sent = driver.recv().await.unwrap();
                answering.answered(packet(sent.reply, payload));
            }
        });
        let begun = Instant::now();
        let answer = requests.request("driver", Bytes::new()).await;
        assert_eq!(answer.unwrap(), "stored");
        assert_eq!(begun.elapsed(), 2 * RESEND_AFTER);
        assert!(requests.waiting().is_empty());
    }
}
