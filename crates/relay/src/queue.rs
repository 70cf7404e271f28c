//! What waits to be written to an agent.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use langgraph_remote::AgentId;
use tokio::sync::Notify;

/// A queue of texts, bounded in number and bytes. One sender gets at most a quarter of both, so
/// that it cannot keep the others out.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Notify,
    frames: usize,
    bytes: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    texts: VecDeque<(AgentId, String)>,
    bytes: usize,
    by_sender: HashMap<AgentId, (usize, usize)>,
}

/// There is no room for another frame of this sender.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Queue {
    pub(crate) fn new(frames: usize, bytes: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            arrived: Notify::new(),
            frames,
            bytes,
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, from: &AgentId, text: String) -> Result<(), Full> {
        let mut waiting = self.waiting();
        let (frames, bytes) = waiting.by_sender.get(from).copied().unwrap_or_default();
        let share = |whole: usize| whole.div_ceil(4);
        // A first frame passes the share of bytes, so that a large one is not refused for ever.
        if waiting.texts.len() >= self.frames
            || waiting.bytes.saturating_add(text.len()) > self.bytes
            || frames >= share(self.frames)
            || (frames > 0 && bytes.saturating_add(text.len()) > share(self.bytes))
        {
            return Err(Full);
        }
        waiting.bytes += text.len();
        let used = (frames + 1, bytes + text.len());
        waiting.by_sender.insert(from.clone(), used);
        waiting.texts.push_back((from.clone(), text));
        drop(waiting);
        self.arrived.notify_one();
        Ok(())
    }

    /// Returns the next text. Cancel safe.
    pub(crate) async fn pop(&self) -> String {
        loop {
            if let Some(text) = self.take() {
                return text;
            }
            self.arrived.notified().await;
        }
    }

    fn take(&self) -> Option<String> {
        let mut waiting = self.waiting();
        let (from, text) = waiting.texts.pop_front()?;
        waiting.bytes = waiting.bytes.saturating_sub(text.len());
        if let Some((frames, bytes)) = waiting.by_sender.get_mut(&from) {
            *frames = frames.saturating_sub(1);
            *bytes = bytes.saturating_sub(text.len());
            if *frames == 0 {
                waiting.by_sender.remove(&from);
            }
        }
        Some(text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn one_sender_leaves_room_for_the_others() {
        let queue = Queue::new(8, 1_000);
        let (a, b) = (AgentId::new("a"), AgentId::new("b"));
        queue.push(&a, "1".to_owned()).unwrap();
        queue.push(&a, "2".to_owned()).unwrap();
        assert_eq!(queue.push(&a, "3".to_owned()), Err(Full));
        queue.push(&b, "x".repeat(900)).unwrap();
        assert_eq!(queue.push(&b, "y".repeat(99)), Err(Full));
        assert_eq!(queue.take().unwrap(), "1");
        queue.push(&a, "3".to_owned()).unwrap();
    }
}
