//! The queue between a run and the reader of its events.
//!
//! It counts no permits as a channel of tokio does, and does not look for the end of its senders, since the
//! reader knows when the run has ended. The reader takes out all events at once, and so locks the queue
//! once for as many events as there is room for.
//!
//! A node waits for room before its event is added. The events of a superstep are added at once; the run waits
//! afterwards, where it can, until no more are unread than there is room for.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, Waker};

use langgraph_core::Lock;
use tokio::task::consume_budget;

/// Creates a queue with room for so many events.
pub(crate) fn event_queue<T>(room: usize) -> (EventSender<T>, EventReader<T>) {
    let queue = Arc::new(Queue {
        room,
        unread: AtomicUsize::new(0),
        lacks_room: AtomicBool::new(false),
        state: Lock::new(QueueState {
            events: VecDeque::new(),
            closed: false,
            reader: None,
            senders: Vec::new(),
        }),
    });
    let reader = EventReader {
        queue: Arc::clone(&queue),
        taken: VecDeque::new(),
    };
    (EventSender(queue), reader)
}

struct Queue<T> {
    room: usize,
    /// How many events the reader has taken out and not read yet: they take up room. Only the reader changes it.
    unread: AtomicUsize,
    /// True if a sender may wait for room, or there are more events than that. The reader may see it late; it looks
    /// under the lock before it waits.
    lacks_room: AtomicBool,
    state: Lock<QueueState<T>>,
}

struct QueueState<T> {
    events: VecDeque<T>,
    closed: bool,
    reader: Option<Waker>,
    /// The senders that wait for room.
    senders: Vec<Waker>,
}

impl<T> Queue<T> {
    /// Returns how many events are not read.
    #[inline]
    fn unread(&self, state: &QueueState<T>) -> usize {
        state.events.len() + self.unread.load(Ordering::Relaxed)
    }

    /// Locks the queue.
    #[inline]
    fn open(&self) -> OpenQueue<'_, T> {
        OpenQueue {
            queue: self,
            state: self.state.lock(),
        }
    }

    /// Wakes the senders once there is room: all of them, since any may have been dropped.
    fn wake_senders(&self, mut state: MutexGuard<'_, QueueState<T>>) {
        let is_late = self.lacks_room.load(Ordering::Relaxed);
        if !is_late || (!state.closed && self.unread(&state) > self.room) {
            return;
        }
        self.lacks_room.store(false, Ordering::Relaxed);
        let senders = std::mem::take(&mut state.senders);
        drop(state);
        senders.into_iter().for_each(Waker::wake);
    }
}

/// A queue that is locked: no code of a user may run as long as this lives.
pub(super) struct OpenQueue<'a, T> {
    queue: &'a Queue<T>,
    state: MutexGuard<'a, QueueState<T>>,
}

