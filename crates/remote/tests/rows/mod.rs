//! What holds for remote nodes, whatever carries their requests: one body for every transport. A
//! test serves [`worker`] and [`mail`] over its transport, under these names, and calls [`hold`].

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod budgets;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use langgraph::checkpoint::MemorySaver;
use langgraph::graph::NodeKind;
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_remote::{
    AgentEnvelope, AgentHandler, AgentId, EnvelopeBody, InvokeBoundary, RemoteError, RemoteExt,
    RemoteNode, ReplyStream, RequestId, ServedGraph, StreamContent, TraceContext, Transport,
    async_trait, serve,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LONG: Duration = Duration::from_secs(20);

/// What the agents have seen.
#[derive(Default)]
pub(crate) struct Log {
    requests: Mutex<Vec<AgentEnvelope>>,
    /// The answers that were given up.
    stopped: AtomicUsize,
    failures: AtomicUsize,
}

impl Log {
    fn count(&self, payload: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        let asked = requests.iter().filter(|request| {
            request
                .payload::<String>()
                .is_ok_and(|text| text == payload)
        });
        asked.count()
    }

    fn of(&self, payload: &str) -> AgentEnvelope {
        let requests = self.requests.lock().unwrap();
        let mut asked = requests.iter().filter(|request| {
            request
                .payload::<String>()
                .is_ok_and(|text| text == payload)
        });
        asked.next_back().unwrap().clone()
    }
}

/// Does what the request says: shouts, streams, interrupts, fails, or does not answer.
pub(crate) struct Worker {
    graph: ServedGraph<String>,
    log: Arc<Log>,
}

pub(crate) fn worker(log: &Arc<Log>) -> Worker {
    let mut graph = StateGraph::<String>::new();
    let seen = Arc::clone(log);
    graph.add_node("work", move |text: &String, cx: &Context| {
        match text.as_str() {
            "approve" => {
                let name: String = cx.interrupt("name", "who?")?;
                let sure: bool = cx.interrupt("sure", &format!("{name}?"))?;
                Ok(format!("{name} {sure}"))
            }
            "shaky" => {
                let name: String = cx.interrupt("name", "who?")?;
                match seen.failures.fetch_add(1, Ordering::SeqCst) {
                    0 => Err(NodeError::msg("the first time it fails")),
                    _ => Ok(name),
                }
            }
            "fail" => Err(NodeError::msg("no paper left")),
            text => Ok(text.to_uppercase()),
        }
    });
    graph.add_node("spend", budgets::spend);
    graph.add_conditional_edges(
        START,
        |text: &String| {
            if text.starts_with("spend ") {
                "spend"
            } else {
                "work"
            }
        },
        ["spend", "work"],
    );
    graph.add_edge("spend", END).add_edge("work", END);
    graph.resource(Arc::new(budgets::prices()));
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let served = serve(graph, |text: String| text, |state| state);
    Worker {
        graph: served.conversations().streamed(),
        log: Arc::clone(log),
    }
}

/// Counts when it is dropped.
struct Guard(Arc<Log>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.stopped.fetch_add(1, Ordering::SeqCst);
    }
}

impl AgentHandler for Worker {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        self.log.requests.lock().unwrap().push(request.clone());
        let payload = request.payload::<Value>().unwrap_or_default();
        let guard = Guard(Arc::clone(&self.log));
        let text = payload.as_str().unwrap_or_default();
        let later = text.strip_prefix("later ").and_then(|n| n.parse().ok());
        match text {
            "stream" => ReplyStream::produce(&request, |replies| async move {
                let stream = replies.start(StreamContent::Text.metadata()).await;
                for number in 0..100 {
                    replies.chunk(&stream, &format!("{number} ")).await?;
                }
                replies.end(stream).await;
                Ok(())
            }),
            "two streams" => ReplyStream::produce(&request, |replies| async move {
                let low = replies.start(StreamContent::Text.metadata()).await;
                let values = replies.start(StreamContent::Values.metadata()).await;
                for part in ["a", "", "b"] {
                    replies.chunk(&low, part).await?;
                    replies.chunk(&values, &json!({ "part": part })).await?;
                }
                replies.end(values).await;
                replies.end(low).await;
                Ok(())
            }),
            "disorder" => ReplyStream::produce(&request, |replies| async move {
                replies.chunk(&"s".into(), "x").await?;
                Ok(())
            }),
            "half" => ReplyStream::produce(&request, |replies| async move {
                let stream = replies.start(Value::Null).await;
                replies.chunk(&stream, "x").await?;
                Ok(())
            }),
            "never" => ReplyStream::produce(&request, |_| async move {
                let _guard = guard;
                std::future::pending().await
            }),
            _ if later.is_some() => ReplyStream::produce(&request, |replies| async move {
                tokio::time::sleep(Duration::from_millis(10 * (20 - later.unwrap_or(0)))).await;
                replies.complete(&later).await
            }),
            _ if payload.is_object() => ReplyStream::produce(&request, |replies| async move {
                replies.complete(&payload).await
            }),
            _ => self.graph.handle(request),
        }
    }

    fn topology(&self) -> Option<&langgraph::graph::Topology> {
        self.graph.topology()
    }
}

