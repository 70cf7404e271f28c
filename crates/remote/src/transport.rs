//! The transport trait.

use std::sync::Arc;

use async_trait::async_trait;

use crate::{AgentEnvelope, RemoteError, ReplyStream};

/// Carries a request to an agent and returns its reply.
///
/// Write [`#[async_trait]`](macro@crate::async_trait) above an implementation.
///
/// [`LocalNetwork`](crate::LocalNetwork) connects agents inside a process. A transport over a
/// network tracks its open requests in a [`Correlator`](crate::Correlator).
///
/// An implementation should observe the request's [`timeout`](AgentEnvelope::timeout) if it can;
/// the requester observes it in any case. Dropping the returned stream cancels the request.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, EnvelopeBody, RemoteError, ReplyStream, Transport, async_trait};
///
/// /// Every agent answers with its own name.
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
    /// Sends `request`.
    ///
    /// # Errors
    ///
    /// If it cannot be sent: no agent has that name, or there is no connection. Later failures are
    /// items of the stream.
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