impl<T> OpenQueue<'_, T> {
    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.state.closed
    }

    /// Adds an event, also if there is no room for it. The queue must not be closed.
    #[allow(clippy::inline_always)] // an event is large, and would be moved once more
    #[inline(always)]
    pub(super) fn put(&mut self, event: T) {
        self.state.events.push_back(event);
    }

    /// Unlocks the queue, and wakes its reader.
    #[allow(clippy::inline_always)] // part of each superstep that is read
    #[inline(always)]
    pub(super) fn leave(self) {
        let Self { queue, mut state } = self;
        if queue.unread(&state) > queue.room {
            queue.lacks_room.store(true, Ordering::Relaxed);
        }
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

/// The side of the run.
pub(crate) struct EventSender<T>(Arc<Queue<T>>);

impl<T> Clone for EventSender<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> EventSender<T> {
    /// Locks the queue, to add events at once.
    #[inline]
    pub(super) fn open(&self) -> OpenQueue<'_, T> {
        self.0.open()
    }

    /// Returns true if there may be more events than there is room for.
    #[inline]
    pub(super) fn lacks_room(&self) -> bool {
        self.0.lacks_room.load(Ordering::Relaxed)
    }

    /// Waits until there are no more events than there is room for.
    pub(super) async fn room(&self) {
        self.wait(self.0.room).await.leave();
    }

    /// Adds an event as soon as there is room. After the end it is dropped.
    pub(super) async fn send(&self, event: T) {
        let mut queue = self.wait(self.0.room.saturating_sub(1)).await;
        if !queue.is_closed() {
            queue.put(event);
            queue.leave();
        }
    }

    /// Locks the queue; it is `Ok` if at most so many events are unread, or it is closed.
    fn open_within(&self, unread: usize) -> Result<OpenQueue<'_, T>, OpenQueue<'_, T>> {
        let open = self.open();
        if open.is_closed() || self.0.unread(&open.state) <= unread {
            Ok(open)
        } else {
            Err(open)
        }
    }

    /// Waits until at most so many events are unread, or the queue is closed.
    async fn wait(&self, unread: usize) -> OpenQueue<'_, T> {
        if let Ok(open) = self.open_within(unread) {
            return open;
        }
        // A run that does nothing but send lets other tasks of the runtime run.
        consume_budget().await;
        poll_fn(|cx| {
            let mut open = match self.open_within(unread) {
                Ok(open) => return Poll::Ready(open),
                Err(full) => full,
            };
            // A task that is polled for other reasons waits once.
            let senders = &mut open.state.senders;
            if !senders.iter().any(|waker| waker.will_wake(cx.waker())) {
                senders.push(cx.waker().clone());
            }
            self.0.lacks_room.store(true, Ordering::Relaxed);
            Poll::Pending
        })
        .await
    }
}

/// The side of the reader. Dropping it drops the events, and those that are sent later.
pub(crate) struct EventReader<T> {
    queue: Arc<Queue<T>>,
    /// The events that were taken out.
    taken: VecDeque<T>,
}

impl<T> EventReader<T> {
    /// Returns the next event, if there is one.
    #[allow(clippy::inline_always)] // an event is large, and would be moved once more
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.taken.is_empty() {
            return self.take(|_| ());
        }
        let queue = &*self.queue;
        queue.unread.store(self.taken.len() - 1, Ordering::Relaxed);
        if queue.lacks_room.load(Ordering::Relaxed) {
            queue.wake_senders(queue.state.lock());
        }
        self.taken.pop_front()
    }

    /// Takes out all events, and returns the first; if there is none, calls `wait`. What is sent while the
    /// reader does not wait wakes it no more.
    fn take(&mut self, wait: impl FnOnce(&mut QueueState<T>)) -> Option<T> {
        let mut state = self.queue.state.lock();
        let waker = state.reader.take();
        std::mem::swap(&mut state.events, &mut self.taken);
        let event = self.taken.pop_front();
        self.queue.unread.store(self.taken.len(), Ordering::Relaxed);
        if event.is_none() {
            wait(&mut state);
        }
        self.queue.wake_senders(state);
        drop(waker);
        event
    }

    /// Returns the next event as soon as there is one; `None` after the last one of a closed queue.
    pub(crate) fn poll_pop(&mut self, cx: &Context<'_>) -> Poll<Option<T>> {
        if !self.taken.is_empty() {
            return Poll::Ready(self.pop());
        }
        let mut ended = false;
        let event = self.take(|state| {
            ended = state.closed;
            state.reader = Some(cx.waker().clone());
        });
        match event {
            None if !ended => Poll::Pending,
            event => Poll::Ready(event),
        }
    }

    /// Takes no more events. Those that were sent can still be read.
    pub(crate) fn close(&self) {
        let mut state = self.queue.state.lock();
        state.closed = true;
        self.queue.wake_senders(state);
    }
}

impl<T> Drop for EventReader<T> {
    fn drop(&mut self) {
        self.close();
        let events = std::mem::take(&mut self.queue.state.lock().events);
        // Apart from the lock: an event may hold the last clone of a state.
        drop(events);
    }
}

#[cfg(test)]
mod tests;
