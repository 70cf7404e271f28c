//! Serves a graph as an agent.

mod asks;
mod names;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use langgraph::error::{AgentError, CheckpointError, NodeError};
use langgraph::graph::{CompiledStateGraph, Topology};
use langgraph::node::{IntoOutput, Output};
use langgraph::run::{Outcome, Run};
use langgraph::state::State;
use langgraph::stream::{EventKind, StreamMode, StreamOptions};
use langgraph::thread::Thread;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tracing::Instrument as _;

use self::asks::asks;
use self::names::{error_code, thread_name};

use crate::envelope::written;
use crate::propagate::span_within;
use crate::{
    AgentEnvelope, AgentHandler, ConversationId, Deadline, EnvelopeBody, ErrorCode, RemoteError,
    Replies, ReplyStream, StreamContent, StreamId,
};

/// Serves `graph` as an agent. Each request is a run of its own: `input` makes its input from the
/// request, and `reply` makes the reply from the final state.
///
/// The agent answers with an error if the request is not a `Q`, or if the run fails or waits for a
/// person. The run observes the request's time limit, and is dropped when no requester waits for the
/// reply any more. Its model and tool calls are paid from the request's allowance, if it has one.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_remote::{AgentEnvelope, LocalNetwork, Transport, serve};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
///
/// let network = LocalNetwork::new();
/// network.register("doubler", serve(graph.compile()?, |n: i64| n, |n| format!("it is {n}")));
///
/// let request = AgentEnvelope::request("me", "doubler", &21)?;
/// assert_eq!(network.request(request).await?.whole().await?, "it is 42");
///
/// let request = AgentEnvelope::request("me", "doubler", "twenty")?;
/// let error = network.request(request).await?.whole().await.unwrap_err();
/// assert!(error.to_string().starts_with("the agent answered with an error (bad_request)"));
/// # Ok(())
/// # }
/// ```
pub fn serve<S, Q, I, R>(
    graph: CompiledStateGraph<S>,
    input: impl Fn(Q) -> I + Send + Sync + 'static,
    reply: impl Fn(S) -> R + Send + Sync + 'static,
) -> ServedGraph<S>
where
    S: State,
    Q: DeserializeOwned,
    I: IntoOutput<S>,
    R: Serialize,
{
    ServedGraph {
        graph,
        input: Arc::new(move |request| {
            let request = request.payload().map_err(NodeError::from)?;
            input(request).into_output()
        }),
        reply: Arc::new(move |state| written(&reply(state))),
        configure: Arc::new(|run, _| run),
        streamed: false,
        conversations: false,
    }
}

type Input<S> = Arc<dyn Fn(&AgentEnvelope) -> Result<Output<S>, NodeError> + Send + Sync>;
type Reply<S> = Arc<dyn Fn(S) -> Result<Value, RemoteError> + Send + Sync>;
type Configure<S> = Arc<dyn Fn(Run<S>, &AgentEnvelope) -> Run<S> + Send + Sync>;

/// A graph served as an agent; see [`serve`].
pub struct ServedGraph<S: State> {
    graph: CompiledStateGraph<S>,
    input: Input<S>,
    reply: Reply<S>,
    configure: Configure<S>,
    streamed: bool,
    conversations: bool,
}

impl<S: State> ServedGraph<S> {
    /// Also streams the message chunks of the run to the requester, ahead of the reply and while
    /// its models write.
    #[must_use]
    pub fn streamed(mut self) -> Self {
        self.streamed = true;
        self
    }

