//! Graphs that ask agents elsewhere: through a network in the process, and through a relay that
//! reorders, delays and loses what it carries.

use std::collections::HashMap;
use std::future::{Future, pending};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use langgraph::checkpoint::MemorySaver;
use langgraph::graph::NodeKind;
use langgraph::message::MessageChunk;
use langgraph::prelude::*;
use langgraph::remote::{
    AgentEnvelope, AgentHandler, AgentId, CorrelationError, Correlator, EnvelopeBody, ErrorCode,
    Frame, InvokeBoundary, LocalNetwork, RemoteError, RemoteNode, ReplyStream, RequestId,
    StreamContent, Transport, serve,
};
use langgraph::state::{Field, FieldSet, ReducerError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

// What the two agents agree on.

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum MailRequest {
    Send { to: String, subject: String },
    List,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum MailResult {
    Sent(String),
    Inbox(Vec<String>),
}

// The assistant's state.

macro_rules! assistant_state {
    ($($field:ident: $ty:ty),* $(,)?) => {
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        struct Assistant {
            $($field: $ty,)*
        }

        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(default)]
        struct AssistantUpdate {
            $($field: Option<$ty>,)*
        }

        impl AssistantUpdate {
            $(fn $field(mut self, value: impl Into<$ty>) -> Self {
                self.$field = Some(value.into());
                self
            })*
        }

        impl From<Assistant> for AssistantUpdate {
            fn from(state: Assistant) -> Self {
                Self { $($field: Some(state.$field),)* }
            }
        }

        impl State for Assistant {
            type Update = AssistantUpdate;

            fn fields(&self) -> &[Field] {
                const { &[$(Field::plain(stringify!($field))),*] }
            }

            fn written(&self, update: &AssistantUpdate) -> FieldSet {
                let written = [$(update.$field.is_some()),*];
                written.iter().enumerate().filter(|(_, is)| **is).map(|(index, _)| index).collect()
            }

            fn try_merge(&mut self, update: AssistantUpdate) -> Result<(), ReducerError> {
                self.overwrite(update);
                Ok(())
            }

            fn overwrite(&mut self, update: AssistantUpdate) {
                $(if let Some(value) = update.$field {
                    self.$field = value;
                })*
            }

            fn discard(&self, update: &mut AssistantUpdate, fields: &FieldSet) {
                let mut index = 0..;
                $(if index.next().is_some_and(|index| fields.contains(index)) {
                    update.$field = None;
                })*
            }

            fn reset(&mut self, fields: &FieldSet) {
                let mut index = 0..;
                $(if index.next().is_some_and(|index| fields.contains(index)) {
                    self.$field = Default::default();
                })*
            }
        }

        impl langgraph::node::IntoOutput<Assistant> for AssistantUpdate {
            fn into_output(self) -> Result<langgraph::node::Output<Assistant>, NodeError> {
                Ok(langgraph::node::Output::update(self))
            }
        }
    };
}

assistant_state! {
    user_message: String,
    mail_request: Option<MailRequest>,
    mail_result: Option<MailResult>,
    summary: String,
    weather: String,
    reply_to_user: Option<String>,
}

fn update() -> AssistantUpdate {
    AssistantUpdate::default()
}

// The assistant's nodes.

fn parse(state: &Assistant) -> AssistantUpdate {
    let mut words = state.user_message.split_whitespace();
    let request = match (words.next(), words.next()) {
        (Some("mail"), Some(to)) => Some(MailRequest::Send {
            to: to.to_owned(),
            subject: words.collect::<Vec<_>>().join(" "),
        }),
        (Some("inbox"), _) => Some(MailRequest::List),
        _ => None,
    };
    update().mail_request(request)
}

fn mail_request(state: &Assistant) -> Option<MailRequest> {
    state.mail_request.clone()
}

fn mail_result(result: MailResult) -> AssistantUpdate {
    update().mail_result(Some(result))
}

fn summarise(state: &Assistant) -> AssistantUpdate {
    let reply = match &state.mail_result {
        Some(MailResult::Sent(to)) => format!("sent to {to}"),
        Some(MailResult::Inbox(subjects)) => format!("{} mails", subjects.len()),
        None => format!("you said `{}`", state.user_message),
    };
    update().reply_to_user(Some(reply))
}

/// parse → the mail agent → summarise.
fn assistant() -> StateGraph<Assistant> {
    let mut graph = StateGraph::new();
    graph
        .add_node("parse", parse)
        .add_remote_node("mail_agent", "mail", mail_request, mail_result)
        .add_node("summarise", summarise)
        .add_sequence(&["parse", "mail_agent", "summarise"]);
    graph
}

/// A graph of the one node `ask`.
fn asking(node: RemoteNode) -> CompiledStateGraph<Assistant> {
    let mut graph = StateGraph::new();
    graph
        .add_node("ask", node.bind(question, answer))
        .add_sequence(&["ask"]);
    graph.compile().unwrap()
}

fn question(state: &Assistant) -> Option<String> {
    Some(state.user_message.clone())
}

fn answer(summary: String) -> AssistantUpdate {
    update().summary(summary)
}

// The mail agent: request → mailbox → result, a graph of its own.

#[derive(Clone, Debug, Default, PartialEq)]
struct Mailbox {
    request: Option<MailRequest>,
    result: Option<MailResult>,
}

fn mail_agent() -> impl AgentHandler + Clone {
    let mut graph = StateGraph::<Plain<Mailbox>>::new();
    graph.add_node("process", |mailbox: Plain<Mailbox>| {
        let result = mailbox.request.clone().map(|request| match request {
            MailRequest::Send { to, .. } => MailResult::Sent(to),
            MailRequest::List => MailResult::Inbox(vec!["lunch".to_owned(), "rent".to_owned()]),
        });
        Plain(Mailbox {
            result,
            ..mailbox.0
        })
    });
    graph.add_sequence(&["process"]);
    serve(
        graph.compile().unwrap(),
        |request: MailRequest| {
            Plain(Mailbox {
                request: Some(request),
                result: None,
            })
        },
        |mailbox| mailbox.0.result,
    )
}

fn local(id: &str, agent: impl AgentHandler) -> LocalNetwork {
    let network = LocalNetwork::new();
    network.register(id, agent);
    network
}

fn shared(network: impl Transport) -> Arc<dyn Transport> {
    Arc::new(network)
}

/// Shows everything that goes through a transport.
#[derive(Clone)]
struct Tap<T> {
    inner: Arc<T>,
    seen: Arc<Mutex<Vec<AgentEnvelope>>>,
}

impl<T: Transport> Tap<T> {
    fn new(inner: T) -> Self {
        Self {
            inner: Arc::new(inner),
            seen: Arc::default(),
        }
    }

    fn seen(&self) -> Vec<AgentEnvelope> {
        self.seen.lock().unwrap().clone()
    }
}

impl<T: Transport> Transport for Tap<T> {
    fn request(&self, request: AgentEnvelope) -> BoxFuture<'_, Result<ReplyStream, RemoteError>> {
        Box::pin(async move {
            self.seen.lock().unwrap().push(request.clone());
            let mut reply = self.inner.request(request.clone()).await?;
            let seen = Arc::clone(&self.seen);
            Ok(ReplyStream::produce(&request, |replies| async move {
                while let Some(part) = reply.next().await {
                    let part = part?;
                    seen.lock().unwrap().push(part.clone());
                    replies.send(part.body).await;
                }
                Ok(())
            }))
        })
    }
}

