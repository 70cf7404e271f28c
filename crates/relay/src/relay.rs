//! The relay.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::connection::Connection;
use crate::metrics::{Counters, RelayMetrics};
use crate::options::RelayOptions;
use crate::relay_state::Shared;
use crate::wire::Listen;

/// A relay between agents. It keeps the queues of the connected agents in memory, and nothing else.
///
/// Clones share one relay.
#[derive(Clone)]
pub struct Relay {
    shared: Arc<Shared>,
}

impl Relay {
    /// Creates a relay.
    pub fn new(options: RelayOptions) -> Self {
        Self {
            shared: Arc::new(Shared::new(options)),
        }
    }

    /// Serves the connections of `listener`, until the future is dropped. Dropping it closes them.
    ///
    /// # Errors
    ///
    /// None today: a connection that cannot be accepted is left out.
    pub async fn serve(&self, mut listener: impl Listen) -> io::Result<()> {
        let mut connections = tokio::task::JoinSet::new();
        let every = (self.shared.options.grace / 4).max(Duration::from_millis(20));
        let mut sweep = tokio::time::interval(every);
        loop {
            tokio::select! {
                _ = sweep.tick() => self.shared.registry().sweep(&self.shared.options),
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok(accepted) => {
                        if connections.len() >= self.shared.options.max_connections {
                            Counters::add(&self.shared.counters.refused, 1);
                            continue;
                        }
                        let number = self.shared.next_number();
                        let connection = Connection::new(Arc::clone(&self.shared), number);
                        connections.spawn(connection.run(accepted));
                    }
                    // Out of file descriptors, or a client that left already: others go on.
                    Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
                },
            }
        }
    }

    /// Returns what the relay carries.
    pub fn metrics(&self) -> RelayMetrics {
        let counters = &self.shared.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        RelayMetrics {
            connections: read(&counters.connections),
            agents: self.shared.registry().len() as u64,
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
