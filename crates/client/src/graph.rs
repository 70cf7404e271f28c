//! A graph behind a server, as a node.

use async_trait::async_trait;
use langgraph_remote::{
    AgentEnvelope, ConversationId, EnvelopeBody, ErrorCode, OpenInterrupt, RemoteError, Replies,
    ReplyStream, StreamContent, Transport,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{Client, ClientError, NewRun};

/// Graphs behind a server, as agents: a [`Transport`] for the remote nodes of `langgraph-remote`.
///
/// The name of the agent is the name of the graph, or the id of an assistant. The request of the node is the
/// input of a run, and the reply its values at the end, both as they are on the wire. Tokens appear
/// in the events of the run around it. If the remote graph asks something, the node interrupts its
/// own run, and the answer goes back.
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
        let thread = match &request.conversation {
            Some(id) => id.as_str().parse().unwrap_or_else(|_| {
                let name = format!("{}/{}", request.from.as_str(), id.as_str());
                Uuid::new_v5(&CONVERSATIONS, name.as_bytes())
            }),
            None => Uuid::new_v4(),
        };
        let thread = thread.to_string();
        let run = NewRun::new(request.to.as_str());
        let run = match &request.body {
            EnvelopeBody::Resume(answers) => run.resume(json!(answers)),
            _ => run.input(request.payload::<Value>()?),
        };
        let modes = ["values", "updates", "messages-tuple"];
        let run = run.stream_mode(&modes).resumable().create_thread();
        // A node that no longer waits has its run cancelled.
        let run = run.with("on_disconnect", "cancel");
        let mut events = match self.client.stream(Some(&thread), &run).await {
            Ok(events) => events,
            Err(error) => return refuse(&replies, &error).await,
        };
        let mut values = Value::Null;
        let mut open = Vec::new();
        let mut stream = None;
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                Err(error) => return refuse(&replies, &error).await,
            };
            match &*event.event {
                "values" => values = event.data,
                "updates" => open.extend(questions(&event.data)),
                "messages" if event.data[0]["type"] == "AIMessageChunk" => {
                    let chunk = &event.data[0];
                    let text = chunk["content"].as_str().unwrap_or_default();
                    if text.is_empty() {
                        continue;
                    }
                    let id = match stream.take() {
                        Some(id) => id,
                        None => replies.start(StreamContent::Messages.metadata()).await,
                    };
                    let chunk = json!({"id": chunk["id"], "text": text});
                    replies.chunk(&id, &chunk).await?;
                    stream = Some(id);
                }
                "error" => {
                    let message = event.data["message"].as_str().unwrap_or_default();
                    replies.error(ErrorCode::Failed, message).await;
                    return Ok(());
                }
                _ => {}
            }
        }
        if !open.is_empty() {
            let conversation = ConversationId::new(thread);
            replies.interrupt(conversation, open).await;
            return Ok(());
        }
        replies.send(EnvelopeBody::Complete(values)).await;
        if let Some(stream) = stream {
            replies.end(stream).await;
        }
        Ok(())
    }
}

/// Returns the questions that an event asks.
fn questions(data: &Value) -> impl Iterator<Item = OpenInterrupt> + '_ {
    let asked = data["__interrupt__"].as_array().into_iter().flatten();
    asked.map(|interrupt| {
        let id = interrupt["id"].as_str().unwrap_or_default();
        OpenInterrupt::new(id, id, interrupt["value"].clone())
    })
}

async fn refuse(replies: &Replies, error: &ClientError) -> Result<(), RemoteError> {
    let code = match error {
        ClientError::Refused {
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