/// Counts when it is dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// An agent that never answers, and how many of its attempts were dropped.
fn silent() -> (impl AgentHandler, Arc<AtomicUsize>) {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let agent = move |_: AgentEnvelope| {
        let guard = Guard(Arc::clone(&count));
        async move {
            let _guard = guard;
            pending::<EnvelopeBody>().await
        }
    };
    (agent, dropped)
}

fn remote_error(error: &AgentError) -> &RemoteError {
    let AgentError::Remote { node, agent, .. } = error else {
        panic!("expected a remote error, found {error:?}");
    };
    let text = error.to_string();
    assert!(text.contains(&format!("`{node}`")), "{text}");
    assert!(text.contains(&format!("agent `{agent}`")), "{text}");
    error.node_error().unwrap().downcast_ref().unwrap()
}

// What the graph is.

#[test]
fn h6_the_graph_lists_a_remote_node_with_its_agent() {
    let mut graph = assistant();
    let judge = RemoteNode::new("judge-7", LocalNetwork::new());
    graph.add_node("judge", judge.bind(question, answer).retry(2).defer());
    let kind = |name: &str| graph.topology().node(name).unwrap().kind.clone();
    let remote = |agent: &str| NodeKind::Remote {
        agent: agent.to_owned(),
    };
    assert_eq!(kind("mail_agent"), remote("mail"));
    assert_eq!(kind("judge"), remote("judge-7"));
    assert_eq!(kind("parse"), NodeKind::Function);
    let judge = graph.topology().node("judge").unwrap();
    assert_eq!((judge.max_attempts, judge.defer), (2, true));
}

// Asking.

#[tokio::test]
async fn h7_a_remote_node_runs_through_its_transport() {
    // The agent is in the process too, but only the transport decides who answers.
    let local_runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&local_runs);
    let network = local("mail", move |_: AgentEnvelope| {
        count.fetch_add(1, Ordering::SeqCst);
        async { EnvelopeBody::Complete(json!({"Sent": "nobody"})) }
    });

    struct Elsewhere(Arc<Mutex<Vec<Value>>>);
    impl Transport for Elsewhere {
        fn request(
            &self,
            request: AgentEnvelope,
        ) -> BoxFuture<'_, Result<ReplyStream, RemoteError>> {
            self.0.lock().unwrap().push(request.payload().unwrap());
            let body = EnvelopeBody::Complete(json!({"Sent": "Ann"}));
            Box::pin(async move { Ok(ReplyStream::once(request.reply(body))) })
        }
    }

    let asked = Arc::default();
    let graph = assistant().compile().unwrap();
    let state = graph
        .run(update().user_message("mail Ann see you"))
        .resource(shared(Elsewhere(Arc::clone(&asked))))
        .await
        .unwrap()
        .into_state();
    assert_eq!(local_runs.load(Ordering::SeqCst), 0);
    assert_eq!(
        *asked.lock().unwrap(),
        [json!({"action": "send", "to": "Ann", "subject": "see you"})]
    );
    assert_eq!(state.mail_result, Some(MailResult::Sent("Ann".to_owned())));
    assert_eq!(state.reply_to_user.as_deref(), Some("sent to Ann"));
    drop(network);
}

#[tokio::test]
async fn h7_without_a_binding_the_agent_is_sent_the_state_and_answers_with_an_update() {
    let network = local("judge", |request: AgentEnvelope| async move {
        let state: Value = request.payload().unwrap();
        assert_eq!(state["user_message"], "hi");
        EnvelopeBody::Complete(json!({"summary": "heard", "reply_to_user": "ho"}))
    });
    let mut graph = StateGraph::<Assistant>::new();
    graph
        .add_node("judge", RemoteNode::new("judge", network))
        .add_sequence(&["judge"]);
    let input = update().user_message("hi").weather("fine");
    let state = graph.compile().unwrap().invoke(input).await.unwrap();
    assert_eq!((&*state.summary, &*state.weather), ("heard", "fine"));
    assert_eq!(state.reply_to_user.as_deref(), Some("ho"));
}