// The assistant and the mail agent.

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum MailRequest {
    Send { to: String, subject: String },
    List,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum MailResult {
    Sent(String),
    Inbox(Vec<String>),
}

#[derive(State, Clone, Debug, Default)]
struct Assistant {
    user_message: String,
    mail_request: Option<MailRequest>,
    mail_result: Option<MailResult>,
    shouted: Option<String>,
    note: String,
    reply_to_user: Option<String>,
}

fn update() -> AssistantUpdate {
    AssistantUpdate::default()
}

/// The mail agent: a graph of its own.
pub(crate) fn mail() -> impl AgentHandler {
    type Mail = Plain<(Option<MailRequest>, Option<MailResult>)>;
    let mut graph = StateGraph::<Mail>::new();
    graph.add_node("process", |mail: &Mail| {
        let result = mail.0.0.clone().map(|request| match request {
            MailRequest::Send { to, .. } => MailResult::Sent(to),
            MailRequest::List => MailResult::Inbox(vec!["lunch".to_owned(), "rent".to_owned()]),
        });
        Plain((mail.0.0.clone(), result))
    });
    graph.add_sequence(&["process"]);
    serve(
        graph.compile().unwrap(),
        |request: MailRequest| Plain((Some(request), None)),
        |mail: Mail| mail.0.1,
    )
}

/// parse → the mail agent → summarise.
fn assistant() -> StateGraph<Assistant> {
    let mut graph = StateGraph::<Assistant>::new();
    graph
        .add_node("parse", |state: &Assistant| {
            let mut words = state.user_message.split_whitespace();
            let request = match (words.next(), words.next()) {
                (Some("mail"), Some(to)) => Some(MailRequest::Send {
                    to: to.to_owned(),
                    subject: words.collect(),
                }),
                (Some("inbox"), _) => Some(MailRequest::List),
                _ => None,
            };
            update().mail_request(request)
        })
        .add_remote_node(
            "mail_agent",
            "mail",
            |state: &Assistant| state.mail_request.clone(),
            |result: MailResult| update().mail_result(Some(result)),
        )
        .add_node("summarise", summarise)
        .add_sequence(&["parse", "mail_agent", "summarise"]);
    graph
}

fn summarise(state: &Assistant) -> AssistantUpdate {
    let reply = match &state.mail_result {
        Some(MailResult::Sent(to)) => format!("sent to {to}"),
        Some(MailResult::Inbox(mails)) => format!("{} mails", mails.len()),
        None => format!("you said `{}`", state.user_message),
    };
    update().reply_to_user(Some(reply))
}

/// Shows the requests that go through a transport.
#[derive(Clone)]
struct Tap {
    inner: Arc<dyn Transport>,
    seen: Arc<Mutex<Vec<AgentEnvelope>>>,
}

impl Tap {
    fn new(inner: &Arc<dyn Transport>) -> Self {
        Self {
            inner: Arc::clone(inner),
            seen: Arc::default(),
        }
    }

    fn asked(&self, agent: &str) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|request| request.to == agent).count()
    }
}

#[async_trait]
impl Transport for Tap {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        self.seen.lock().unwrap().push(request.clone());
        self.inner.request(request).await
    }
}

fn asking(
    agent: &str,
    transport: &Arc<dyn Transport>,
    limit: Duration,
) -> CompiledStateGraph<String> {
    let node = RemoteNode::new(agent, Arc::clone(transport)).timeout(limit);
    let mut graph = StateGraph::<String>::new();
    let ask = node.bind(
        |text: &String| (!text.is_empty()).then(|| text.clone()),
        |reply: String| reply,
    );
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    graph.compile().unwrap()
}

async fn eventually(holds: impl Fn() -> bool) {
    for _ in 0..500 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it did not happen within ten seconds");
}

/// Checks every row over `transport`, which reaches `worker` and `mail`.
pub(crate) async fn hold(transport: Arc<dyn Transport>, log: &Log) {
    envelopes(&transport, log).await;
    streams(&transport).await;
    correlation(&transport).await;
    nodes(&transport, log).await;
    failures(&transport, log).await;
    boundary(&transport).await;
    threads(&transport, log).await;
    interrupts(&transport).await;
    travel(&transport, log).await;
    budgets::hold(&transport).await;
}

