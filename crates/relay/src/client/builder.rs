//! The options of an agent's connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph_remote::{AgentHandler, AgentId};

use crate::wire::{Dial, Tcp};

/// The options of a [`RelayClient`](crate::RelayClient); see
/// [`RelayClient::builder`](crate::RelayClient::builder).
#[must_use]
pub struct RelayClientBuilder {
    pub(crate) url: String,
    pub(crate) id: AgentId,
    pub(crate) name: Option<String>,
    pub(crate) endpoint: Option<String>,
    pub(crate) token: String,
    pub(crate) handler: Option<Arc<dyn AgentHandler>>,
    pub(crate) max_frame: usize,
    pub(crate) max_message: usize,
    pub(crate) heartbeat: Duration,
    pub(crate) repeat_after: Duration,
    pub(crate) connect_within: Duration,
    pub(crate) dial: Box<dyn Dial>,
    #[cfg(feature = "rustls")]
    pub(crate) roots: Vec<Vec<u8>>,
}

impl RelayClientBuilder {
    pub(crate) fn new(url: impl Into<String>, id: impl Into<AgentId>) -> Self {
        Self {
            url: url.into(),
            id: id.into(),
            name: None,
            endpoint: None,
            // It protects the id while the relay knows it.
            token: uuid::Uuid::new_v4().to_string(),
            handler: None,
            max_frame: 1 << 20,
            max_message: 16 << 20,
            heartbeat: Duration::from_secs(15),
            repeat_after: Duration::from_secs(1),
            connect_within: Duration::from_secs(10),
            dial: Box::new(Tcp),
            #[cfg(feature = "rustls")]
            roots: Vec::new(),
        }
    }

    /// Sets a name for people.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets an address of the agent outside of the relay, for the list of agents.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// Sets the agent's token. The default is a random one, which an open relay accepts. A
    /// restarted agent with another token waits until the relay has forgotten the old one: the
    /// [grace](crate::RelayOptions::grace).
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = token.into();
        self
    }

    /// Answers requests with `handler`. Without one, requests are refused.
    pub fn handler(mut self, handler: impl AgentHandler) -> Self {
        self.handler = Some(Arc::new(handler));
        self
    }

    /// Limits the size of frames; the default is 1 MiB, as the relay's. A larger request or reply is sent in
    /// pieces.
    pub fn max_frame(mut self, bytes: usize) -> Self {
        self.max_frame = bytes;
        self
    }

    /// Limits the size of a request or reply that is sent in pieces; the default is 16 MiB. A larger one ends
    /// with the error `too_large`. The pieces of a request that find no room in the queue of the receiver at the
    /// relay end it with `overloaded`: by default, one sender has 2 MiB of it.
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.max_message = bytes;
        self
    }

    /// Sets the time between two pings; the default is 15 seconds. The client connects anew if the
    /// relay is silent for more than two of them.
    pub fn heartbeat(mut self, every: Duration) -> Self {
        self.heartbeat = every;
        self
    }

    /// Sets when a request without a reply is sent again; the default is 1 second. The time doubles
    /// with each repetition, up to 30 seconds.
    pub fn repeat_after(mut self, time: Duration) -> Self {
        self.repeat_after = time;
        self
    }

    /// Limits the time for the first connection; the default is 10 seconds.
    pub fn connect_within(mut self, limit: Duration) -> Self {
        self.connect_within = limit;
        self
    }

    /// Connects to the relay in another way than by TCP.
    pub fn dial(mut self, dial: impl Dial) -> Self {
        self.dial = Box::new(dial);
        self
    }

    /// Trusts the certificate authorities of this PEM text, for a `wss://` relay. Without any, those
    /// of the machine are trusted.
    #[cfg(feature = "rustls")]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots.push(pem.into());
        self
    }
}

impl fmt::Debug for RelayClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayClientBuilder")
            .field("url", &self.url)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