#[tokio::test]
async fn h8_without_a_request_nobody_is_asked_and_the_graph_goes_on() {
    let tap = Tap::new(local("mail", mail_agent()));
    let graph = assistant().compile().unwrap();
    let run = graph.run(update().user_message("good morning"));
    let state = run
        .resource(shared(tap.clone()))
        .await
        .unwrap()
        .into_state();
    assert_eq!(tap.seen(), []);
    assert_eq!(state.mail_result, None);
    assert_eq!(
        state.reply_to_user.as_deref(),
        Some("you said `good morning`")
    );
    // There need not even be a transport.
    let state = graph.invoke(update().user_message("hi")).await.unwrap();
    assert_eq!(state.reply_to_user.as_deref(), Some("you said `hi`"));
}

#[tokio::test]
async fn h5_the_caller_is_who_it_says_it_is() {
    let tap = Tap::new(local("mail", mail_agent()));
    let ask = |node: RemoteNode| {
        let mut graph = StateGraph::<Assistant>::new();
        let extract = |_: &Assistant| Some(MailRequest::List);
        graph
            .add_node("ask", node.bind(extract, mail_result))
            .add_sequence(&["ask"]);
        graph.compile().unwrap()
    };
    let named = ask(RemoteNode::new("mail", tap.clone()).calling_as("assistant"));
    named.invoke(update()).await.unwrap();
    let unnamed = ask(RemoteNode::new("mail", tap.clone()));
    let desk = Arc::new(AgentId::new("desk"));
    unnamed.run(update()).resource(desk).await.unwrap();
    let from: Vec<_> = tap.seen().into_iter().map(|e| e.from).collect();
    assert_eq!(from, ["assistant", "mail", "desk", "mail"]);
}

// Failing.

#[tokio::test]
async fn h9_without_a_transport_the_error_names_node_and_agent() {
    let graph = assistant().compile().unwrap();
    let error = graph.invoke(update().user_message("inbox")).await;
    let error = error.unwrap_err();
    assert!(matches!(remote_error(&error), RemoteError::NoTransport));
    assert!(
        error
            .to_string()
            .starts_with("remote node `mail_agent` (agent `mail`): there is no transport; write `RemoteNode::new("),
        "{error}"
    );
}

#[tokio::test]
async fn h9_every_failure_names_node_and_agent() {
    let network = LocalNetwork::new();
    network
        .register("rude", |_: AgentEnvelope| async {
            EnvelopeBody::error(ErrorCode::Overloaded, "not now")
        })
        .register("confused", |_: AgentEnvelope| async {
            EnvelopeBody::Complete(json!({"not": "text"}))
        })
        .register("broken", |_: AgentEnvelope| async { panic!("oh no") });
    for (agent, expected) in [
        (
            "nobody",
            "there is no agent `nobody`; there are `broken`, `confused`, `rude`",
        ),
        (
            "rude",
            "the agent answered with an error (overloaded): not now",
        ),
        (
            "confused",
            "the message has another shape than expected: invalid type: map, expected a string",
        ),
        ("broken", "panicked: oh no"),
    ] {
        let graph = asking(RemoteNode::new(agent, network.clone()));
        let error = graph.invoke(update()).await.unwrap_err();
        let AgentError::Remote { .. } = &error else {
            panic!("expected a remote error, found {error:?}");
        };
        assert_eq!(
            error.to_string(),
            format!("remote node `ask` (agent `{agent}`): {expected}")
        );
    }
}

#[tokio::test]
async fn h9_a_failure_inside_a_subgraph_has_the_path_to_it() {
    let mut outer = StateGraph::<Assistant>::new();
    outer
        .add_node("inner", asking(RemoteNode::by_resource("judge")))
        .add_sequence(&["inner"]);
    let error = outer.compile().unwrap().invoke(update()).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("remote node `inner/ask` (agent `judge`)"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn h9_a_reply_that_never_comes_is_given_up_in_time() {
    let (agent, dropped) = silent();
    let limit = Duration::from_secs(30);
    let graph = asking(RemoteNode::new("judge", local("judge", agent)).timeout(limit));
    let before = tokio::time::Instant::now();
    let error = graph.invoke(update()).await.unwrap_err();
    assert!(matches!(remote_error(&error), RemoteError::TimedOut(found) if *found == limit));
    assert_eq!(before.elapsed(), limit);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn h9_the_time_is_for_the_whole_reply() {
    // Each part comes soon, the last one never.
    let dribble = |request: &AgentEnvelope| {
        ReplyStream::produce(request, |replies| async move {
            let stream = replies.start(Value::Null).await;
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                replies.chunk(&stream, "…").await?;
            }
        })
    };
    struct Dribbling<F>(F);
    impl<F: Fn(&AgentEnvelope) -> ReplyStream + Send + Sync + 'static> Transport for Dribbling<F> {
        fn request(
            &self,
            request: AgentEnvelope,
        ) -> BoxFuture<'_, Result<ReplyStream, RemoteError>> {
            Box::pin(async move { Ok((self.0)(&request)) })
        }
    }
    let limit = Duration::from_millis(4_500);
    let graph = asking(RemoteNode::new("judge", Dribbling(dribble)).timeout(limit));
    let before = tokio::time::Instant::now();
    let error = graph.invoke(update()).await.unwrap_err();
    assert!(matches!(remote_error(&error), RemoteError::TimedOut(_)));
    assert_eq!(before.elapsed(), limit);
}

