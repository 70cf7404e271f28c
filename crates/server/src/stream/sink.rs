//! The way of events from a run to its feed.
//!
//! Stored events come first: a checkpoint waits until the events before it are stored. So nothing
//! of a superstep is lost with its process, and at worst an event is repeated.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
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
        events: Sender<StreamEvent>,
        /// How many were sent.
        sent: usize,
        /// How many are stored.
        stored: watch::Receiver<usize>,
        storing: JoinHandle<Stored>,
    },
    /// To the feed at once.
    Unstored(Arc<Feed>),
    /// Nowhere: an earlier attempt has published all, and its process died before it ended the run.
    AlreadyPublished,
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
        let (events, waiting) = channel(WAITING);
        let (count, stored) = watch::channel(0);
        Self::Stored {
            events,
            sent: 0,
            stored,
            storing: tokio::spawn(storing.store(waiting, count)),
        }
    }

    pub(crate) async fn push(&mut self, event: StreamEvent) {
        match self {
            Self::Stored { events, sent, .. } => {
                *sent += 1;
                // Without a reader the run is lost, and ends soon.
                let _ = events.send(event).await;
            }
            Self::Unstored(feed) => feed.push(event).await,
            Self::AlreadyPublished => {}
        }
    }

    /// Opens a barrier when everything so far is stored. It stays closed if that cannot be.
    fn open_when_stored(&self, barrier: Barrier) {
        let Self::Stored { sent, stored, .. } = self else {
            let _ = barrier.send(true);
            return;
        };
        let (until, mut stored) = (*sent, stored.clone());
        tokio::spawn(async move {
            let is_stored = stored.wait_for(|count| *count >= until).await.is_ok();
            let _ = barrier.send(is_stored);
        });
    }

    /// Waits until all events are stored.
    pub(crate) async fn finish(self) -> Stored {
        let Self::Stored {
            events, storing, ..
        } = self
        else {
            return Stored::All;
        };
        drop(events);
        storing.await.unwrap_or_else(|error| {
            tracing::error!(%error, "the task that stores events panicked");
            Stored::Failed
        })
    }
}

impl Storing {
    /// Stores the events of a run, many at once, before clients see them.
    async fn store(
        self,
        mut events: Receiver<StreamEvent>,
        stored: watch::Sender<usize>,
    ) -> Stored {
        let mut group = Vec::with_capacity(GROUP);
        while events.recv_many(&mut group, GROUP).await > 0 {
            let ended = self.append(&group).await;
            if ended != Stored::All {
                (self.stop)(ended);
                return ended;
            }
            stored.send_modify(|count| *count += group.len());
            for event in group.drain(..) {
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
        let barrier = self.barriers.next().await;
        self.out.open_when_stored(barrier);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::oneshot;

    use super::*;
    use crate::stream::StreamEventKind;

    #[tokio::test]
    async fn a_barrier_opens_when_the_events_before_it_are_stored() {
        let (events, _waiting) = channel(8);
        let (count, stored) = watch::channel(0);
        let mut out = Out::Stored {
            events,
            sent: 0,
            stored,
            storing: tokio::spawn(async { Stored::All }),
        };
        let event = StreamEvent::new(StreamEventKind::Custom(json!(1)));
        out.push(event).await;
        let (barrier, mut opened) = oneshot::channel();
        out.open_when_stored(barrier);
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(opened.try_recv().is_err());
        count.send_replace(1);
        assert!(opened.await.unwrap());
        // What is never stored opens none.
        let event = StreamEvent::new(StreamEventKind::Custom(json!(2)));
        out.push(event).await;
        let (barrier, opened) = oneshot::channel();
        out.open_when_stored(barrier);
        drop(count);
        assert!(!opened.await.unwrap());
    }
}
