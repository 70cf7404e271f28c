//! Replies, as a stream and as a whole.

mod assembler;
mod ending;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use langgraph_budget::{Allotment, Amounts};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

pub(crate) use self::assembler::ReplyAssembler;
pub use self::ending::ReplyEnding;

use crate::envelope::written;
use crate::{
    AgentEnvelope, ConversationId, EnvelopeBody, ErrorCode, OpenInterrupt, RemoteError, StreamId,
    StreamLimits,
};

/// The number of parts that a reply buffers before the agent has to wait.
const BUFFER: usize = 16;

/// A reply as it arrives: one envelope, or a stream of them.
///
/// A reply ends with an error or an interrupt, or once it is answered and none of its streams is open. A
/// [`Complete`](EnvelopeBody::Complete) answers it; its streams were then only for observers.
/// Otherwise the end of a stream answers it, and the streamed message is the reply.
///
/// Dropping the stream cancels the request, so the agent can stop.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{AgentEnvelope, EnvelopeBody, ReplyStream};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), langgraph_remote::RemoteError> {
/// let request = AgentEnvelope::request("assistant", "mail", "list")?;
/// let reply = request.reply(EnvelopeBody::complete("nothing new")?);
/// assert_eq!(ReplyStream::once(reply).whole().await?, "nothing new");
/// # Ok(())
/// # }
/// ```
#[must_use = "a reply does not come unless it is read"]
pub struct ReplyStream(Pin<Box<dyn Stream<Item = Result<AgentEnvelope, RemoteError>> + Send>>);

impl ReplyStream {
    /// Creates a reply from a stream of envelopes.
    pub fn new(
        envelopes: impl Stream<Item = Result<AgentEnvelope, RemoteError>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(envelopes))
    }

    /// Creates a reply of one envelope.
    pub fn once(envelope: AgentEnvelope) -> Self {
        Self::new(Once(Some(envelope)))
    }

    /// Creates the reply that `answer` writes. `answer` runs only while the reply is read, and at
    /// most a few envelopes ahead of the reader. If it returns an error, the error becomes an error
    /// body. If the request has an allowance, the reply says what is spent of its
    /// [`allotment`](Replies::allotment).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_remote::{AgentEnvelope, ReplyStream, StreamContent};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), langgraph_remote::RemoteError> {
    /// let request = AgentEnvelope::request("assistant", "mail", "list")?;
    /// let reply = ReplyStream::produce(&request, |replies| async move {
    ///     let stream = replies.start(StreamContent::Text.metadata()).await;
    ///     replies.chunk(&stream, &"nothing ").await?;
    ///     replies.chunk(&stream, &"new").await?;
    ///     replies.end(stream).await;
    ///     Ok(())
    /// });
    /// assert_eq!(reply.whole().await?, "nothing new");
    /// # Ok(())
    /// # }
    /// ```
    pub fn produce<F>(request: &AgentEnvelope, answer: impl FnOnce(Replies) -> F) -> Self
    where
        F: Future<Output = Result<(), RemoteError>> + Send + 'static,
    {
        let (sender, parts) = mpsc::channel(BUFFER);
        let head = request.reply(EnvelopeBody::Cancel);
        let requester = request.from.as_str();
        let allotment = request.allowance.map(|all| Allotment::new(all, requester));
        let allotment = allotment.map(Arc::new);
        let replies = Replies {
            head: head.clone(),
            sender,
            allotment: allotment.clone(),
        };
        Self::new(Produced {
            answer: Some(Box::pin(answer(replies))),
            head,
            parts,
            failed: None,
            allotment,
            reported: Amounts::default(),
        })
    }

    /// Returns the next envelope, or `None` at the end.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no envelope is lost.
    pub async fn next(&mut self) -> Option<Result<AgentEnvelope, RemoteError>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads the reply to its end and returns the complete reply.
    ///
    /// # Errors
    ///
    /// If the reply is an error, or ends before it is complete.
    pub async fn whole(mut self) -> Result<Value, RemoteError> {
        let mut reply = ReplyAssembler::new(StreamLimits::default());
        while let Some(envelope) = self.next().await {
            if let Some(whole) = reply.push(envelope?)? {
                return Ok(whole);
            }
        }
        Err(reply.cut_short())
    }
}

impl Stream for ReplyStream {
    type Item = Result<AgentEnvelope, RemoteError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReplyStream")
    }
}

struct Once(Option<AgentEnvelope>);

impl Stream for Once {
    type Item = Result<AgentEnvelope, RemoteError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take().map(Ok))
    }
}

/// The sender of a reply: [`ReplyStream::produce`] passes it to an agent.
///
/// Sending waits while the buffer is full. If the reader is dropped, the agent is dropped with it,
/// so sending never fails for that reason.
#[derive(Debug)]
pub struct Replies {
    head: AgentEnvelope,
    sender: mpsc::Sender<AgentEnvelope>,
    allotment: Option<Arc<Allotment>>,
}

