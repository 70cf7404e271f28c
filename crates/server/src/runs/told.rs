//! The way of events from a run to its clients.
//!
//! Stored events come first: a checkpoint waits until what was told before it is stored. So nothing
//! of a superstep is lost when its process is, and at worst something is told again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Chain, CheckpointError, CheckpointId, Checkpointer, Formats, Head,
    Leases, ListOptions, ThreadKey, ThreadPosition, VisitStatePart,
};
use langgraph_queue::{EventLog, LoggedEvent};
use tokio::sync::mpsc::{
    Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel,
};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::frame::Frame;
use super::frames::Frames;
use super::live::Live;
use crate::app::App;
use crate::graph::{RunEvent, Sink};

/// Events that are stored at once.
const GROUP: usize = 256;

/// Events that wait for the database. A run that tells more waits.
const WAITING: usize = 1024;

/// Those who want to know when everything so far is stored.
pub(super) type Questions = UnboundedReceiver<oneshot::Sender<()>>;

/// Where the frames of a run go.
pub(super) enum Out {
    /// To the database first.
    Stored {
        frames: Sender<Frame>,
        /// How many were sent.
        sent: usize,
        /// How many are stored.
        stored: watch::Receiver<usize>,
    },
    /// To the clients at once.
    Shown(Arc<Live>),
    /// Nowhere: an earlier attempt has told all, and its process died before it ended the row.
    Told,
}

impl Out {
    /// Sends the frames of a run that are stored, and returns the task that stores them.
    pub(super) fn stored(app: &Arc<App>, live: &Arc<Live>) -> (Self, JoinHandle<()>) {
        let (frames, waiting) = channel(WAITING);
        let (count, stored) = watch::channel(0);
        let storing = store(Arc::clone(app), Arc::clone(live), waiting, count);
        let out = Self::Stored {
            frames,
            sent: 0,
            stored,
        };
        (out, tokio::spawn(storing))
    }

    pub(super) async fn push(&mut self, frame: Frame) {
        match self {
            Self::Stored { frames, sent, .. } => {
                *sent += 1;
                // Without a reader the run is lost, and ends soon.
                let _ = frames.send(frame).await;
            }
            Self::Shown(live) => live.feed.push([frame]),
            Self::Told => {}
        }
    }

    /// Answers when everything so far is stored, or the run is lost.
    fn answer(&self, asked: oneshot::Sender<()>) {
        if let Self::Stored { sent, stored, .. } = self {
            let (until, mut stored) = (*sent, stored.clone());
            tokio::spawn(async move {
                let _ = stored.wait_for(|count| *count >= until).await;
                let _ = asked.send(());
            });
        }
    }
}

/// Stores the events of a run, many at once, before clients see them.
async fn store(
    app: Arc<App>,
    live: Arc<Live>,
    mut frames: Receiver<Frame>,
    stored: watch::Sender<usize>,
) {
    let mut group = Vec::with_capacity(GROUP);
    while frames.recv_many(&mut group, GROUP).await > 0 {
        let first = i64::try_from(live.feed.len()).unwrap_or(i64::MAX);
        let logged: Vec<LoggedEvent> = (first..)
            .zip(&group)
            .map(|(number, frame)| frame.logged(number))
            .collect();
        let mut pause = Duration::from_millis(50);
        loop {
            match app.rows.append(&live.claim, &logged).await {
                Ok(true) => break,
                Ok(false) => return live.lose(),
                Err(error) if pause > Duration::from_secs(5) => {
                    tracing::error!(%error, "the events of a run cannot be stored");
                    return live.lose();
                }
                Err(_) => tokio::time::sleep(pause).await,
            }
            pause *= 2;
        }
        stored.send_modify(|count| *count += group.len());
        live.feed.push(group.drain(..));
    }
}

/// Tells the events of a run as frames.
pub(super) struct Teller<'a> {
    pub(super) frames: Frames,
    pub(super) out: &'a mut Out,
    pub(super) asked: Questions,
}

