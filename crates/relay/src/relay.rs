//! The relay.

mod connection;
mod metrics;
mod options;
mod queue;
mod registry;
mod state;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use self::metrics::RelayMetrics;
pub use self::options::RelayOptions;

use self::connection::Connection;
use self::metrics::Counters;
use self::state::RelayState;
use crate::wire::Listen;

/// A relay between agents. It keeps the queues of the connected agents in memory, and nothing else.
///
/// Clones share one relay.
#[derive(Clone)]
pub struct Relay {
    state: Arc<RelayState>,
}

impl Relay {
    /// Creates a relay.
    pub fn new(options: RelayOptions) -> Self {
        Self {
            state: Arc::new(RelayState::new(options)),
        }
    }

    /// Serves the connections of `listener`, until the future is dropped. Dropping it closes them.
    ///
    /// # Errors
    ///
    /// None today: a connection that cannot be accepted is left out.
    pub async fn serve(&self, mut listener: impl Listen) -> io::Result<()> {
        let mut connections = tokio::task::JoinSet::new();
        let every = (self.state.options.grace / 4).max(Duration::from_millis(20));
        let mut sweep = tokio::time::interval(every);
        loop {
            tokio::select! {
                biased;
                _ = sweep.tick() => self.state.registry().sweep(&self.state.options),
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => {
                        if connections.len() >= self.state.options.max_connections {
                            Counters::add(&self.state.counters.refused, 1);
                            continue;
                        }
                        let number = self.state.next_number();
                        let connection = Connection::new(Arc::clone(&self.state), number);
                        connections.spawn(connection.run(accepted));
                    }
                    // Out of file descriptors, or a client that has left: the others are served.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
            }
        }
    }

    /// Returns the counters.
    pub fn metrics(&self) -> RelayMetrics {
        let counters = &self.state.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RelayMetrics {
            connections: read(&counters.connections),
            agents: self.state.registry().len() as u64,
            frames: read(&counters.frames),
            bytes: read(&counters.bytes),
            dropped: read(&counters.dropped),
            refused: read(&counters.refused),
        }
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Relay").field(&self.metrics()).finish()
    }
}
