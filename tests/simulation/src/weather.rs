//! What a network does to what is sent over it.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use langgraph_nats::link::Packet;
use tokio::time::Instant;

/// The clock of a network, and what becomes of what is sent over it.
pub trait Weather: fmt::Debug + Send + Sync + 'static {
    /// Returns the time, by a clock that all machines of the network have.
    fn now(&self) -> Duration;

    /// Draws how late a message is; `None` if it is lost.
    fn lateness(&self) -> Option<Duration>;

    /// Returns the most bytes of a message.
    fn limit(&self) -> usize {
        1 << 20
    }

    /// Returns how long it takes to store a value, or to fetch one.
    fn storing(&self) -> Duration {
        Duration::ZERO
    }

    /// Sees a message that a machine sends.
    fn is_sent(&self, _: &Packet) {}

    /// Sees a message that has come to a machine.
    fn has_arrived(&self, _: &Packet) {}
}

/// How a network behaves.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// The share of messages that are lost.
    pub loss: f64,
    /// The longest delay of a message.
    pub delay: Duration,
    /// The most bytes of a message.
    pub limit: usize,
    /// How long it takes to store a value, or to fetch one.
    pub storing: Duration,
}

impl Conditions {
    /// Nothing is lost or late.
    pub const FINE: Self = Self {
        loss: 0.0,
        delay: Duration::ZERO,
        limit: 1 << 20,
        storing: Duration::ZERO,
    };
}

/// Conditions that a seed draws, on the clock of tokio.
#[derive(Debug)]
pub(crate) struct Drawn {
    conditions: Conditions,
    random: Mutex<fastrand::Rng>,
    begun: Instant,
}

impl Drawn {
    pub(crate) fn new(seed: u64, conditions: Conditions) -> Self {
        Self {
            conditions,
            random: Mutex::new(fastrand::Rng::with_seed(seed)),
            begun: Instant::now(),
        }
    }
}

impl Weather for Drawn {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn lateness(&self) -> Option<Duration> {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        if random.f64() < self.conditions.loss {
            return None;
        }
        let most = u64::try_from(self.conditions.delay.as_micros()).unwrap_or(0);
        Some(Duration::from_micros(random.u64(0..=most)))
    }

    fn limit(&self) -> usize {
        self.conditions.limit
    }

    fn storing(&self) -> Duration {
        self.conditions.storing
    }
}
