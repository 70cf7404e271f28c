//! What every process has to know.

use tokio::sync::broadcast::{Receiver, error::RecvError};

/// Something that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A run waits.
    Queued,
    /// A run has more events.
    Events { run: String, thread: String },
    /// A run has to be cancelled.
    Cancel { run: String },
    /// A run has ended.
    Ended { run: String, thread: String },
    /// Signals may be lost: anything may have changed.
    Lost,
}

/// The signals of all processes, from now on.
#[derive(Debug)]
pub(crate) struct Signals(Receiver<Signal>);

impl Signals {
    /// Creates them from a channel.
    pub(crate) fn new(receiver: Receiver<Signal>) -> Self {
        Self(receiver)
    }

    /// Returns the next signal; `None` when there will be no more.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<Signal> {
        match self.0.recv().await {
            Ok(signal) => Some(signal),
            Err(RecvError::Lagged(_)) => Some(Signal::Lost),
            Err(RecvError::Closed) => None,
        }
    }
}