/// H1, H2, H5: a reply goes to its source, under the id of the request, and payloads are exact.
async fn envelopes(transport: &Arc<dyn Transport>, log: &Log) {
    let id = RequestId::generate();
    let request = AgentEnvelope::request("assistant", "worker", "hello").unwrap();
    let mut reply = transport
        .request(request.with_request_id(id.clone()))
        .await
        .unwrap();
    let part = reply.next().await.unwrap().unwrap();
    assert_eq!(
        (part.from.as_str(), part.to.as_str()),
        ("worker", "assistant")
    );
    assert_eq!(part.request_id, Some(id.clone()));
    assert_eq!(part.body, EnvelopeBody::Complete(json!("HELLO")));
    assert_eq!(log.of("hello").request_id, Some(id));
    let payload =
        json!({"large": u64::MAX, "float": 0.5, "deep": [null, {"n": -3}], "text": "你好"});
    let request = AgentEnvelope::request("assistant", "worker", &payload).unwrap();
    let reply = transport.request(request).await.unwrap().whole().await;
    assert_eq!(reply.unwrap(), payload);
}

/// H3: interleaved streams are both whole, and disorder is an error.
async fn streams(transport: &Arc<dyn Transport>) {
    let ask = async |text: &str| {
        let request = AgentEnvelope::request("assistant", "worker", text).unwrap();
        transport.request(request).await.unwrap().whole().await
    };
    let parts = json!([[{"part": "a"}, {"part": ""}, {"part": "b"}], "ab"]);
    assert_eq!(ask("two streams").await.unwrap(), parts);
    let error = ask("disorder").await.unwrap_err().to_string();
    assert!(error.contains("expected its start"), "{error}");
    ask("half").await.unwrap_err();
}

/// H4: answers in the reverse order reach their requesters.
async fn correlation(transport: &Arc<dyn Transport>) {
    let asked = (0..20).map(|number| async move {
        let request = AgentEnvelope::request("assistant", "worker", &format!("later {number}"));
        let reply = transport.request(request.unwrap()).await.unwrap();
        (number, reply.whole().await.unwrap())
    });
    for (number, reply) in join_all(asked).await {
        assert_eq!(reply, json!(number));
    }
}

/// H6, H7, H8, H10: the node is remote, its reply is in the state, and its chunks are seen.
async fn nodes(transport: &Arc<dyn Transport>, log: &Log) {
    let graph = asking("worker", transport, LONG);
    let remote = NodeKind::Remote {
        agent: "worker".to_owned(),
    };
    assert_eq!(graph.topology().nodes[0].kind, remote);
    assert_eq!(graph.invoke("one".to_owned()).await.unwrap(), "ONE");
    assert_eq!(log.count("one"), 1);
    let before = log.requests.lock().unwrap().len();
    assert_eq!(graph.invoke(String::new()).await.unwrap(), "");
    assert_eq!(log.requests.lock().unwrap().len(), before);

    let mut events = graph.run("stream".to_owned()).stream(StreamMode::Messages);
    let mut seen = String::new();
    while let Some(event) = events.next().await {
        if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
            seen.push_str(&chunk.text);
        }
    }
    let whole = events.finish().await.unwrap().finished().unwrap();
    assert!(
        seen == whole && whole.starts_with("0 1 2 ") && whole.ends_with("99 "),
        "{whole}"
    );
}

/// H9: a failure names node and agent, and a time limit holds at both ends.
async fn failures(transport: &Arc<dyn Transport>, log: &Log) {
    let error = |error: AgentError| {
        let text = error.to_string();
        assert!(text.starts_with("remote node `ask` (agent `"), "{text}");
        text
    };
    let graph = asking("worker", transport, LONG);
    let failed = error(graph.invoke("fail".to_owned()).await.unwrap_err());
    assert!(failed.ends_with("no paper left"), "{failed}");
    let graph = asking("unknown", transport, LONG);
    let failed = error(graph.invoke("x".to_owned()).await.unwrap_err());
    assert!(failed.contains("there is no agent `unknown`"), "{failed}");
    let before = log.stopped.load(Ordering::SeqCst);
    let graph = asking("worker", transport, Duration::from_millis(300));
    let failed = error(graph.invoke("never".to_owned()).await.unwrap_err());
    assert!(failed.contains("no complete reply within"), "{failed}");
    eventually(|| log.stopped.load(Ordering::SeqCst) > before).await;
}