#[tokio::test]
async fn h9_a_failed_call_is_tried_again() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let network = local("judge", move |_: AgentEnvelope| {
        let attempt = count.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            match attempt {
                3 => EnvelopeBody::Complete(json!("third time")),
                _ => EnvelopeBody::error(ErrorCode::Overloaded, "not now"),
            }
        }
    });
    let tap = Tap::new(network);
    let policy = langgraph::node::RetryPolicy::attempts(3)
        .immediately()
        .retry_on(|error| error.is::<RemoteError>());
    let mut graph = StateGraph::<Assistant>::new();
    let node = RemoteNode::new("judge", tap.clone()).bind(question, answer);
    graph
        .add_node("ask", node.retry(policy))
        .add_sequence(&["ask"]);
    let state = graph.compile().unwrap().invoke(update()).await.unwrap();
    assert_eq!(state.summary, "third time");
    // Each attempt is a request of its own.
    let ids: std::collections::HashSet<_> = tap.seen().into_iter().map(|e| e.request_id).collect();
    assert_eq!(ids.len(), 3);
}

#[tokio::test]
async fn h9_the_reply_to_another_request_is_refused() {
    struct Mixed;
    impl Transport for Mixed {
        fn request(
            &self,
            request: AgentEnvelope,
        ) -> BoxFuture<'_, Result<ReplyStream, RemoteError>> {
            let reply = request
                .reply(EnvelopeBody::Complete(json!("yours?")))
                .with_request_id("another");
            Box::pin(async move { Ok(ReplyStream::once(reply)) })
        }
    }
    let error = asking(RemoteNode::new("judge", Mixed))
        .invoke(update())
        .await
        .unwrap_err();
    assert!(matches!(
        remote_error(&error),
        RemoteError::Misdelivered { .. }
    ));
    assert!(
        error.to_string().contains("to request `another`"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_drops_the_agent() {
    let (agent, dropped) = silent();
    let graph = asking(RemoteNode::new("judge", local("judge", agent)));
    let run = tokio::time::timeout(Duration::from_secs(1), graph.invoke(update()));
    assert!(run.await.is_err());
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

// Streamed replies.

/// Answers word by word, each word once it may.
fn word_by_word(permission: Arc<Notify>) -> impl AgentHandler {
    struct Words(Arc<Notify>);
    impl AgentHandler for Words {
        fn handle(&self, request: AgentEnvelope) -> ReplyStream {
            let permission = Arc::clone(&self.0);
            ReplyStream::produce(&request, |replies| async move {
                let stream = replies.start(StreamContent::Text.metadata()).await;
                for word in ["a ", "long ", "story"] {
                    permission.notified().await;
                    replies.chunk(&stream, word).await?;
                }
                replies.end(stream).await;
                Ok(())
            })
        }
    }
    Words(permission)
}

#[tokio::test(start_paused = true)]
async fn h10_chunks_appear_as_they_come_and_the_state_gets_the_whole() {
    let permission = Arc::new(Notify::new());
    let network = local("judge", word_by_word(Arc::clone(&permission)));
    let graph = asking(RemoteNode::new("judge", network));
    let mut events = graph.run(update()).stream(Mode::Messages);
    let mut ids = Vec::new();
    for word in ["a ", "long ", "story"] {
        // Nothing is there before the agent has said it.
        let early = tokio::time::timeout(Duration::from_secs(1), events.next()).await;
        assert!(early.is_err(), "{early:?}");
        permission.notify_one();
        let event = events.next().await.unwrap().unwrap();
        let EventKind::MessageChunk { node, chunk } = event.kind else {
            panic!("expected a chunk, found {event:?}");
        };
        assert_eq!((&*node, &*chunk.text), ("ask", word));
        ids.push(chunk.id);
    }
    assert!(ids[0].is_some() && ids.iter().all(|id| *id == ids[0]));
    let state = events.finish().await.unwrap().into_state();
    assert_eq!(state.summary, "a long story");
}

#[tokio::test]
async fn h10_without_a_watcher_the_whole_reply_is_in_the_state() {
    let permission = Arc::new(Notify::new());
    let network = local("judge", word_by_word(Arc::clone(&permission)));
    let graph = asking(RemoteNode::new("judge", network));
    let run = tokio::spawn(async move { graph.invoke(update()).await });
    while !run.is_finished() {
        permission.notify_one();
        tokio::task::yield_now().await;
    }
    assert_eq!(run.await.unwrap().unwrap().summary, "a long story");
}

#[tokio::test]
async fn h10_a_served_graph_streams_what_its_models_write_and_answers_with_its_state() {
    let mut poet = StateGraph::<String>::new();
    poet.add_node("write", async |_: &String, cx: &Context| {
        for line in ["roses ", "are ", "red"] {
            cx.emit_chunk(MessageChunk::text(line).with_id("poem"))
                .await;
        }
        "(a poem in three chunks)".to_owned()
    })
    .add_sequence(&["write"]);
    let poet = serve(
        poet.compile().unwrap(),
        |topic: String| topic,
        |state| state,
    );

    let network = LocalNetwork::new();
    network.register("quiet", poet.clone());
    network.register("streamed", poet.streamed());
    for (agent, expected) in [("quiet", ""), ("streamed", "roses are red")] {
        let graph = asking(RemoteNode::new(agent, network.clone()));
        let mut events = graph.run(update()).stream(Mode::Messages | Mode::Updates);
        let mut text = String::new();
        while let Some(event) = events.next().await {
            if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
                assert_eq!(chunk.id.as_deref(), Some("poem"));
                text.push_str(&chunk.text);
            }
        }
        assert_eq!(text, expected);
        let state = events.finish().await.unwrap().into_state();
        assert_eq!(state.summary, "(a poem in three chunks)");
    }
}

#[tokio::test]
async fn h10_chunks_that_are_no_text_are_custom_events() {
    struct Counting;
    impl AgentHandler for Counting {
        fn handle(&self, request: AgentEnvelope) -> ReplyStream {
            ReplyStream::produce(&request, |replies| async move {
                let stream = replies.start(StreamContent::Values.metadata()).await;
                for done in [1, 2, 3] {
                    replies.chunk(&stream, &json!({"done": done})).await?;
                }
                replies.end(stream).await;
                Ok(())
            })
        }
    }
    let mut graph = StateGraph::<Assistant>::new();
    let node = RemoteNode::new("judge", local("judge", Counting));
    let count = |steps: Vec<Value>| update().summary(steps.len().to_string());
    graph
        .add_node("ask", node.bind(question, count))
        .add_sequence(&["ask"]);
    let graph = graph.compile().unwrap();
    let mut events = graph.run(update()).stream(Mode::Custom);
    let mut seen = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom { value, .. } = event.unwrap().kind {
            seen.push(value);
        }
    }
    assert_eq!(
        seen,
        [json!({"done": 1}), json!({"done": 2}), json!({"done": 3})]
    );
    assert_eq!(events.finish().await.unwrap().into_state().summary, "3");
}

#[tokio::test]
async fn h10_a_stream_that_breaks_off_is_an_error() {
    struct Breaking(fn(&str) -> Vec<EnvelopeBody>);
    impl AgentHandler for Breaking {
        fn handle(&self, request: AgentEnvelope) -> ReplyStream {
            let parts = (self.0)("s");
            ReplyStream::produce(&request, |replies| async move {
                for part in parts {
                    replies.send(part).await;
                }
                Ok(())
            })
        }
    }
    let start = |id: &str| EnvelopeBody::StreamStart {
        stream_id: id.into(),
        metadata: Value::Null,
    };
    let chunk = |id: &str| EnvelopeBody::StreamChunk {
        stream_id: id.into(),
        chunk: json!("x"),
    };
    let _ = (start, chunk);
    let cases: [(fn(&str) -> Vec<EnvelopeBody>, &str); 3] = [
        (
            |id| {
                vec![EnvelopeBody::StreamStart {
                    stream_id: id.into(),
                    metadata: Value::Null,
                }]
            },
            "expected the end of stream `s`, found nothing more",
        ),
        (
            |id| {
                vec![EnvelopeBody::StreamChunk {
                    stream_id: id.into(),
                    chunk: json!("x"),
                }]
            },
            "stream `s`: expected its start, found a `stream_chunk`",
        ),
        (|_| vec![], "the reply ended before it was whole"),
    ];
    for (parts, expected) in cases {
        let graph = asking(RemoteNode::new("judge", local("judge", Breaking(parts))));
        let error = graph.invoke(update()).await.unwrap_err();
        remote_error(&error);
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}

// A graph as an agent.

#[tokio::test]
async fn h11_the_user_talks_to_the_boundary_only() {
    let mut graph = assistant();
    graph.resource(shared(local("mail", mail_agent())));
    let boundary = InvokeBoundary::new(
        graph.compile().unwrap(),
        |text: &'static str| update().user_message(text),
        |state: &Assistant| state.reply_to_user.clone(),
    );
    for (said, answered) in [
        ("mail Ann lunch", "sent to Ann"),
        ("inbox", "2 mails"),
        ("thanks", "you said `thanks`"),
    ] {
        assert_eq!(
            boundary.invoke(said).await.unwrap().as_deref(),
            Some(answered)
        );
    }
    let error = boundary.invoke_with("inbox", |run| run.limit(1)).await;
    assert!(matches!(error, Err(AgentError::StepLimit { limit: 1, .. })));
}

#[tokio::test]
async fn h12_the_assistant_and_the_mail_agent_are_two_graphs() {
    let tap = Tap::new(local("mail", mail_agent()));
    let graph = assistant().compile().unwrap();
    let mut requests = Vec::new();
    for (said, answered) in [("mail Ann lunch", "sent to Ann"), ("inbox", "2 mails")] {
        let run = graph.run(update().user_message(said));
        let state = run
            .resource(shared(tap.clone()))
            .resource(Arc::new(AgentId::new("assistant")))
            .await
            .unwrap()
            .into_state();
        assert_eq!(state.reply_to_user.as_deref(), Some(answered));
        let mut seen = tap.seen().split_off(requests.len() * 2);
        let (reply, request) = (seen.pop().unwrap(), seen.pop().unwrap());
        assert!(seen.is_empty());
        assert_eq!(
            (&*request.from.to_string(), &*request.to.to_string()),
            ("assistant", "mail")
        );
        assert_eq!((reply.from, reply.to), (request.to, request.from));
        assert!(request.request_id.is_some());
        assert_eq!(reply.request_id, request.request_id);
        requests.push(request.request_id);
    }
    assert_ne!(requests[0], requests[1]);
}

#[tokio::test(start_paused = true)]
async fn a_served_graph_answers_failures_with_errors() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let mut graph = StateGraph::<String>::new();
    graph
        .add_node("work", move |topic: String, cx: &Context| {
            let guard = Guard(Arc::clone(&count));
            let asked = match topic.as_str() {
                "ask" => Some(cx.interrupt::<String>("name", "who are you?")),
                _ => None,
            };
            async move {
                let _guard = guard;
                match topic.as_str() {
                    "fail" => Err(NodeError::msg("no paper left")),
                    "wait" => pending().await,
                    _ => match asked {
                        Some(asked) => Ok(asked?),
                        None => Ok(topic),
                    },
                }
            }
        })
        .add_sequence(&["work"]);
    let network = local(
        "worker",
        serve(graph.compile().unwrap(), |topic: String| topic, |s| s),
    );
    let ask = async |payload: Value| {
        let request = AgentEnvelope::request("me", "worker", &payload).unwrap();
        let request = request.with_timeout(Duration::from_secs(5));
        network.request(request).await.unwrap().whole().await
    };
    assert_eq!(ask(json!("fine")).await.unwrap(), "fine");
    for (payload, code, message) in [
        (
            json!("fail"),
            ErrorCode::Failed,
            "node `work` failed: no paper left",
        ),
        (
            json!("ask"),
            ErrorCode::Interrupted,
            "the run waits for an answer to `name` of node `work`",
        ),
        (
            json!(7),
            ErrorCode::BadRequest,
            "invalid type: integer `7`, expected a string",
        ),
    ] {
        match ask(payload).await {
            Err(RemoteError::Refused {
                code: found,
                message: text,
            }) => {
                assert_eq!(found, code);
                assert!(text.contains(message), "{text}");
            }
            other => panic!("expected an error body, found {other:?}"),
        }
    }
    let before = dropped.load(Ordering::SeqCst);
    assert!(matches!(
        ask(json!("wait")).await,
        Err(RemoteError::TimedOut(_))
    ));
    assert_eq!(dropped.load(Ordering::SeqCst), before + 1);
}

// Beside other nodes, and on a thread.

/// START → mail, weather (remote), note (local) → summarise.
fn fan_out(network: impl Transport) -> StateGraph<Assistant> {
    let network: Arc<dyn Transport> = Arc::new(network);
    let mail = RemoteNode::new("mail", Arc::clone(&network));
    let weather = RemoteNode::new("weather", network);
    let mut graph = StateGraph::new();
    graph
        .add_node("mail", mail.bind(mail_request, mail_result))
        .add_node(
            "weather",
            weather.bind(question, |sky: String| update().weather(sky)),
        )
        .add_node("note", |state: &Assistant| {
            update().summary(state.user_message.to_uppercase())
        })
        .add_node("summarise", summarise)
        .add_edge(START, "mail")
        .add_edge(START, "weather")
        .add_edge(START, "note")
        .add_edge(["mail", "weather", "note"], "summarise");
    graph
}

fn weather(delay: Duration) -> impl AgentHandler {
    move |_: AgentEnvelope| async move {
        tokio::time::sleep(delay).await;
        EnvelopeBody::Complete(json!("rain"))
    }
}

#[tokio::test(start_paused = true)]
async fn h13_remote_nodes_run_side_by_side() {
    let network = local("mail", mail_agent());
    network.register("weather", weather(Duration::from_secs(1)));
    network.register("mail", move |request: AgentEnvelope| async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let request: MailRequest = request.payload().unwrap();
        assert_eq!(request, MailRequest::List);
        EnvelopeBody::Complete(json!({"Inbox": ["lunch"]}))
    });
    let graph = fan_out(network).compile().unwrap();
    let input = update()
        .user_message("hi")
        .mail_request(Some(MailRequest::List));
    let before = tokio::time::Instant::now();
    let state = graph.invoke(input).await.unwrap();
    assert_eq!(before.elapsed(), Duration::from_secs(1));
    assert_eq!((&*state.weather, &*state.summary), ("rain", "HI"));
    assert_eq!(state.reply_to_user.as_deref(), Some("1 mails"));
}