impl Replies {
    /// Returns what the agent may spend, if the requester says it: a resource for the agent's run.
    pub fn allotment(&self) -> Option<&Arc<Allotment>> {
        self.allotment.as_ref()
    }

    /// Sends any body.
    pub async fn send(&self, body: EnvelopeBody) {
        let envelope = AgentEnvelope {
            body,
            ..self.head.clone()
        };
        let _ = self.sender.send(envelope).await;
    }

    /// Sends the complete reply.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON.
    pub async fn complete(
        &self,
        reply: &(impl Serialize + Sync + ?Sized),
    ) -> Result<(), RemoteError> {
        self.send(EnvelopeBody::complete(reply)?).await;
        Ok(())
    }

    /// Sends the interrupts that the agent waits at, in place of a reply. Answers come in
    /// `conversation`.
    pub async fn interrupt(&self, conversation: ConversationId, interrupts: Vec<OpenInterrupt>) {
        let envelope = AgentEnvelope {
            conversation: Some(conversation),
            body: EnvelopeBody::Interrupt(interrupts),
            ..self.head.clone()
        };
        let _ = self.sender.send(envelope).await;
    }

    /// Starts a stream; [`StreamContent::metadata`](crate::StreamContent::metadata) declares its content.
    pub async fn start(&self, metadata: impl Into<Value>) -> StreamId {
        let stream_id = StreamId::generate();
        self.send(EnvelopeBody::StreamStart {
            stream_id: stream_id.clone(),
            metadata: metadata.into(),
        })
        .await;
        stream_id
    }

    /// Sends the next chunk of a stream.
    ///
    /// # Errors
    ///
    /// If it cannot be written as JSON.
    pub async fn chunk(
        &self,
        stream: &StreamId,
        chunk: &(impl Serialize + Sync + ?Sized),
    ) -> Result<(), RemoteError> {
        let chunk = written(chunk)?;
        let stream_id = stream.clone();
        self.send(EnvelopeBody::StreamChunk { stream_id, chunk })
            .await;
        Ok(())
    }

    /// Ends a stream.
    pub async fn end(&self, stream: StreamId) {
        self.send(EnvelopeBody::StreamEnd { stream_id: stream })
            .await;
    }

    /// Sends an error in place of a reply.
    pub async fn error(&self, code: ErrorCode, message: impl Into<String>) {
        self.send(EnvelopeBody::error(code, message)).await;
    }
}

/// A running agent, read through the channel that it writes to.
struct Produced {
    answer: Option<BoxFuture<'static, Result<(), RemoteError>>>,
    head: AgentEnvelope,
    parts: mpsc::Receiver<AgentEnvelope>,
    failed: Option<EnvelopeBody>,
    allotment: Option<Arc<Allotment>>,
    /// The amounts that the requester has been sent.
    reported: Amounts,
}

impl Produced {
    /// Adds the amounts that are spent, if they have changed.
    fn stamped(&mut self, mut part: AgentEnvelope) -> AgentEnvelope {
        let spent = self.allotment.as_ref().map(|allotment| allotment.spent());
        part.spent = spent.filter(|spent| *spent != self.reported);
        self.reported = spent.unwrap_or_default();
        part
    }
}

impl Stream for Produced {
    type Item = Result<AgentEnvelope, RemoteError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // Buffered parts first: the agent works only as far ahead as its reader asks.
        if let Ok(part) = this.parts.try_recv() {
            return Poll::Ready(Some(Ok(this.stamped(part))));
        }
        if let Some(answer) = &mut this.answer
            && let Poll::Ready(result) = answer.as_mut().poll(cx)
        {
            this.answer = None;
            this.failed = result.err().map(as_body);
        }
        match this.parts.poll_recv(cx) {
            Poll::Ready(Some(part)) => Poll::Ready(Some(Ok(this.stamped(part)))),
            Poll::Ready(None) if this.answer.is_none() => {
                let failed = this.failed.take().map(|body| AgentEnvelope {
                    body,
                    ..this.head.clone()
                });
                Poll::Ready(failed.map(|failed| Ok(this.stamped(failed))))
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

/// Turns a failure of an agent into an error body for the requester.
fn as_body(error: RemoteError) -> EnvelopeBody {
    let code = match error {
        RemoteError::Refused { code, message } => return EnvelopeBody::error(code, message),
        RemoteError::Unreadable(_) | RemoteError::NotWhole(_) => ErrorCode::BadRequest,
        RemoteError::TimedOut(_) => ErrorCode::TimedOut,
        _ => ErrorCode::Failed,
    };
    EnvelopeBody::error(code, error.to_string())
}

#[cfg(test)]
mod tests;
