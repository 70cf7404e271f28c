//! The options of a relay.

use std::collections::HashMap;
use std::time::Duration;

use langgraph_remote::AgentId;

/// The limits of a [`Relay`](crate::Relay), and the agents that may register.
///
/// # Examples
///
/// ```
/// use langgraph_relay::RelayOptions;
///
/// let options = RelayOptions::default()
///     .token("mail", "a long secret")
///     .token("assistant", "another one")
///     .max_frame(64 * 1024);
/// # let _ = options;
/// ```
#[derive(Clone, Debug)]
pub struct RelayOptions {
    pub(crate) tokens: Option<HashMap<AgentId, String>>,
    pub(crate) origins: Vec<String>,
    pub(crate) max_frame: usize,
    pub(crate) queue_frames: usize,
    pub(crate) queue_bytes: usize,
    pub(crate) queued: usize,
    pub(crate) max_connections: usize,
    pub(crate) max_agents: usize,
    pub(crate) heartbeat: Duration,
    pub(crate) register_within: Duration,
    pub(crate) write_within: Duration,
    pub(crate) grace: Duration,
}

impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            tokens: None,
            origins: Vec::new(),
            max_frame: 1 << 20,
            queue_frames: 1_024,
            queue_bytes: 8 << 20,
            queued: 256 << 20,
            max_connections: 4_096,
            max_agents: 4_096,
            heartbeat: Duration::from_secs(15),
            register_within: Duration::from_secs(10),
            write_within: Duration::from_secs(10),
            grace: Duration::from_secs(5),
        }
    }
}

impl RelayOptions {
    /// Gives an agent a token. With at least one token, only agents with a token may register.
    ///
    /// Without any, every agent may register under a free id. The token that it sends then
    /// protects the id from others, until the agent has left for longer than the
    /// [grace](Self::grace).
    #[must_use]
    pub fn token(mut self, id: impl Into<AgentId>, token: impl Into<String>) -> Self {
        let tokens = self.tokens.get_or_insert_default();
        tokens.insert(id.into(), token.into());
        self
    }

    /// Lets web pages of an origin connect, such as `https://app.example`. Unless allowed, no page in a browser
    /// may: it could otherwise be an agent of a relay on its user's machine.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Limits the size of a frame; the default is 1 MiB. A connection that sends more is closed.
    #[must_use]
    pub fn max_frame(mut self, bytes: usize) -> Self {
        self.max_frame = bytes;
        self
    }

    /// Limits the queue of an agent; the default is 1,024 frames and 8 MiB. One sender gets at
    /// most a quarter of each. A request without room is refused with `overloaded`.
    #[must_use]
    pub fn queue(mut self, frames: usize, bytes: usize) -> Self {
        self.queue_frames = frames;
        self.queue_bytes = bytes;
        self
    }

    /// Limits all queues together; the default is 256 MiB. If it is reached, each queue
    /// still takes 64 KiB.
    #[must_use]
    pub fn queued(mut self, bytes: usize) -> Self {
        self.queued = bytes;
        self
    }

    /// Limits the open connections; the default is 4,096. More are closed at once.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// Limits the registered agents; the default is 4,096.
    #[must_use]
    pub fn max_agents(mut self, agents: usize) -> Self {
        self.max_agents = agents;
        self
    }

    /// Sets the time between two pings; the default is 15 seconds. A connection that is silent for
    /// more than two of them is closed.
    #[must_use]
    pub fn heartbeat(mut self, every: Duration) -> Self {
        self.heartbeat = every;
        self
    }

    /// Limits the time until a new connection registers, and until a client reads what is written
    /// to it; the default is 10 seconds for both.
    #[must_use]
    pub fn patience(mut self, limit: Duration) -> Self {
        self.register_within = limit;
        self.write_within = limit;
        self
    }

    /// Sets how long an agent whose connection broke counts as present; the default is 5 seconds.
    /// Frames for it stay in its queue, and no agent with another token gets its id.
    #[must_use]
    pub fn grace(mut self, time: Duration) -> Self {
        self.grace = time;
        self
    }
}