#[tokio::test]
async fn h13_a_resumed_run_does_not_ask_again() {
    let network = local("mail", mail_agent());
    network.register("weather", weather(Duration::ZERO));
    let tap = Tap::new(network);
    let mut graph = fan_out(tap.clone());
    graph
        .add_node("approve", |_: &Assistant, cx: &Context| {
            let name: String = cx.interrupt("approve", "send it?")?;
            Ok::<_, NodeError>(update().user_message(name))
        })
        .add_edge(START, "approve");
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let input = update().mail_request(Some(MailRequest::List));
    let outcome = graph.run(input).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    assert_eq!(tap.seen().len(), 4);

    let outcome = graph.resume("t", "approve", "Ann").await.unwrap();
    assert!(outcome.is_done());
    let state = outcome.into_state();
    assert_eq!(state.user_message, "Ann");
    assert_eq!(
        (&*state.weather, state.reply_to_user.as_deref()),
        ("rain", Some("2 mails"))
    );
    assert_eq!(tap.seen().len(), 4, "answered requests were sent again");
}

#[tokio::test]
async fn h13_after_a_failure_answered_requests_are_not_sent_again() {
    let network = local("mail", mail_agent());
    let tap = Tap::new(network.clone());
    let graph = fan_out(tap.clone())
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let input = update().mail_request(Some(MailRequest::List));
    let error = graph.run(input).thread("t").await.unwrap_err();
    assert!(matches!(
        remote_error(&error),
        RemoteError::UnknownAgent { .. }
    ));
    network.register("weather", weather(Duration::ZERO));
    let outcome = graph.run(()).thread("t").await.unwrap();
    assert_eq!(
        outcome.into_state().reply_to_user.as_deref(),
        Some("2 mails")
    );
    let mail = tap.seen().into_iter().filter(|e| e.to == "mail").count();
    assert_eq!(mail, 1);
}

