//! A relay, which remembers nothing of an earlier process, and the connections to it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use langgraph_relay::{Relay, RelayClient, RelayClientBuilder, RelayOptions};
use langgraph_remote::{AgentEnvelope, RemoteError, ReplyStream, Transport};

use crate::host::{Drains, Program, Role, Running};
use crate::network::{Dialer, Streams};
use crate::site::Site;

pub(crate) const RELAY: &str = "relay";

const HEARTBEAT: Duration = Duration::from_secs(2);

pub(crate) struct RelayProgram {
    pub(crate) site: Site,
}

impl Program for RelayProgram {
    fn role(&self) -> Role {
        Role::Relay
    }

    fn run(&self, _: Drains) -> Running {
        let options = RelayOptions::default()
            .heartbeat(HEARTBEAT)
            .patience(HEARTBEAT)
            .grace(Duration::from_secs(3));
        let port = self.site.network.streams.listen(RELAY);
        Box::pin(async move {
            let _ = Relay::new(options).serve(port).await;
        })
    }
}

/// Returns the options of a host's connection to the relay.
pub(crate) fn to_relay(streams: &Streams, host: &str) -> RelayClientBuilder {
    let dialer = Dialer {
        streams: streams.clone(),
        host: host.to_owned(),
    };
    RelayClient::builder(format!("ws://{RELAY}:80/ws"), host)
        .dial(dialer)
        // A process comes back under the id of an earlier one.
        .token(format!("the token of {host}"))
        .heartbeat(HEARTBEAT)
        .repeat_after(Duration::from_millis(300))
        .connect_within(Duration::from_secs(60))
}

/// The way of a server's requests to the relay, while it is connected.
#[derive(Default)]
pub(crate) struct ThroughRelay(Mutex<Option<RelayClient>>);

impl ThroughRelay {
    /// Connects a host, again and again.
    pub(crate) fn open(streams: &Streams, host: &str) -> Arc<Self> {
        let this = Arc::<Self>::default();
        let (client, streams, host) = (Arc::clone(&this), streams.clone(), host.to_owned());
        tokio::spawn(async move {
            loop {
                if let Ok(connected) = to_relay(&streams, &host).connect().await {
                    client.set(Some(connected.clone()));
                    connected.closed().await;
                    client.set(None);
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        });
        this
    }

    fn set(&self, client: Option<RelayClient>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = client;
    }

    fn client(&self) -> Option<RelayClient> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl Transport for ThroughRelay {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let away =
            || RemoteError::connection(std::io::Error::from(std::io::ErrorKind::NotConnected));
        self.client().ok_or_else(away)?.request(request).await
    }
}