    /// Runs each conversation on a thread of the graph, which needs a checkpointer. The id of the
    /// thread is `REQUESTER/CONVERSATION`, so that no agent continues the conversation of another. A
    /// request without a conversation gets one of its own, named like the request.
    ///
    /// If the run interrupts, the requester gets the interrupts instead of a reply, and its answers
    /// continue the run. A [`RemoteNode`](crate::RemoteNode) interrupts its own run for them.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    /// use langgraph_remote::{LocalNetwork, RemoteNode, serve};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut mail = StateGraph::<String>::new();
    /// mail.add_node("send", |text: &String, cx: &Context| {
    ///     let approved: bool = cx.interrupt("approve", text)?;
    ///     Ok::<_, NodeError>(if approved { "sent" } else { "dropped" }.to_owned())
    /// });
    /// mail.add_sequence(&["send"]);
    /// let mail = mail.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    /// let network = LocalNetwork::new();
    /// network.register("mail", serve(mail, |text: String| text, |state| state).conversations());
    ///
    /// let ask = RemoteNode::new("mail", network)
    ///     .bind(|text: &String| Some(text.clone()), |reply: String| reply);
    /// let mut graph = StateGraph::<String>::new();
    /// graph.add_node("mail", ask).add_sequence(&["mail"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// let paused = graph.run("Hello Ann".to_owned()).thread("t").await?;
    /// assert_eq!(paused.interrupts()[0].payload, "Hello Ann");
    /// let done = graph.thread("t").answer(true).await?;
    /// assert_eq!(done.finished()?, "sent");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn conversations(mut self) -> Self {
        self.conversations = true;
        self
    }

    /// Sets options of each run, which may depend on the request: resources, limits, a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph_remote::serve;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
    /// let served = serve(graph.compile()?, |n: i64| n, |n| n)
    ///     .configure(|run, request| run.limit(20).metadata("asked by", request.from.as_str()));
    /// # let _ = served;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn configure(
        mut self,
        options: impl Fn(Run<S>, &AgentEnvelope) -> Run<S> + Send + Sync + 'static,
    ) -> Self {
        self.configure = Arc::new(options);
        self
    }

    fn conversation(&self, request: &AgentEnvelope) -> Option<ConversationId> {
        if !self.conversations {
            return None;
        }
        let named = request.conversation.clone();
        Some(named.unwrap_or_else(|| match &request.request_id {
            Some(id) => ConversationId::new(id.as_str()),
            None => ConversationId::generate(),
        }))
    }

    async fn answer(self, request: AgentEnvelope, replies: Replies) -> Result<(), RemoteError> {
        let conversation = self.conversation(&request);
        let thread = conversation.as_ref().map(|id| thread_name(&request, id));
        let thread = thread.map(|thread| self.graph.thread(thread));
        let mut stream = None;
        let outcome = match (&request.body, &thread) {
            (EnvelopeBody::Resume(answers), Some(thread)) => {
                self.resume(thread, answers, &request, &replies, &mut stream)
                    .await?
            }
            (_, thread) => {
                let run = match (self.input)(&request) {
                    Ok(input) => self.graph.run(input),
                    Err(error) => {
                        replies
                            .error(ErrorCode::BadRequest, error.to_string())
                            .await;
                        return Ok(());
                    }
                };
                let run = match thread {
                    Some(thread) => run.thread(thread.id()),
                    None => run,
                };
                self.run(run, &request, &replies, &mut stream).await?
            }
        };
        if let (Some(conversation), Some(thread)) = (&conversation, &thread)
            && let Some(interrupts) = asks(thread, &request, &outcome).await
        {
            replies.interrupt(conversation.clone(), interrupts).await;
            return Ok(());
        }
        match outcome.and_then(Outcome::finished) {
            Ok(state) => {
                // The reply comes before the end of the stream, to show which of the two is the
                // answer.
                let reply = EnvelopeBody::Complete((self.reply)(state)?);
                replies.send(reply).await;
                if let Some(stream) = stream {
                    replies.end(stream).await;
                }
            }
            Err(error) => replies.error(error_code(&error), error.to_string()).await,
        }
        Ok(())
    }

    /// Runs the graph with the options of the request.
    async fn run(
        &self,
        mut run: Run<S>,
        request: &AgentEnvelope,
        replies: &Replies,
        stream: &mut Option<StreamId>,
    ) -> Result<Result<Outcome<S>, AgentError>, RemoteError> {
        if let Some(limit) = request.timeout {
            run = run
                .timeout(limit)
                .resource(Arc::new(Deadline::after(limit)));
        }
        if let Some(trace) = &request.trace {
            run = run.resource(Arc::new(trace.clone()));
        }
        if let Some(allotment) = replies.allotment() {
            run = run.resource(Arc::clone(allotment));
        }
        let run = (self.configure)(run, request);
        if self.streamed {
            watch(run, replies, stream).await
        } else {
            Ok(run.await)
        }
    }

    /// Answers the thread's interrupts. A requester whose answers failed, or that did not get the result, sends
    /// them again: the run then continues from its last record.
    async fn resume(
        &self,
        thread: &Thread<S>,
        answers: &BTreeMap<String, Value>,
        request: &AgentEnvelope,
        replies: &Replies,
        stream: &mut Option<StreamId>,
    ) -> Result<Result<Outcome<S>, AgentError>, RemoteError> {
        let ids: Vec<&str> = answers.keys().map(String::as_str).collect();
        let run = thread.resume_all(answers).metadata(ANSWERED, ids);
        let outcome = self.run(run, request, replies, stream).await?;
        let refused = match outcome {
            Err(AgentError::Checkpoint(error @ CheckpointError::NothingToResume { .. })) => error,
            outcome => return Ok(outcome),
        };
        let snapshot = match thread.state().await {
            Ok(Some(snapshot)) => snapshot,
            Ok(None) => return Ok(Err(refused.into())),
            Err(error) => return Ok(Err(error)),
        };
        let open = |id: &str| snapshot.interrupts.iter().any(|open| open.id == id);
        let rest: BTreeMap<_, _> = answers.iter().filter(|(id, _)| open(id)).collect();
        let run = if !rest.is_empty() {
            thread.resume_all(rest)
        } else if !snapshot.next.is_empty() {
            thread.recover()
        } else {
            let answered = snapshot.metadata.get(ANSWERED).and_then(Value::as_array);
            let has =
                |id: &String| answered.is_some_and(|answered| answered.iter().any(|a| a == id));
            if answers.keys().all(has) {
                return Ok(Ok(Outcome::Done {
                    state: snapshot.values,
                    unfilled_joins: snapshot.unfilled_joins,
                }));
            }
            return Ok(Err(refused.into()));
        };
        self.run(run, request, replies, stream).await
    }
}