// Through a relay: JSON frames, one connection, many requests at once.

/// One end of a connection to a relay.
#[derive(Clone)]
struct Wire {
    me: AgentId,
    out: mpsc::UnboundedSender<String>,
    table: Correlator,
}

impl Wire {
    fn new(me: &str) -> (Self, mpsc::UnboundedReceiver<String>) {
        let (out, sent) = mpsc::unbounded_channel();
        let table = Correlator::new();
        let cancels = out.clone();
        table.on_abandoned(move |cancel| {
            let _ = cancels.send(Frame::send(cancel).to_json().unwrap());
        });
        let me = me.into();
        (Self { me, out, table }, sent)
    }

    fn arrive(&self, text: &str) -> Result<(), CorrelationError> {
        let frame = Frame::from_json(text).unwrap();
        self.table.deliver(frame.into_envelope(&self.me).unwrap())
    }
}

impl Transport for Wire {
    fn request(&self, request: AgentEnvelope) -> BoxFuture<'_, Result<ReplyStream, RemoteError>> {
        Box::pin(async move {
            let reply = self
                .table
                .expect(&request)
                .map_err(RemoteError::connection)?;
            let text = Frame::send(request)
                .to_json()
                .map_err(RemoteError::connection)?;
            self.out.send(text).map_err(RemoteError::connection)?;
            Ok(reply)
        })
    }
}

