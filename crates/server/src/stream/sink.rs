//! The way of events from a run to its feed.
//!
//! Stored events come first: a checkpoint waits until the events before it are stored. So nothing
//! of a superstep is lost with its process, and at worst an event is repeated.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::{Barrier, Barriers, Feed, Publisher, StreamEvent};
use crate::graph::{EventSink, RunEvent};
use crate::queue::{Claim, EventLog, LoggedEvent};
use crate::rows::Rows;

/// Events that are stored at once.
const GROUP: usize = 256;

/// Events that wait for the database. A run that makes more waits.
const WAITING: usize = 1024;

/// Where the events of a run go.
pub(crate) enum Out {
    /// To the database, and then to the feed.
    Stored {
        sent: Sender<Sent>,
        storing: JoinHandle<Stored>,
    },
    /// To the feed at once.
    Unstored(Arc<Feed>),
    /// Nowhere: an earlier attempt has published all, and its process died before it ended the run.
    AlreadyPublished,
}

/// What is sent to the task that stores.
#[allow(clippy::large_enum_variant)] // most are events
pub(crate) enum Sent {
    Event(StreamEvent),
    /// Opens when the events before it are stored.
    Barrier(Barrier),
}

/// What became of the events of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    All,
    /// Another process has the run.
    Revoked,
    /// The database cannot be reached.
    Failed,
}

/// What stores the events of a run.
pub(crate) struct Storing {
    pub(crate) rows: Arc<Rows>,
    pub(crate) claim: Claim,
    pub(crate) feed: Arc<Feed>,
    /// Stops the run, whose events cannot be stored.
    pub(crate) stop: Box<dyn Fn(Stored) + Send + Sync>,
    /// How long the database may be away.
    pub(crate) patience: Duration,
}

impl Out {
    /// Sends the events of a run to the database.
    pub(crate) fn stored(storing: Storing) -> Self {
        let (sent, waiting) = channel(WAITING);
        Self::Stored {
            sent,
            storing: tokio::spawn(storing.store(waiting)),
        }
    }

    pub(crate) async fn push(&mut self, event: StreamEvent) {
        match self {
            // Without a reader the run is lost, and ends soon.
            Self::Stored { sent, .. } => drop(sent.send(Sent::Event(event)).await),
            Self::Unstored(feed) => feed.push(event).await,
            Self::AlreadyPublished => {}
        }
    }

    /// Takes the next barrier, and opens it when everything so far is stored. It is dropped if that cannot be.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no barrier is taken before there is room for it.
    async fn open_next(&self, barriers: &mut Barriers) {
        let Self::Stored { sent, .. } = self else {
            let _ = barriers.next().await.send(true);
            return;
        };
        let room = sent.reserve().await;
        let barrier = barriers.next().await;
        if let Ok(room) = room {
            room.send(Sent::Barrier(barrier));
        }
    }

    /// Waits until all events are stored.
    pub(crate) async fn finish(self) -> Stored {
        let Self::Stored { sent, storing } = self else {
            return Stored::All;
        };
        drop(sent);
        storing.await.unwrap_or_else(|error| {
            tracing::error!(%error, "the task that stores events panicked");
            Stored::Failed
        })
    }
}

impl Storing {
    /// Stores the events of a run, many at once, before clients see them, and opens the barriers behind them.
    async fn store(self, mut waiting: Receiver<Sent>) -> Stored {
        let mut group = Vec::with_capacity(GROUP);
        while waiting.recv_many(&mut group, GROUP).await > 0 {
            let (mut events, mut barriers) = (Vec::with_capacity(group.len()), Vec::new());
            for sent in group.drain(..) {
                match sent {
                    Sent::Event(event) => events.push(event),
                    Sent::Barrier(barrier) => barriers.push(barrier),
                }
            }
            let ended = match events.as_slice() {
                [] => Stored::All,
                events => self.append(events).await,
            };
            if ended != Stored::All {
                (self.stop)(ended);
                return ended;
            }
            for barrier in barriers {
                let _ = barrier.send(true);
            }
            for event in events {
                self.feed.add(event);
            }
        }
        Stored::All
    }

    async fn append(&self, group: &[StreamEvent]) -> Stored {
        let logged = (self.feed.next_number()..)
            .zip(group)
            .map(|(number, event)| event.logged(number));
        let logged: Vec<LoggedEvent> = match logged.collect() {
            Ok(logged) => logged,
            Err(error) => {
                tracing::error!(%error, "an event cannot be written as JSON");
                return Stored::Failed;
            }
        };
        let begun = tokio::time::Instant::now();
        let mut pause = Duration::from_millis(50);
        loop {
            match self.rows.append(&self.claim, &logged).await {
                Ok(true) => return Stored::All,
                Ok(false) => return Stored::Revoked,
                Err(error) if begun.elapsed() > self.patience => {
                    tracing::error!(%error, "failed to store the events of a run");
                    return Stored::Failed;
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }
}

/// Publishes the events of a graph.
pub(crate) struct Publishing {
    pub(crate) publisher: Publisher,
    pub(crate) out: Out,
    pub(crate) barriers: Barriers,
}

#[async_trait]
impl EventSink for Publishing {
    async fn take(&mut self, event: RunEvent) {
        for event in self.publisher.publish(event) {
            self.out.push(event).await;
        }
    }

    async fn open_barrier(&mut self) {
        self.out.open_next(&mut self.barriers).await;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use serde_json::json;
    use tokio::sync::oneshot;

    use super::*;
    use crate::stream::StreamEventKind;

    fn event() -> StreamEvent {
        StreamEvent::new(StreamEventKind::Custom(json!(1)))
    }

    #[tokio::test]
    async fn a_barrier_comes_behind_the_events_before_it_and_is_not_taken_without_room() {
        let (sent, mut waiting) = channel(1);
        let mut out = Out::Stored {
            sent,
            storing: tokio::spawn(async { Stored::All }),
        };
        let (sender, mut barriers) = Barriers::new();
        let (barrier, mut opened) = oneshot::channel();
        assert!(sender.send(barrier));
        out.push(event()).await;
        for _ in 0..2 {
            let mut opens = pin!(out.open_next(&mut barriers));
            let polled = poll_fn(|cx| Poll::Ready(opens.as_mut().poll(cx))).await;
            assert!(polled.is_pending());
        }
        assert!(matches!(waiting.recv().await, Some(Sent::Event(_))));
        out.open_next(&mut barriers).await;
        assert!(opened.try_recv().is_err());
        let Some(Sent::Barrier(barrier)) = waiting.recv().await else {
            panic!("the barrier is sent");
        };
        barrier.send(true).unwrap();
        assert!(opened.await.unwrap());
        // What is never stored opens none.
        drop(waiting);
        let (barrier, opened) = oneshot::channel();
        assert!(sender.send(barrier));
        out.open_next(&mut barriers).await;
        assert!(opened.await.is_err());
    }
}