#[async_trait]
impl Sink for Teller<'_> {
    async fn take(&mut self, event: RunEvent) {
        for frame in self.frames.frames(event) {
            self.out.push(frame).await;
        }
    }

    async fn answer(&mut self) {
        match self.asked.recv().await {
            Some(asked) => self.out.answer(asked),
            // Nobody asks any more.
            None => std::future::pending().await,
        }
    }
}

/// A saver that stores nothing before the events so far are stored. Its questions go to the
/// [`Teller`] of the run; without one, it does not wait.
pub(super) struct AfterEvents {
    saver: Arc<dyn Checkpointer>,
    questions: UnboundedSender<oneshot::Sender<()>>,
}

impl AfterEvents {
    pub(super) fn new(saver: Arc<dyn Checkpointer>) -> (Arc<Self>, Questions) {
        let (questions, asked) = unbounded_channel();
        (Arc::new(Self { saver, questions }), asked)
    }
}

#[async_trait]
impl Checkpointer for AfterEvents {
    fn formats(&self) -> Option<&Formats> {
        self.saver.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let (question, answer) = oneshot::channel();
        if self.questions.send(question).is_ok() {
            // Without an answer the run has ended.
            let _ = answer.await;
        }
        self.saver.put(key, batch).await
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.saver.load(key, id).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.saver.load_state(key, id, visit).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.saver.head(key).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.saver.list(key, options).await
    }

    fn is_rehearsal(&self) -> bool {
        self.saver.is_rehearsal()
    }

    fn leases(&self) -> Option<&dyn Leases> {
        self.saver.leases()
    }

    fn administration(&self) -> Option<&dyn Administration> {
        self.saver.administration()
    }
}

#[cfg(test)]
mod tests {
    use langgraph::checkpoint::MemorySaver;
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::usage::Usages;

    #[tokio::test]
    async fn l2_a_checkpoint_waits_until_the_events_before_it_are_stored() {
        let (saver, asked) = AfterEvents::new(Arc::new(MemorySaver::new()));
        let (frames, _waiting) = channel(8);
        let (count, stored) = watch::channel(0);
        let mut out = Out::Stored {
            frames,
            sent: 0,
            stored,
        };
        out.push(Frame::new("custom", "custom", &json!(1))).await;
        let mut teller = Teller {
            frames: Frames::new(Vec::new(), "", Value::Null, Usages::default()),
            out: &mut out,
            asked,
        };
        let put = || {
            let saver = Arc::clone(&saver);
            tokio::spawn(async move {
                // Whether the saver takes it does not matter here.
                let _ = saver.put(&ThreadKey::root("t"), Batch::default()).await;
            })
        };
        let first = put();
        teller.answer().await;
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!first.is_finished());
        count.send_replace(1);
        first.await.unwrap();
        // Nothing is told any more.
        drop(teller);
        put().await.unwrap();
    }

    /// A saver that stores nothing, as in a replay.
    struct Rehearsal;

    #[async_trait]
    impl Checkpointer for Rehearsal {
        fn formats(&self) -> Option<&Formats> {
            None
        }

        async fn put(&self, _: &ThreadKey, _: Batch) -> Result<(), CheckpointError> {
            Ok(())
        }

        async fn load(
            &self,
            _: &ThreadKey,
            _: Option<CheckpointId>,
        ) -> Result<Option<Chain>, CheckpointError> {
            Ok(None)
        }

        async fn head(&self, _: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
            Ok(None)
        }

        async fn list(
            &self,
            _: &ThreadKey,
            _: ListOptions,
        ) -> Result<Vec<CheckpointId>, CheckpointError> {
            Ok(Vec::new())
        }

        fn is_rehearsal(&self) -> bool {
            true
        }
    }

    #[test]
    fn l2_what_only_rehearses_does_so_behind_events_too() {
        assert!(AfterEvents::new(Arc::new(Rehearsal)).0.is_rehearsal());
        let stored = AfterEvents::new(Arc::new(MemorySaver::new()));
        assert!(!stored.0.is_rehearsal());
    }
}
