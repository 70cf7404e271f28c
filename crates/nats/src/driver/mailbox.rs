//! What a driver tells the future of one task: a few messages at most, so that a queue takes little room.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::FromDriver;

#[derive(Default)]
struct Shared {
    letters: Mutex<Letters>,
    arrived: Notify,
}

#[derive(Default)]
struct Letters {
    waiting: VecDeque<FromDriver>,
    is_over: bool,
}

impl Shared {
    fn letters(&self) -> MutexGuard<'_, Letters> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver's end.
pub(crate) struct Sender(Arc<Shared>);

/// The end of the task's future.
pub(crate) struct Mailbox(Arc<Shared>);

/// Creates a mailbox.
pub(crate) fn mailbox() -> (Sender, Mailbox) {
    let shared = Arc::<Shared>::default();
    (Sender(Arc::clone(&shared)), Mailbox(shared))
}

impl Sender {
    /// Sends a message. If the future was dropped, nobody gets it.
    pub(crate) fn send(&self, letter: FromDriver) {
        self.0.letters().waiting.push_back(letter);
        self.0.arrived.notify_one();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.letters().is_over = true;
        self.0.arrived.notify_one();
    }
}

impl Mailbox {
    /// Returns the next message; none once the driver has dropped the task.
    pub(crate) async fn recv(&mut self) -> Option<FromDriver> {
        loop {
            {
                let mut letters = self.0.letters();
                if let Some(letter) = letters.waiting.pop_front() {
                    return Some(letter);
                }
                if letters.is_over {
                    return None;
                }
            }
            self.0.arrived.notified().await;
        }
    }
}
