//! The way to an agent.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{AgentEnvelope, RemoteError, ReplyStream};

/// Carries a request to an agent and brings its reply.
///
/// Implementations carry [`#[async_trait]`](macro@crate::async_trait).
///
/// [`LocalNetwork`](crate::LocalNetwork) is the one inside a process. One that goes over a network
/// keeps its open requests in a [`Correlator`](crate::Correlator).
///
/// An implementation keeps the request's [`timeout`](AgentEnvelope::timeout) if it can; whoever
/// asks keeps it in any case. When the returned stream is dropped, the request is taken back.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, EnvelopeBody, RemoteError, ReplyStream, Transport, async_trait};
///
/// /// Everybody answers with their own name.
/// struct Echo;
///
/// #[async_trait]
/// impl Transport for Echo {
///     async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
///         let body = EnvelopeBody::complete(&request.to)?;
///         Ok(ReplyStream::once(request.reply(body)))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), RemoteError> {
/// let request = AgentEnvelope::request("assistant", "mail", "who are you?")?;
/// assert_eq!(Echo.request(request).await?.whole().await?, "mail");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Sends `request` on its way.
    ///
    /// # Errors
    ///
    /// When it cannot be sent: nobody of that name, no connection. What goes wrong later is an
    /// item of the stream.
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError>;
}

#[async_trait]
impl<T: Transport + ?Sized> Transport for Arc<T> {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        (**self).request(request).await
    }
}

#[async_trait]
impl<T: Transport + ?Sized> Transport for Box<T> {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        (**self).request(request).await
    }
}
