//! The byte streams below the connections.

use std::future::Future;
use std::io;
use std::pin::Pin;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// A byte stream in both directions.
pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A connection that a [`Listen`] has accepted. It is there when its handshake is done, if it has
/// one.
pub type Accepted = Pin<Box<dyn Future<Output = io::Result<Box<dyn Wire>>> + Send>>;

/// Where a [`Relay`](crate::Relay) accepts connections: a [`TcpListener`], a
#[cfg_attr(feature = "rustls", doc = "[`TlsListener`](crate::TlsListener),")]
#[cfg_attr(not(feature = "rustls"), doc = "`TlsListener` (feature `rustls`),")]
/// or one of your own. Write [`#[async_trait]`](macro@langgraph_remote::async_trait) above an
/// implementation.
#[async_trait]
pub trait Listen: Send {
    /// Waits for the next connection.
    async fn accept(&mut self) -> io::Result<Accepted>;
}

/// How a [`RelayClient`](crate::RelayClient) reaches the relay's host, if not by TCP: through a
/// proxy, or a network of your own. Write
/// [`#[async_trait]`](macro@langgraph_remote::async_trait) above an implementation.
#[async_trait]
pub trait Dial: Send + Sync + 'static {
    /// Connects to a port of a host.
    async fn dial(&self, host: &str, port: u16) -> io::Result<Box<dyn Wire>>;
}

#[async_trait]
impl Listen for TcpListener {
    async fn accept(&mut self) -> io::Result<Accepted> {
        let (stream, _) = TcpListener::accept(self).await?;
        let _ = stream.set_nodelay(true);
        Ok(Box::pin(async { Ok(Box::new(stream) as Box<dyn Wire>) }))
    }
}

/// TCP.
pub(crate) struct Tcp;

#[async_trait]
impl Dial for Tcp {
    async fn dial(&self, host: &str, port: u16) -> io::Result<Box<dyn Wire>> {
        let stream = TcpStream::connect((host, port)).await?;
        let _ = stream.set_nodelay(true);
        Ok(Box::new(stream))
    }
}
