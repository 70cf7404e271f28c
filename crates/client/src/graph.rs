//! Graphs of a server, as nodes.

use async_trait::async_trait;
use langgraph::message::{Content, ContentPart, MessageChunk};
use langgraph_remote::{
    AgentEnvelope, ConversationId, EnvelopeBody, ErrorCode, OpenInterrupt, RemoteError, Replies,
    ReplyStream, StreamContent, StreamId, Transport,
};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use uuid::Uuid;

use crate::{Client, ClientError, NewRun, RunStream};

/// The graphs of a server, as agents: a [`Transport`] for the remote nodes of `langgraph-remote`.
///
/// The name of the agent is the name of the graph, or the id of an assistant. The request of the node is the
/// input of a run, and the reply its values at the end, both as they are on the wire. Tokens appear
/// in the events of the node's run. If the remote graph is interrupted, the node interrupts its own run, and
/// sends the answer back.
///
/// A node of the remote graph that sleeps has the caller sleep, too. The server wakes it by itself, and the reply is what
/// its thread has come to then.
///
/// A broken connection resumes without a gap. A reply is complete only if its run has ended as `success`, and not at a
/// breakpoint: one that was cancelled, ran out of time or has paused before a node fails the node. A node that is dropped
/// cancels its run.
///
/// Each request has a thread of its own on the server, or that of its
/// [conversation](langgraph_remote::RemoteNode::conversing).
///
/// # Examples
///
/// ```no_run
/// use langgraph::prelude::*;
/// use langgraph_client::{Client, RemoteGraph};
/// use langgraph_remote::RemoteNode;
/// use serde_json::{Value, json};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = RemoteGraph::new(Client::new("http://127.0.0.1:2024")?);
/// let review = RemoteNode::new("review", server).bind(
///     |text: &String| Some(json!({"text": text})),
///     |values: Value| values["text"].as_str().unwrap_or_default().to_owned(),
/// );
/// let mut graph = StateGraph::<String>::new();
/// graph.add_node("review", review).add_sequence(&["review"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RemoteGraph {
    client: Client,
}

/// Threads of conversations: the same conversation is the same thread.
const CONVERSATIONS: Uuid = Uuid::from_u128(0x9d2c_70a1_5a4e_4a55_8f0e_1c3b_9c6f_2d11);

impl RemoteGraph {
    /// Creates the graphs of a server.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    async fn answer(self, request: AgentEnvelope, replies: Replies) -> Result<(), RemoteError> {
        let thread = thread_of(&request);
        let run = new_run(&request)?;
        let mut events = match RemoteRun::start(self.client, &thread, run).await {
            Ok(events) => events,
            Err(error) => return refuse(&replies, &error).await,
        };
        let mut values = Value::Null;
        let mut open = Vec::new();
        let mut stream = None;
        while let Some(event) = events.stream.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => return refuse(&replies, &error).await,
            };
            match &*event.event {
                "values" => values = event.data,
                "updates" => open.extend(interrupts(&event.data["__interrupt__"])),
                "messages" => pass_chunk_on(&replies, &mut stream, &event.data[0]).await?,
                "error" => {
                    events.fail(&replies, &event.data).await;
                    return Ok(());
                }
                _ => {}
            }
        }
        match events.stream.status() {
            _ if !open.is_empty() => {
                let conversation = ConversationId::new(thread);
                replies.interrupt(conversation, open).await;
            }
            Some("success") | None => {
                if let Some(why) = events.paused().await {
                    replies.error(ErrorCode::Failed, why).await;
                    events.has_ended();
                    return Ok(());
                }
                replies.send(EnvelopeBody::Complete(values)).await;
                if let Some(stream) = stream {
                    replies.end(stream).await;
                }
            }
            // Interrupted by a cancellation or by another run of the thread, or out of time.
            Some(status) => {
                let message = format!("the run ended as `{status}`, before it was complete");
                replies.error(ErrorCode::Failed, message).await;
            }
        }
        events.has_ended();
        Ok(())
    }
}

/// Returns the id of a request's thread: one of its own, or that of its conversation.
fn thread_of(request: &AgentEnvelope) -> String {
    let thread = match &request.conversation {
        Some(id) => id.as_str().parse().unwrap_or_else(|_| {
            let name = format!("{}/{}", request.from.as_str(), id.as_str());
            Uuid::new_v5(&CONVERSATIONS, name.as_bytes())
        }),
        None => Uuid::new_v4(),
    };
    thread.to_string()
}

/// Returns the run that answers a request.
fn new_run(request: &AgentEnvelope) -> Result<NewRun, RemoteError> {
    let run = NewRun::new(request.to.as_str());
    let run = match &request.body {
        EnvelopeBody::Resume(answers) => run.resume(json!(answers)),
        _ => run.input(request.payload::<Value>()?),
    };
    let modes = ["values", "updates", "messages-tuple"];
    let run = run.stream_mode(&modes).resumable().create_thread();
    // A broken connection resumes; a node that is dropped cancels the run itself.
    Ok(run.with("on_disconnect", "continue"))
}

/// Where a thread has come to by itself.
enum GoneOn {
    Done(Value),
    Asks(Vec<OpenInterrupt>),
}

/// A run on a thread of the server, which is cancelled if this is dropped before its end.
struct RemoteRun {
    stream: RunStream,
    cancel: CancelOnDrop,
}

struct CancelOnDrop {
    client: Client,
    thread: String,
    run: Option<String>,
}