/// H11, H12: the user talks to the boundary, and two graphs to each other.
async fn boundary(transport: &Arc<dyn Transport>) {
    let tap = Tap::new(transport);
    let mut graph = assistant();
    graph.resource::<dyn Transport>(Arc::new(tap.clone()));
    graph.resource(Arc::new(AgentId::new("assistant")));
    let boundary = InvokeBoundary::new(
        graph.compile().unwrap(),
        |text: &'static str| update().user_message(text.to_owned()),
        |state: &Assistant| state.reply_to_user.clone(),
    );
    for (said, answered) in [
        ("mail Ann lunch", "sent to Ann"),
        ("inbox", "2 mails"),
        ("thanks", "you said `thanks`"),
    ] {
        let reply = boundary.invoke(said).await.unwrap();
        assert_eq!(reply.as_deref(), Some(answered));
    }
    let seen = tap.seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    assert_ne!(seen[0].request_id, seen[1].request_id);
}

/// H13: in a fan-out, on a thread: what was answered is not asked again.
async fn threads(transport: &Arc<dyn Transport>, log: &Log) {
    let tap = Tap::new(transport);
    let shared: Arc<dyn Transport> = Arc::new(tap.clone());
    let mail = RemoteNode::new("mail", Arc::clone(&shared)).bind(
        |_: &Assistant| Some(MailRequest::List),
        |result: MailResult| update().mail_result(Some(result)),
    );
    let shout = RemoteNode::new("worker", shared).bind(
        |state: &Assistant| Some(state.user_message.clone()),
        |text: String| update().shouted(Some(text)),
    );
    let mut graph = StateGraph::<Assistant>::new();
    graph
        .add_node("mail", mail)
        .add_node("shout", shout)
        .add_node("approve", |_: &Assistant, cx: &Context| {
            let note: String = cx.interrupt("approve", "send it?")?;
            Ok::<_, NodeError>(update().note(note))
        })
        .add_node("summarise", summarise)
        .add_edge(START, "mail")
        .add_edge(START, "shout")
        .add_edge(START, "approve")
        .add_edge(["mail", "shout", "approve"], "summarise");
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let before = log.count("side by side");
    let input = update().user_message("side by side".to_owned());
    let outcome = graph.run(input).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    let outcome = graph.thread("t").resume("approve", "Ann").await.unwrap();
    let state = outcome.finished().unwrap();
    assert_eq!(state.shouted.as_deref(), Some("SIDE BY SIDE"));
    assert_eq!(
        (state.note.as_str(), state.reply_to_user.as_deref()),
        ("Ann", Some("2 mails"))
    );
    assert_eq!((tap.asked("mail"), tap.asked("worker")), (1, 1));
    assert_eq!(log.count("side by side"), before + 1);
}

/// The agent's interrupts are those of the node. If the agent fails after an answer, its run goes on
/// from there.
async fn interrupts(transport: &Arc<dyn Transport>) {
    let graph = asking("worker", transport, LONG);
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run("approve".to_owned()).thread("a").await.unwrap();
    assert_eq!(outcome.interrupts()[0].key, "name");
    assert_eq!(outcome.interrupts()[0].payload, "who?");
    let outcome = graph.thread("a").resume("name", "Ann").await.unwrap();
    assert_eq!(outcome.interrupts()[0].payload, "Ann?");
    // The agent wants a boolean.
    let error = graph.thread("a").answer("maybe").await.unwrap_err();
    assert!(error.refused_answer().is_some(), "{error}");
    let outcome = graph.thread("a").resume("sure", true).await.unwrap();
    assert_eq!(outcome.finished().unwrap(), "Ann true");

    graph.run("shaky".to_owned()).thread("b").await.unwrap();
    let error = graph.thread("b").resume("name", "Ann").await.unwrap_err();
    assert!(
        error.to_string().contains("the first time it fails"),
        "{error}"
    );
    let outcome = graph.thread("b").proceed().await.unwrap();
    assert_eq!(outcome.finished().unwrap(), "Ann");
}

/// Time limits, trace contexts and cancellations arrive.
async fn travel(transport: &Arc<dyn Transport>, log: &Log) {
    let trace = TraceContext::new(
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        Some("vendor=1".to_owned()),
    );
    let mut request = AgentEnvelope::request("assistant", "worker", "traced").unwrap();
    request.trace = Some(trace.clone());
    let request = request.with_timeout(Duration::from_secs(7));
    let reply = transport.request(request).await.unwrap().whole().await;
    assert_eq!(reply.unwrap(), "TRACED");
    let seen = log.of("traced");
    assert_eq!(seen.trace, Some(trace));
    assert!(seen.timeout.unwrap() <= Duration::from_secs(7), "{seen:?}");

    let before = log.stopped.load(Ordering::SeqCst);
    let request = AgentEnvelope::request("assistant", "worker", "never").unwrap();
    let begun = log.count("never");
    let mut reply = transport.request(request).await.unwrap();
    let waited = tokio::time::timeout(Duration::from_millis(300), reply.next()).await;
    assert!(waited.is_err(), "{waited:?}");
    assert_eq!(log.count("never"), begun + 1);
    drop(reply);
    eventually(|| log.stopped.load(Ordering::SeqCst) > before).await;
}