/// The metadata entry of a resumed run: the ids of the interrupts that its requester answered.
const ANSWERED: &str = "remote.answered";

/// Runs a graph and forwards its message chunks.
async fn watch<S: State>(
    run: Run<S>,
    replies: &Replies,
    stream: &mut Option<StreamId>,
) -> Result<Result<Outcome<S>, AgentError>, RemoteError> {
    let mut events = run.stream(StreamOptions::new(StreamMode::Messages).subgraphs());
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => return Ok(Err(error)),
        };
        if let EventKind::MessageChunk { chunk, .. } = event.kind {
            let id = match stream.take() {
                Some(id) => id,
                None => replies.start(StreamContent::Messages.metadata()).await,
            };
            replies.chunk(&id, &chunk).await?;
            *stream = Some(id);
        }
    }
    Ok(events.finish().await)
}

impl<S: State> AgentHandler for ServedGraph<S> {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let agent = self.clone();
        let envelope = request.clone();
        let id = request.request_id.as_ref().map(ToString::to_string);
        let (from, agent_id) = (request.from.as_str(), request.to.as_str());
        let id = id.as_deref();
        let span = span_within(
            request.trace.as_ref(),
            || tracing::info_span!(target: "langgraph", "serve", agent = agent_id, from, request = id),
        );
        ReplyStream::produce(&request, |replies| {
            agent.answer(envelope, replies).instrument(span)
        })
    }

    fn topology(&self) -> Option<&Topology> {
        Some(self.graph.topology())
    }
}

impl<S: State> Clone for ServedGraph<S> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            input: Arc::clone(&self.input),
            reply: Arc::clone(&self.reply),
            configure: Arc::clone(&self.configure),
            streamed: self.streamed,
            conversations: self.conversations,
        }
    }
}

impl<S: State> fmt::Debug for ServedGraph<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedGraph")
            .field("graph", &self.graph)
            .field("streamed", &self.streamed)
            .finish_non_exhaustive()
    }
}
