//! The frames that are queued for an agent.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph_remote::AgentId;
use tokio::sync::Notify;

/// A queue of texts, bounded in number and bytes. One sender gets at most a quarter of both, so
/// that it leaves room for the others.
#[derive(Debug)]
pub(crate) struct Queue {
    queued: Mutex<QueuedFrames>,
    arrived: Notify,
    frames: usize,
    bytes: usize,
    room: ByteBudget,
}

/// The bytes that all queues of a relay share.
#[derive(Clone, Debug)]
pub(crate) struct ByteBudget {
    used: Arc<AtomicUsize>,
    most: usize,
}

impl ByteBudget {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            used: Arc::default(),
            most,
        }
    }
}

/// What a queue may hold if the others have used up all bytes.
const ALWAYS: usize = 64 << 10;

#[derive(Debug, Default)]
struct QueuedFrames {
    texts: VecDeque<(AgentId, String)>,
    bytes: usize,
    by_sender: HashMap<AgentId, (usize, usize)>,
}

/// There is no room for another frame of this sender.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl Queue {
    pub(crate) fn new(frames: usize, bytes: usize, room: ByteBudget) -> Self {
        Self {
            queued: Mutex::default(),
            arrived: Notify::new(),
            frames,
            bytes,
            room,
        }
    }

    fn queued(&self) -> MutexGuard<'_, QueuedFrames> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, from: &AgentId, text: String) -> Result<(), Full> {
        let mut queued = self.queued();
        let (frames, bytes) = queued.by_sender.get(from).copied().unwrap_or_default();
        let share = |whole: usize| whole.div_ceil(4);
        // A first frame passes the share of bytes, so that a large one is not refused for ever.
        if queued.texts.len() >= self.frames
            || queued.bytes.saturating_add(text.len()) > self.bytes
            || frames >= share(self.frames)
            || (queued.bytes.saturating_add(text.len()) > ALWAYS
                && self.room.used.load(Ordering::Relaxed) + text.len() > self.room.most)
            || (frames > 0 && bytes.saturating_add(text.len()) > share(self.bytes))
        {
            return Err(Full);
        }
        queued.bytes += text.len();
        self.room.used.fetch_add(text.len(), Ordering::Relaxed);
        let used = (frames + 1, bytes + text.len());
        queued.by_sender.insert(from.clone(), used);
        queued.texts.push_back((from.clone(), text));
        drop(queued);
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
        let mut queued = self.queued();
        let (from, text) = queued.texts.pop_front()?;
        queued.bytes = queued.bytes.saturating_sub(text.len());
        self.room.used.fetch_sub(text.len(), Ordering::Relaxed);
        if let Some((frames, bytes)) = queued.by_sender.get_mut(&from) {
            *frames = frames.saturating_sub(1);
            *bytes = bytes.saturating_sub(text.len());
            if *frames == 0 {
                queued.by_sender.remove(&from);
            }
        }
        Some(text)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let left = self.queued().bytes;
        self.room.used.fetch_sub(left, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn one_sender_leaves_room_for_the_others() {
        let queue = Queue::new(8, 1_000, ByteBudget::new(1_000));
        let (a, b) = (AgentId::new("a"), AgentId::new("b"));
        queue.push(&a, "1".to_owned()).unwrap();
        queue.push(&a, "2".to_owned()).unwrap();
        assert_eq!(queue.push(&a, "3".to_owned()), Err(Full));
        queue.push(&b, "x".repeat(900)).unwrap();
        assert_eq!(queue.push(&b, "y".repeat(99)), Err(Full));
        assert_eq!(queue.take().unwrap(), "1");
        queue.push(&a, "3".to_owned()).unwrap();
    }
    #[test]
    fn full_queues_leave_a_little_room_to_each_other_queue() {
        let room = ByteBudget::new(100_000);
        let queue = || Queue::new(8, 1_000_000, room.clone());
        let (a, text) = (AgentId::new("a"), |bytes| "x".repeat(bytes));
        let (full, other) = (queue(), queue());
        full.push(&a, text(100_000)).unwrap();
        assert_eq!(other.push(&a, text(ALWAYS + 1)), Err(Full));
        other.push(&a, text(ALWAYS)).unwrap();
        assert_eq!(other.push(&a, text(1)), Err(Full));
        drop(full);
        other.push(&a, text(1)).unwrap();
        other.take().unwrap();
        other.take().unwrap();
        assert_eq!(room.used.load(Ordering::Relaxed), 0);
    }
}
