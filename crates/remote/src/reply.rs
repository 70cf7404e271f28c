//! Replies, as a stream and as a whole.

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

use crate::assemble::weight;
use crate::envelope::written;
use crate::{
    AgentEnvelope, ConversationId, EnvelopeBody, ErrorCode, OpenInterrupt, RemoteError,
    RemotePause, StreamAssembler, StreamContent, StreamError, StreamId, StreamLimits,
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
            told: Amounts::default(),
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

    /// Starts a stream; [`StreamContent::metadata`] declares its content.
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
    /// What the requester knows to be spent.
    told: Amounts,
}

impl Produced {
    /// Says what is spent, if the requester does not know it yet.
    fn stamped(&mut self, mut part: AgentEnvelope) -> AgentEnvelope {
        let spent = self.allotment.as_ref().map(|allotment| allotment.spent());
        part.spent = spent.filter(|spent| *spent != self.told);
        self.told = spent.unwrap_or_default();
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

/// Detects the end of a reply; see [`ReplyStream`]. A transport shows it each part.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{EnvelopeBody, ReplyEnding};
///
/// let mut ending = ReplyEnding::default();
/// let stream_id = || "s".into();
/// let start = EnvelopeBody::StreamStart { stream_id: stream_id(), metadata: "text".into() };
/// assert!(!ending.see(&start));
/// assert!(ending.see(&EnvelopeBody::StreamEnd { stream_id: stream_id() }));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyEnding {
    open: usize,
    answered: bool,
    over: bool,
}

impl ReplyEnding {
    /// Observes the next part; returns true if it is the last one.
    pub fn see(&mut self, body: &EnvelopeBody) -> bool {
        match body {
            EnvelopeBody::Complete(_) => self.answered = true,
            EnvelopeBody::StreamStart { .. } => self.open += 1,
            EnvelopeBody::StreamEnd { .. } => {
                self.open = self.open.saturating_sub(1);
                self.answered = true;
            }
            EnvelopeBody::Error { .. } | EnvelopeBody::Interrupt(_) => self.over = true,
            EnvelopeBody::StreamChunk { .. } | EnvelopeBody::Cancel | EnvelopeBody::Resume(_) => {}
        }
        self.over |= self.answered && self.open == 0;
        self.over
    }
}

/// Collects a reply's envelopes into the complete reply.
#[derive(Debug)]
pub(crate) struct ReplyAssembler {
    streams: StreamAssembler,
    ending: ReplyEnding,
    complete: Option<Value>,
    /// The streamed messages, in the order of their ends.
    streamed: Vec<Value>,
    /// Their approximate size.
    bytes: usize,
    limits: StreamLimits,
}

impl ReplyAssembler {
    pub(crate) fn new(limits: StreamLimits) -> Self {
        Self {
            streams: StreamAssembler::with_limits(limits),
            ending: ReplyEnding::default(),
            complete: None,
            streamed: Vec::new(),
            bytes: 0,
            limits,
        }
    }

    /// Returns the content of a chunk's open stream, if its start declares it.
    pub(crate) fn content(&self, part: &AgentEnvelope) -> Option<StreamContent> {
        self.streams.content(&part.from, part.body.stream_id()?)
    }

    /// Takes the next part; the last one returns the complete reply.
    pub(crate) fn push(&mut self, part: AgentEnvelope) -> Result<Option<Value>, RemoteError> {
        let over = self.ending.see(&part.body);
        match part.body {
            EnvelopeBody::Complete(payload) => self.complete = Some(payload),
            EnvelopeBody::Error { code, message } => {
                return Err(RemoteError::Refused { code, message });
            }
            EnvelopeBody::Cancel => return Err(RemoteError::NotWhole("cancel")),
            EnvelopeBody::Resume(_) => return Err(RemoteError::NotWhole("resume")),
            EnvelopeBody::Interrupt(interrupts) => {
                return Err(RemoteError::Interrupted(RemotePause {
                    conversation: part.conversation,
                    interrupts,
                }));
            }
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

    /// Returns why the reply is incomplete, if no more parts come.
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
    async fn interleaved_streams_of_one_reply_are_both_in_it() {
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