/// What the relay hands to the receiver of a frame of `from`.
fn relay(text: &str, from: &AgentId) -> AgentEnvelope {
    let (to, frame) = Frame::from_json(text).unwrap().relayed(from).unwrap();
    let text = frame.to_json().unwrap();
    let frame = Frame::from_json(&text).unwrap();
    frame.into_envelope(&to).unwrap()
}

/// The text in which a reply of `envelope.from` reaches whoever asked.
fn back(envelope: AgentEnvelope) -> String {
    let from = envelope.from.clone();
    let text = Frame::reply(envelope).to_json().unwrap();
    let (_, frame) = Frame::from_json(&text).unwrap().relayed(&from).unwrap();
    frame.to_json().unwrap()
}

#[tokio::test]
async fn h4_replies_in_reverse_order_reach_whoever_asked() {
    let (wire, mut sent) = Wire::new("assistant");
    let graph = asking(RemoteNode::new("mail", wire.clone()).calling_as("assistant"));
    let runs = (0..20).map(|number| {
        let run = graph.run(update().user_message(number.to_string()));
        async move { (number, run.await.unwrap().into_state()) }
    });
    let answers = async {
        let mut requests = Vec::new();
        for _ in 0..20 {
            requests.push(relay(&sent.recv().await.unwrap(), &wire.me));
        }
        assert_eq!(wire.table.open(), 20);
        for request in requests.into_iter().rev() {
            assert_eq!(
                (request.from.as_str(), request.to.as_str()),
                ("assistant", "mail")
            );
            let text: String = request.payload().unwrap();
            let body = EnvelopeBody::Complete(format!("re: {text}").into());
            wire.arrive(&back(request.reply(body))).unwrap();
        }
    };
    let (states, ()) = tokio::join!(join_all(runs), answers);
    for (number, state) in states {
        assert_eq!(state.summary, format!("re: {number}"));
    }
    assert_eq!(wire.table.open(), 0);
}

#[tokio::test]
async fn h4_what_is_no_reply_to_an_open_request_is_refused() {
    let table = Correlator::new();
    let request = AgentEnvelope::request("me", "mail", "list").unwrap();
    let id = request.request_id.clone().unwrap();
    let reply = table.expect(&request).unwrap();
    let body = || EnvelopeBody::Complete(json!("nothing"));

    let nameless = AgentEnvelope::new("mail", "me", body());
    assert_eq!(
        table.deliver(nameless),
        Err(CorrelationError::NoRequestId("mail".into()))
    );
    let unknown = request.reply(body()).with_request_id("r-0");
    assert_eq!(
        table.deliver(unknown),
        Err(CorrelationError::Unknown("r-0".into()))
    );
    let mut foreign = request.reply(body());
    foreign.from = "mallory".into();
    assert!(matches!(
        table.deliver(foreign),
        Err(CorrelationError::WrongAgent { .. })
    ));
    assert!(matches!(
        table.expect(&request),
        Err(CorrelationError::InUse(_))
    ));
    // None of these has done any harm.
    table.deliver(request.reply(body())).unwrap();
    assert_eq!(
        table.deliver(request.reply(body())),
        Err(CorrelationError::Late(id))
    );
    assert_eq!(reply.whole().await.unwrap(), "nothing");
}

#[tokio::test(start_paused = true)]
async fn h4_an_answer_after_the_timeout_is_refused_and_the_agent_is_told() {
    let (wire, mut sent) = Wire::new("assistant");
    let node = RemoteNode::new("mail", wire.clone()).timeout(Duration::from_secs(3));
    let error = asking(node).invoke(update()).await.unwrap_err();
    assert!(matches!(remote_error(&error), RemoteError::TimedOut(_)));
    assert_eq!(wire.table.open(), 0);

    let request = relay(&sent.recv().await.unwrap(), &wire.me);
    assert_eq!(request.timeout, Some(Duration::from_secs(3)));
    let cancel = relay(&sent.recv().await.unwrap(), &wire.me);
    assert_eq!(cancel.body, EnvelopeBody::Cancel);
    assert_eq!(cancel.request_id, request.request_id);

    let late = request.reply(EnvelopeBody::Complete(json!("at last")));
    assert_eq!(
        wire.arrive(&back(late)),
        Err(CorrelationError::Late(request.request_id.unwrap()))
    );
}

#[tokio::test]
async fn h4_a_requester_that_goes_away_is_forgotten() {
    let table = Correlator::new();
    let told: Arc<Mutex<Vec<RequestId>>> = Arc::default();
    let note = Arc::clone(&told);
    table.on_abandoned(move |cancel| note.lock().unwrap().extend(cancel.request_id));
    let request = AgentEnvelope::request("me", "mail", "list").unwrap();

    // Dropped before any answer, and between two parts of it.
    drop(table.expect(&request).unwrap());
    assert_eq!(table.open(), 0);
    let second = AgentEnvelope::request("me", "mail", "list").unwrap();
    let mut reply = table.expect(&second).unwrap();
    let start = EnvelopeBody::StreamStart {
        stream_id: "s".into(),
        metadata: Value::Null,
    };
    table.deliver(second.reply(start)).unwrap();
    reply.next().await.unwrap().unwrap();
    drop(reply);
    let chunk = EnvelopeBody::StreamChunk {
        stream_id: "s".into(),
        chunk: json!(1),
    };
    assert!(matches!(
        table.deliver(second.reply(chunk)),
        Err(CorrelationError::Late(_))
    ));
    // A whole reply is not taken back.
    let third = AgentEnvelope::request("me", "mail", "list").unwrap();
    let reply = table.expect(&third).unwrap();
    let body = EnvelopeBody::Complete(json!(1));
    table.deliver(third.reply(body)).unwrap();
    drop(reply);
    let told = told.lock().unwrap().clone();
    assert_eq!(
        told,
        [request.request_id.unwrap(), second.request_id.unwrap()]
    );
}

