//! The channel from a driver to the future of one task. It holds a few messages at most, and takes less
//! memory than a channel of tokio.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::FromDriver;

#[derive(Default)]
struct Channel {
    messages: Mutex<Messages>,
    arrived: Notify,
}

#[derive(Default)]
struct Messages {
    waiting: VecDeque<FromDriver>,
    is_over: bool,
}

impl Channel {
    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The driver's end.
pub(crate) struct Sender(Arc<Channel>);

/// The end of the task's future.
pub(crate) struct Mailbox(Arc<Channel>);

/// Creates a mailbox.
pub(crate) fn mailbox() -> (Sender, Mailbox) {
    let channel = Arc::<Channel>::default();
    (Sender(Arc::clone(&channel)), Mailbox(channel))
}

impl Sender {
    /// Sends a message. It is lost if the future was dropped.
    pub(crate) fn send(&self, message: FromDriver) {
        self.0.messages().waiting.push_back(message);
        self.0.arrived.notify_one();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.messages().is_over = true;
        self.0.arrived.notify_one();
    }
}

impl Mailbox {
    /// Returns the next message; none once the driver has dropped the task.
    pub(crate) async fn recv(&mut self) -> Option<FromDriver> {
        loop {
            {
                let mut messages = self.0.messages();
                if let Some(message) = messages.waiting.pop_front() {
                    return Some(message);
                }
                if messages.is_over {
                    return None;
                }
            }
            self.0.arrived.notified().await;
        }
    }
}
