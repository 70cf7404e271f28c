//! The network of a queue. [`Nats`](crate::Nats) is one; tests have a simulated one.

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
    /// What it says; `None` if the network reports that a message whose answers were to come here has no
    /// receiver.
    pub payload: Option<Bytes>,
}

/// The future of a [`Link`]'s methods.
pub type LinkFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, QueueError>> + Send + 'a>>;

/// A network with subjects: each listener of a subject receives what is sent to it. Messages may be lost or
/// late; those from one sender to one listener stay in order.
pub trait Link: Send + Sync + fmt::Debug + 'static {
    /// Sends a message. If its subject has no listener, `reply` receives a packet without a payload.
    fn send(&self, subject: String, reply: Option<String>, payload: Bytes) -> LinkFuture<'_, ()>;

    /// Listens to a subject. One that ends in `.>` also has all subjects below it.
    fn listen(&self, subject: String) -> LinkFuture<'_, mpsc::Receiver<Packet>>;

    /// Returns the most bytes that a message may have.
    fn limit(&self) -> usize;

    /// Stores a value that no message can hold, in a bucket of the queue.
    fn put<'a>(&'a self, queue: &'a str, name: String, value: Bytes) -> LinkFuture<'a, ()>;

    /// Returns a stored value.
    fn get<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, Bytes>;

    /// Deletes a stored value.
    fn delete<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, ()>;
}
