//! The queue of the records that wait for the events before them.
//!
//! A channel of tokio begins with room for 32 messages, in each run that is open. As a rule, one record waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

/// Says to a record whether the events before it are stored; one that is dropped, that they never will be.
pub(crate) type Barrier = oneshot::Sender<bool>;

#[derive(Debug, Default)]
struct Queue {
    /// The barriers in their order; `None` when nothing takes them any more.
    waiting: Mutex<Option<VecDeque<Barrier>>>,
    sent: Notify,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, Option<VecDeque<Barrier>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the barriers of the records that wait. Dropping it drops those that were not taken.
#[derive(Debug)]
pub(crate) struct Barriers(Arc<Queue>);

/// The side of the records.
#[derive(Debug)]
pub(super) struct BarrierSender(Arc<Queue>);

impl Barriers {
    pub(super) fn new() -> (BarrierSender, Self) {
        let queue = Arc::new(Queue {
            waiting: Mutex::new(Some(VecDeque::new())),
            sent: Notify::new(),
        });
        (BarrierSender(Arc::clone(&queue)), Self(queue))
    }

    /// Waits for the next barrier. There is none any more when the saver is gone.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Barrier {
        loop {
            let next = self.0.waiting().as_mut().and_then(VecDeque::pop_front);
            if let Some(barrier) = next {
                return barrier;
            }
            // One that was sent since has left its permit.
            self.0.sent.notified().await;
        }
    }
}

impl Drop for Barriers {
    fn drop(&mut self) {
        let waiting = self.0.waiting().take();
        drop(waiting);
    }
}

impl BarrierSender {
    /// Returns false if nothing takes the barrier.
    pub(super) fn send(&self, barrier: Barrier) -> bool {
        let mut waiting = self.0.waiting();
        let Some(queue) = waiting.as_mut() else {
            return false;
        };
        queue.push_back(barrier);
        drop(waiting);
        self.0.sent.notify_one();
        true
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    #[tokio::test]
    async fn barriers_come_in_order_and_none_is_lost_with_a_wait_for_it() {
        let (sender, mut barriers) = Barriers::new();
        let (first, mut first_opened) = oneshot::channel();
        let (second, second_opened) = oneshot::channel();
        {
            let mut wait = pin!(barriers.next());
            poll_fn(|cx| {
                assert!(wait.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
            assert!(sender.send(first) && sender.send(second));
        }
        barriers.next().await.send(true).unwrap();
        assert!(first_opened.try_recv().unwrap());
        barriers.next().await.send(false).unwrap();
        assert!(!second_opened.await.unwrap());
    }

    #[tokio::test]
    async fn barriers_that_are_not_taken_are_dropped() {
        let (sender, barriers) = Barriers::new();
        let (before, opened) = oneshot::channel();
        assert!(sender.send(before));
        drop(barriers);
        assert!(opened.await.is_err());
        let (after, opened) = oneshot::channel();
        assert!(!sender.send(after));
        assert!(opened.await.is_err());
    }
}
