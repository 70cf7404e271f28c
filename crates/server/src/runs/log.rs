//! The events of a run that is under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::frame::Frame;

/// The events so far, shared by all streams of the run. A slow stream holds no copy of them.
#[derive(Debug)]
pub(crate) struct EventLog {
    frames: Mutex<Vec<Arc<Frame>>>,
    /// How many frames there are, and whether more may come.
    state: watch::Sender<(usize, bool)>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            frames: Mutex::default(),
            state: watch::Sender::new((0, true)),
        }
    }
}

impl EventLog {
    fn frames(&self) -> MutexGuard<'_, Vec<Arc<Frame>>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event, and returns it with its number.
    pub(crate) fn push(&self, mut frame: Frame) -> Arc<Frame> {
        let mut frames = self.frames();
        frame.seq = i64::try_from(frames.len()).unwrap_or(i64::MAX);
        let frame = Arc::new(frame);
        frames.push(Arc::clone(&frame));
        self.state.send_replace((frames.len(), true));
        frame
    }

    pub(crate) fn close(&self) {
        self.state.send_modify(|state| state.1 = false);
    }

    pub(crate) fn len(&self) -> usize {
        self.frames().len()
    }

    /// Returns the event of that number; waits for it. `None` if the run ends before.
    pub(crate) async fn wait_for(&self, index: usize) -> Option<Arc<Frame>> {
        let mut state = self.state.subscribe();
        let reached = state
            .wait_for(|(len, open)| *len > index || !open)
            .await
            .is_ok();
        self.frames().get(index).filter(|_| reached).cloned()
    }

    /// Waits until the run has ended.
    pub(crate) async fn closed(&self) {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|(_, open)| !open).await;
    }
}