#[tokio::test]
async fn h4_a_slow_reader_fails_alone_and_a_lost_connection_fails_all() {
    let table = Correlator::with_buffer(2);
    let ask = || {
        let request = AgentEnvelope::request("me", "mail", "list").unwrap();
        (table.expect(&request).unwrap(), request)
    };
    let (slow, request) = ask();
    let (other, _) = ask();
    let part = |body| table.deliver(request.reply(body));
    let chunk = || EnvelopeBody::StreamChunk {
        stream_id: "s".into(),
        chunk: json!(1),
    };
    part(EnvelopeBody::StreamStart {
        stream_id: "s".into(),
        metadata: Value::Null,
    })
    .unwrap();
    part(chunk()).unwrap();
    assert!(matches!(
        part(chunk()),
        Err(CorrelationError::Overrun(_, 2))
    ));
    assert!(matches!(part(chunk()), Err(CorrelationError::Late(_))));
    assert!(matches!(slow.whole().await, Err(RemoteError::Overrun(2))));
    assert_eq!(table.open(), 1);

    table.disconnected("the cable is out");
    let error = other.whole().await.unwrap_err();
    assert_eq!(error.to_string(), "connection: the cable is out");
    assert_eq!(table.open(), 0);
}

/// Runs the agents of `network` at the other end of `sent`: every request in a task of its own,
/// every envelope late by a random time, and cancelled requests stopped.
async fn turbulence(
    network: LocalNetwork,
    wire: Wire,
    mut sent: mpsc::UnboundedReceiver<String>,
    seed: u64,
) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut running = HashMap::new();
    while let Some(text) = sent.recv().await {
        let request = relay(&text, &wire.me);
        let id = request.request_id.clone().unwrap();
        if request.body == EnvelopeBody::Cancel {
            let task: tokio::task::JoinHandle<()> = running.remove(&id).unwrap();
            task.abort();
            continue;
        }
        let (network, wire) = (network.clone(), wire.clone());
        let mut random = random.fork();
        let task = tokio::spawn(async move {
            let mut reply = network.request(request).await.unwrap();
            while let Some(part) = reply.next().await {
                tokio::time::sleep(Duration::from_micros(random.u64(..2_000))).await;
                if wire.arrive(&back(part.unwrap())).is_err() {
                    return;
                }
            }
        });
        running.insert(id, task);
    }
}

/// Says every word of the request, on two streams at once.
struct Stutter;

impl AgentHandler for Stutter {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let words: String = request.payload().unwrap();
        ReplyStream::produce(&request, |replies| async move {
            let low = replies.start(StreamContent::Text.metadata()).await;
            let high = replies.start(StreamContent::Text.metadata()).await;
            for word in words.split_inclusive(' ') {
                replies.chunk(&low, word).await?;
                replies.chunk(&high, &word.to_uppercase()).await?;
            }
            replies.end(high).await;
            replies.end(low).await;
            Ok(())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn h3_h4_many_interleaved_streams_on_one_connection_all_arrive() {
    for seed in 0..5 {
        let (wire, sent) = Wire::new("assistant");
        let network = local("stutter", Stutter);
        let table = wire.table.clone();
        let other_end = tokio::spawn(turbulence(network, wire.clone(), sent, seed));
        let mut graph = StateGraph::<Assistant>::new();
        let node = RemoteNode::new("stutter", wire).timeout(Duration::from_secs(60));
        let both = |said: [String; 2]| {
            let [high, low] = said;
            update().summary(low).weather(high)
        };
        graph
            .add_node("ask", node.bind(question, both))
            .add_sequence(&["ask"]);
        let graph = graph.compile().unwrap();
        let runs = (0..50).map(|number| {
            let text = format!("number {number} says hello");
            let mut events = graph
                .run(update().user_message(text.clone()))
                .stream(Mode::Messages);
            async move {
                // Each stream of the reply, as its watcher sees it.
                let mut seen: HashMap<String, String> = HashMap::new();
                while let Some(event) = events.next().await {
                    if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
                        *seen.entry(chunk.id.unwrap()).or_default() += &chunk.text;
                    }
                }
                let mut seen: Vec<_> = seen.into_values().collect();
                seen.sort();
                let state = events.finish().await.unwrap().into_state();
                assert_eq!(state.summary, text);
                assert_eq!(state.weather, text.to_uppercase());
                assert_eq!(seen, [text.to_uppercase(), text]);
            }
        });
        join_all(runs).await;
        assert_eq!(table.open(), 0);
        other_end.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_stops_the_agent_at_the_other_end() {
    let (agent, dropped) = silent();
    let (wire, sent) = Wire::new("assistant");
    tokio::spawn(turbulence(local("mail", agent), wire.clone(), sent, 0));
    let node = RemoteNode::new("mail", wire.clone());
    let graph = asking(node);
    let run = tokio::time::timeout(Duration::from_secs(1), graph.invoke(update()));
    assert!(run.await.is_err());
    settle(|| dropped.load(Ordering::SeqCst) == 1).await;
    assert_eq!(wire.table.open(), 0);
}

/// Waits until what other tasks do has come to pass.
async fn settle(done: impl Fn() -> bool) {
    let waited: Box<dyn Future<Output = ()> + Unpin> = Box::new(Box::pin(async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }));
    tokio::time::timeout(Duration::from_secs(10), waited)
        .await
        .expect("it never came to pass");
}
