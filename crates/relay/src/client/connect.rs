//! Connects to a relay, and registers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use super::disconnect::Disconnect;
use super::state::ClientCore;
use crate::error::RelayError;
use crate::protocol::{AGENT_AWAY, Control, Incoming, Session, parse};
use crate::wire::Wire;

/// The time limit of a connection, a registration and a write.
pub(crate) const STEP_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) type Socket = WebSocketStream<Box<dyn Wire>>;

/// Connects and registers.
pub(crate) async fn open(client: &Arc<ClientCore>) -> Result<Socket, Disconnect> {
    let options = &client.options;
    let config = WebSocketConfig::default()
        .max_message_size(Some(options.max_frame.saturating_mul(2)))
        .max_frame_size(Some(options.max_frame.saturating_mul(2)));
    let connect = async {
        let wire = wire(client).await?;
        let url = options.url.as_str();
        let open = tokio_tungstenite::client_async_with_config(url, wire, Some(config));
        match open.await {
            Ok((socket, _)) => Ok(socket),
            Err(error) => Err(Disconnect::Broken(error.to_string())),
        }
    };
    let mut socket = match timeout(STEP_TIMEOUT, connect).await {
        Ok(socket) => socket?,
        Err(_) => return Err(Disconnect::Broken("connecting timed out".to_owned())),
    };
    match timeout(STEP_TIMEOUT, register(client, &mut socket)).await {
        Ok(registered) => registered.map(|()| socket),
        Err(_) => Err(Disconnect::Broken("registering timed out".to_owned())),
    }
}

/// Reaches the relay's host, encrypted if the URL says `wss`.
async fn wire(client: &Arc<ClientCore>) -> Result<Box<dyn Wire>, Disconnect> {
    let unusable = |why: String| Disconnect::Refused(RelayError::Unreachable(why));
    let url = client.options.url.as_str();
    let request = url
        .into_client_request()
        .map_err(|error| unusable(format!("`{url}`: {error}")))?;
    let uri = request.uri();
    let secure = match uri.scheme_str() {
        Some("ws") => false,
        Some("wss") => true,
        _ => return Err(unusable(format!("`{url}`: expected `ws://` or `wss://`"))),
    };
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let broken = |error: std::io::Error| Disconnect::Broken(error.to_string());
    let wire = client.options.dial.dial(host, port).await.map_err(broken)?;
    if !secure {
        return Ok(wire);
    }
    #[cfg(feature = "rustls")]
    {
        let connector = crate::tls::connector(&client.options.roots);
        let connector = connector.map_err(|error| unusable(error.to_string()))?;
        crate::tls::encrypt(&connector, host, wire)
            .await
            .map_err(broken)
    }
    #[cfg(not(feature = "rustls"))]
    Err(unusable(format!("`{url}` needs the feature `rustls`")))
}

async fn register(client: &Arc<ClientCore>, socket: &mut Socket) -> Result<(), Disconnect> {
    let register = Control::Register {
        id: client.options.id.clone(),
        name: client.options.name.clone(),
        endpoint: client.options.endpoint.clone(),
        token: Some(client.options.token.clone()),
        session: Some(Session {
            client: client.session.clone(),
            connection: client.connections.fetch_add(1, Ordering::Relaxed),
        }),
        request_id: None,
    };
    let broken = |why: String| Disconnect::Broken(why);
    socket
        .send(Message::text(register.text()))
        .await
        .map_err(|error| broken(error.to_string()))?;
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => match parse(&text) {
                Ok(Incoming::Control(Control::Registered { .. })) => return Ok(()),
                Ok(Incoming::Control(Control::Error { code, message, .. })) => {
                    // The relay is full, or an earlier life of this agent has not expired.
                    if code == "overloaded" || code == AGENT_AWAY {
                        return Err(broken(message));
                    }
                    return Err(Disconnect::Refused(RelayError::Refused { code, message }));
                }
                _ => {}
            },
            Some(Ok(Message::Close(_))) | None => {
                return Err(broken("the relay closed the connection".to_owned()));
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(broken(error.to_string())),
        }
    }
}
