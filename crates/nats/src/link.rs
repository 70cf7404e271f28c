//! What a queue needs of a network. [`Nats`](crate::Nats) is one; a test brings a simulated one.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use tokio::sync::mpsc;

use crate::QueueError;

/// A message of a [`Link`].
#[derive(Clone, Debug)]
pub struct Packet {
    /// Where it was sent to.
    pub subject: String,
    /// Where answers go.
    pub reply: Option<String>,
    /// What it says; `None` if the network says that nobody listens to the subject of a message whose
    /// answers were to come here.
    pub payload: Option<Bytes>,
}

/// The future of a [`Link`]'s methods.
pub type LinkFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, QueueError>> + Send + 'a>>;

/// A network with subjects: everyone who listens to a subject gets what is sent to it. Messages may be
/// lost or come late; those from one sender to one listener stay in order.
pub trait Link: Send + Sync + fmt::Debug + 'static {
    /// Sends a message.
    fn send(&self, subject: String, reply: Option<String>, payload: Bytes) -> LinkFuture<'_, ()>;

    /// Listens to a subject. One that ends in `.>` also has all subjects below it.
    fn listen(&self, subject: String) -> LinkFuture<'_, mpsc::Receiver<Packet>>;

    /// Returns the most bytes that a message may have.
    fn limit(&self) -> usize;

    /// Stores a value that no message can hold.
    fn put(&self, name: String, value: Bytes) -> LinkFuture<'_, ()>;

    /// Returns a stored value.
    fn get(&self, name: String) -> LinkFuture<'_, Bytes>;

    /// Removes a stored value.
    fn delete(&self, name: String) -> LinkFuture<'_, ()>;
}