impl RemoteRun {
    async fn start(client: Client, thread: &str, run: NewRun) -> Result<Self, ClientError> {
        let (sender, started) = oneshot::channel();
        let thread = thread.to_owned();
        // The start is not dropped halfway: its answer has the id that a cancellation needs.
        tokio::spawn(async move {
            let stream = client.stream(Some(&thread), &run).await;
            let started = stream.map(|stream| Self {
                cancel: CancelOnDrop {
                    run: stream.run_id().map(str::to_owned),
                    client,
                    thread,
                },
                stream,
            });
            let _ = sender.send(started);
        });
        let ended = |_| ClientError::Connection("the start of the run was dropped".into());
        started.await.map_err(ended)?
    }

    /// Returns why a run without open interrupts is not complete: it has paused before a node.
    async fn paused(&self) -> Option<String> {
        let (client, thread) = (&self.cancel.client, &self.cancel.thread);
        // A server that cannot say it now has said that the run has succeeded.
        let row = client.thread(thread).await.ok()?;
        if row["status"] != "interrupted" {
            return None;
        }
        let state = client.state(thread).await.ok()?;
        let next = state["next"].as_array()?.iter().filter_map(Value::as_str);
        let next: Vec<String> = next.map(|node| format!("`{node}`")).collect();
        Some(format!(
            "the run has paused before {}, where nothing is asked",
            next.join(", ")
        ))
    }

    /// Replies to a request whose run has failed.
    async fn fail(self, replies: &Replies, error: &Value) {
        match self.outcome_without(error).await {
            Some(GoneOn::Done(values)) => replies.send(EnvelopeBody::Complete(values)).await,
            Some(GoneOn::Asks(open)) => {
                let conversation = ConversationId::new(&*self.cancel.thread);
                replies.interrupt(conversation, open).await;
            }
            None => {
                let message = error["message"].as_str().unwrap_or_default();
                replies.error(ErrorCode::Failed, message).await;
            }
        }
        self.has_ended();
    }

    /// Returns where the thread has come to without the answers of this run, if the run was refused because their
    /// interrupts are not open any more: the server wakes a node that sleeps by itself.
    async fn outcome_without(&self, error: &Value) -> Option<GoneOn> {
        if error["error"] != "UnknownInterruptError" {
            return None;
        }
        let mut row = self.cancel.client.thread(&self.cancel.thread).await.ok()?;
        match row["status"].as_str()? {
            // A change of the state may have closed the interrupts: then no run has come to the end.
            "idle" => {
                let state = self.cancel.client.state(&self.cancel.thread).await.ok()?;
                let has_run = state["metadata"]["source"] != "update";
                has_run.then(|| GoneOn::Done(row["values"].take()))
            }
            "interrupted" => {
                let tasks = row["interrupts"].as_object()?.values();
                let open: Vec<OpenInterrupt> = tasks.flat_map(interrupts).collect();
                (!open.is_empty()).then_some(GoneOn::Asks(open))
            }
            _ => None,
        }
    }

    fn has_ended(mut self) {
        self.cancel.run = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Some(run) = self.run.take() else { return };
        let (client, thread) = (self.client.clone(), std::mem::take(&mut self.thread));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = client.cancel(&thread, &run).await {
                    tracing::warn!(%error, run, "failed to cancel a remote run");
                }
            });
        }
    }
}

/// Sends a token of a model as a chunk of the reply's stream, which it starts if needed.
async fn pass_chunk_on(
    replies: &Replies,
    stream: &mut Option<StreamId>,
    chunk: &Value,
) -> Result<(), RemoteError> {
    let Some(chunk) = message_chunk(chunk) else {
        return Ok(());
    };
    let id = match stream.take() {
        Some(id) => id,
        None => replies.start(StreamContent::Messages.metadata()).await,
    };
    replies.chunk(&id, &chunk).await?;
    *stream = Some(id);
    Ok(())
}

/// Reads the text and the reasoning of a token: of a string, or of content blocks, as some models send them.
fn message_chunk(token: &Value) -> Option<MessageChunk> {
    if token["type"] != "AIMessageChunk" {
        return None;
    }
    let content = Content::deserialize(&token["content"]).unwrap_or_default();
    let mut chunk = MessageChunk::text(content.text());
    let beside = token["additional_kwargs"]["reasoning_content"].as_str();
    let reasoning = content.parts().iter().filter_map(|part| match part {
        ContentPart::Reasoning { reasoning, .. } => Some(reasoning.as_str()),
        _ => None,
    });
    chunk.reasoning = reasoning.chain(beside).collect();
    if chunk.text.is_empty() && chunk.reasoning.is_empty() {
        return None;
    }
    chunk.id = token["id"].as_str().map(str::to_owned);
    Some(chunk)
}

/// Returns the interrupts of a list.
fn interrupts(list: &Value) -> impl Iterator<Item = OpenInterrupt> + '_ {
    let interrupts = list.as_array().into_iter().flatten();
    interrupts.map(|interrupt| {
        let id = interrupt["id"].as_str().unwrap_or_default();
        OpenInterrupt::new(id, id, interrupt["value"].clone())
    })
}

async fn refuse(replies: &Replies, error: &ClientError) -> Result<(), RemoteError> {
    let code = match error {
        ClientError::Id(_)
        | ClientError::Refused {
            status: 400..500, ..
        } => ErrorCode::BadRequest,
        _ => ErrorCode::Failed,
    };
    replies.error(code, error.to_string()).await;
    Ok(())
}

#[async_trait]
impl Transport for RemoteGraph {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let graphs = self.clone();
        let envelope = request.clone();
        Ok(ReplyStream::produce(&request, |replies| {
            graphs.answer(envelope, replies)
        }))
    }
}
