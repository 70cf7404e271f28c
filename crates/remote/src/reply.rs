//! Replies as they come, and the whole of them.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::assemble::weight;
use crate::envelope::written;
use crate::{
    AgentEnvelope, EnvelopeBody, ErrorCode, RemoteError, StreamAssembler, StreamContent,
    StreamError, StreamId, StreamLimits,
};

/// How many parts of a reply may wait for their reader before the agent waits too.
const BUFFER: usize = 16;

/// A reply as it comes: one envelope, or a stream of them.
///
/// A reply is over with an error, and otherwise when it is answered and none of its streams is
/// open. It is answered by a [`Complete`](EnvelopeBody::Complete), and then its streams were only
/// for whoever watches; or by the end of a stream, and then the streamed message is the reply.
///
/// Dropping it takes the request back: the agent need not go on.
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
    /// The reply that `envelopes` are.
    pub fn new(
        envelopes: impl Stream<Item = Result<AgentEnvelope, RemoteError>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(envelopes))
    }

    /// A reply of one envelope.
    pub fn once(envelope: AgentEnvelope) -> Self {
        Self::new(Once(Some(envelope)))
    }

    /// The reply that `answer` writes. It runs only while the reply is read, and at most a few
    /// envelopes ahead of the reader; an error it returns becomes an error body.
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
        let replies = Replies {
            head: head.clone(),
            sender,
        };
        Self::new(Produced {
            answer: Some(Box::pin(answer(replies))),
            head,
            parts,
            failed: None,
        })
    }

    /// The next envelope; `None` when no more comes.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no envelope is lost.
    pub async fn next(&mut self) -> Option<Result<AgentEnvelope, RemoteError>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Reads the reply to its end and returns the whole of it.
    ///
    /// # Errors
    ///
    /// When the reply is an error, or is never whole.
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

/// The way back to whoever asked: what [`ReplyStream::produce`] hands to an agent.
///
/// Sending waits while the reader is behind. When the reader is gone, the agent is dropped with
/// it, so there is nothing to report.
#[derive(Debug)]
pub struct Replies {
    head: AgentEnvelope,
    sender: mpsc::Sender<AgentEnvelope>,
}

impl Replies {
    /// Sends any body.
    pub async fn send(&self, body: EnvelopeBody) {
        let envelope = AgentEnvelope {
            body,
            ..self.head.clone()
        };
        let _ = self.sender.send(envelope).await;
    }

    /// Sends the whole reply.
    ///
    /// # Errors
    ///
    /// When it cannot be written as JSON.
    pub async fn complete(
        &self,
        reply: &(impl Serialize + Sync + ?Sized),
    ) -> Result<(), RemoteError> {
        self.send(EnvelopeBody::complete(reply)?).await;
        Ok(())
    }

    /// Starts a stream; [`StreamContent::metadata`] says what it holds.
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
    /// When it cannot be written as JSON.
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

    /// Says that there is no reply.
    pub async fn error(&self, code: ErrorCode, message: impl Into<String>) {
        self.send(EnvelopeBody::error(code, message)).await;
    }
}

/// An agent at work, read through the channel it writes to.
struct Produced {
    answer: Option<BoxFuture<'static, Result<(), RemoteError>>>,
    head: AgentEnvelope,
    parts: mpsc::Receiver<AgentEnvelope>,
    failed: Option<EnvelopeBody>,
}

impl Stream for Produced {
    type Item = Result<AgentEnvelope, RemoteError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // What is there first: the agent works only as far ahead as its reader asks.
        if let Ok(part) = this.parts.try_recv() {
            return Poll::Ready(Some(Ok(part)));
        }
        if let Some(answer) = &mut this.answer
            && let Poll::Ready(result) = answer.as_mut().poll(cx)
        {
            this.answer = None;
            this.failed = result.err().map(as_body);
        }
        match this.parts.poll_recv(cx) {
            Poll::Ready(Some(part)) => Poll::Ready(Some(Ok(part))),
            Poll::Ready(None) if this.answer.is_none() => {
                let failed = this.failed.take().map(|body| AgentEnvelope {
                    body,
                    ..this.head.clone()
                });
                Poll::Ready(failed.map(Ok))
            }
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }
}

/// A failure of an agent, for whoever asked.
fn as_body(error: RemoteError) -> EnvelopeBody {
    let code = match error {
        RemoteError::Refused { code, message } => return EnvelopeBody::error(code, message),
        RemoteError::Unreadable(_) | RemoteError::NotWhole(_) => ErrorCode::BadRequest,
        RemoteError::TimedOut(_) => ErrorCode::TimedOut,
        _ => ErrorCode::Failed,
    };
    EnvelopeBody::error(code, error.to_string())
}

/// Knows when a reply is over; see [`ReplyStream`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ending {
    open: usize,
    answered: bool,
    over: bool,
}

impl Ending {
    /// Takes note of the next part; true when it is the last one.
    pub(crate) fn see(&mut self, body: &EnvelopeBody) -> bool {
        match body {
            EnvelopeBody::Complete(_) => self.answered = true,
            EnvelopeBody::StreamStart { .. } => self.open += 1,
            EnvelopeBody::StreamEnd { .. } => {
                self.open = self.open.saturating_sub(1);
                self.answered = true;
            }
            EnvelopeBody::Error { .. } => self.over = true,
            EnvelopeBody::StreamChunk { .. } | EnvelopeBody::Cancel => {}
        }
        self.over |= self.answered && self.open == 0;
        self.over
    }
}

/// Makes the whole of a reply's envelopes.
#[derive(Debug)]
pub(crate) struct ReplyAssembler {
    streams: StreamAssembler,
    ending: Ending,
    complete: Option<Value>,
    /// The messages that came by stream, in the order of their ends.
    streamed: Vec<Value>,
    /// About how much they take.
    bytes: usize,
    limits: StreamLimits,
}

impl ReplyAssembler {
    pub(crate) fn new(limits: StreamLimits) -> Self {
        Self {
            streams: StreamAssembler::with_limits(limits),
            ending: Ending::default(),
            complete: None,
            streamed: Vec::new(),
            bytes: 0,
            limits,
        }
    }

    /// What the open stream of a chunk holds, if its start has said so.
    pub(crate) fn content(&self, part: &AgentEnvelope) -> Option<StreamContent> {
        self.streams.content(&part.from, part.body.stream_id()?)
    }

    /// Takes the next part; the last one gives the whole.
    pub(crate) fn push(&mut self, part: AgentEnvelope) -> Result<Option<Value>, RemoteError> {
        let over = self.ending.see(&part.body);
        match part.body {
            EnvelopeBody::Complete(payload) => self.complete = Some(payload),
            EnvelopeBody::Error { code, message } => {
                return Err(RemoteError::Refused { code, message });
            }
            EnvelopeBody::Cancel => return Err(RemoteError::NotWhole("cancel")),
            _ => {
                if let Some(message) = self.streams.push(part)? {
                    let stream = message.stream_id.clone();
                    let message = message.into_value();
                    self.bytes = self.bytes.saturating_add(weight(&message));
                    if self.bytes > self.limits.bytes {
                        return Err(StreamError::TooLong(stream, self.limits.bytes).into());
                    }
                    self.streamed.push(message);
                }
            }
        }
        if !over {
            return Ok(None);
        }
        if let Some(complete) = self.complete.take() {
            return Ok(Some(complete));
        }
        Ok(match self.streamed.len() {
            0 | 1 => self.streamed.pop(),
            _ => Some(Value::Array(std::mem::take(&mut self.streamed))),
        })
    }

    /// Why there is no whole reply, when no more comes.
    pub(crate) fn cut_short(self) -> RemoteError {
        match self.streams.finish() {
            Err(unfinished) => unfinished.into(),
            Ok(()) => RemoteError::NoReply,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request() -> AgentEnvelope {
        AgentEnvelope::request("a", "b", "?").unwrap()
    }

    #[tokio::test]
    async fn a_complete_beside_a_stream_is_the_reply() {
        let reply = ReplyStream::produce(&request(), |replies| async move {
            let stream = replies.start(StreamContent::Text.metadata()).await;
            replies.chunk(&stream, "thinking").await?;
            replies.complete(&json!({"answer": 42})).await?;
            replies.end(stream).await;
            Ok(())
        });
        assert_eq!(reply.whole().await.unwrap(), json!({"answer": 42}));
    }

    #[tokio::test]
    async fn h3_interleaved_streams_of_one_reply_are_both_in_it() {
        let reply = ReplyStream::produce(&request(), |replies| async move {
            let one = replies.start(Value::Null).await;
            let two = replies.start(Value::Null).await;
            for part in ["a", "b"] {
                replies.chunk(&one, part).await?;
                replies.chunk(&two, &part.to_uppercase()).await?;
            }
            replies.end(two).await;
            replies.end(one).await;
            Ok(())
        });
        assert_eq!(reply.whole().await.unwrap(), json!(["AB", "ab"]));
    }

    #[tokio::test]
    async fn an_agent_that_says_nothing_or_stops_halfway_gives_no_reply() {
        let silent = ReplyStream::produce(&request(), |_| async { Ok(()) });
        assert!(matches!(silent.whole().await, Err(RemoteError::NoReply)));
        let halfway = ReplyStream::produce(&request(), |replies| async move {
            replies.start(Value::Null).await;
            Ok(())
        });
        let error = halfway.whole().await.unwrap_err();
        assert!(matches!(
            error,
            RemoteError::Stream(StreamError::Unfinished(_))
        ));
    }

    #[tokio::test]
    async fn an_agents_error_becomes_an_error_body() {
        let mut reply = ReplyStream::produce(&request(), |_| async {
            EnvelopeBody::Cancel.payload::<u32>().map(|_| ())
        });
        let body = reply.next().await.unwrap().unwrap().body;
        let EnvelopeBody::Error { code, message } = body else {
            panic!("expected an error, found {body:?}");
        };
        assert_eq!(code, ErrorCode::BadRequest);
        assert!(message.contains("`cancel`"), "{message}");
        assert!(reply.next().await.is_none());
    }

    #[tokio::test]
    async fn the_agent_runs_only_a_buffer_ahead_of_its_reader() {
        let (count, mut counted) = mpsc::unbounded_channel();
        let mut reply = ReplyStream::produce(&request(), |replies| async move {
            let stream = replies.start(Value::Null).await;
            for number in 0..1_000 {
                replies.chunk(&stream, &number).await?;
                let _ = count.send(number);
            }
            Ok(())
        });
        reply.next().await.unwrap().unwrap();
        let mut ahead = 0;
        while counted.try_recv().is_ok() {
            ahead += 1;
        }
        assert!(ahead <= BUFFER, "{ahead}");
    }
}
