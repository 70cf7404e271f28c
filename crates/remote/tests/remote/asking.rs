//! What a remote node is, and what it asks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::graph::NodeKind;
use langgraph::prelude::*;
use langgraph_remote::{
    AgentEnvelope, AgentId, EnvelopeBody, LocalNetwork, RemoteError, RemoteNode, ReplyStream,
    StreamId, Transport, async_trait,
};
use serde_json::{Value, json};

use crate::mail::*;

#[test]
fn the_four_bodies_are_built_and_matched() {
    let stream_id = StreamId::new("s");
    let start = EnvelopeBody::StreamStart {
        stream_id: stream_id.clone(),
        metadata: json!({"content": "text"}),
    };
    let chunk = EnvelopeBody::StreamChunk {
        stream_id: stream_id.clone(),
        chunk: json!("hi"),
    };
    let bodies = [
        EnvelopeBody::Complete(json!({"action": "list"})),
        start,
        chunk,
        EnvelopeBody::StreamEnd { stream_id },
    ];
    let shown = bodies.map(|body| {
        let envelope = AgentEnvelope::new("assistant", "mail", body).with_request_id("r");
        assert_eq!(
            (envelope.from, envelope.to),
            ("assistant".into(), "mail".into())
        );
        assert_eq!(envelope.request_id.unwrap(), "r");
        match envelope.body {
            EnvelopeBody::Complete(payload) => format!("complete {payload}"),
            EnvelopeBody::StreamStart {
                stream_id,
                metadata,
            } => format!("start {stream_id} {metadata}"),
            EnvelopeBody::StreamChunk { stream_id, chunk } => format!("chunk {stream_id} {chunk}"),
            EnvelopeBody::StreamEnd { stream_id } => format!("end {stream_id}"),
            other => panic!("expected one of the four, found {other:?}"),
        }
    });
    assert_eq!(
        shown,
        [
            r#"complete {"action":"list"}"#,
            r#"start s {"content":"text"}"#,
            r#"chunk s "hi""#,
            "end s"
        ]
    );
}

#[test]
fn the_graph_lists_a_remote_node_with_its_agent() {
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

struct Elsewhere(Arc<Mutex<Vec<Value>>>);

#[async_trait]
impl Transport for Elsewhere {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        self.0.lock().unwrap().push(request.payload().unwrap());
        let body = EnvelopeBody::Complete(json!({"Sent": "Ann"}));
        Ok(ReplyStream::once(request.reply(body)))
    }
}

#[tokio::test]
async fn a_remote_node_runs_through_its_transport() {
    // The agent is in the process too, on the network of the graph: a run with a transport of its
    // own asks there, and no other.
    let local_runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&local_runs);
    let network = local("mail", move |_: AgentEnvelope| {
        count.fetch_add(1, Ordering::SeqCst);
        async { EnvelopeBody::Complete(json!({"Sent": "no address"})) }
    });
    let mut graph = assistant();
    graph.resource(shared(network));
    let graph = graph.compile().unwrap();

    let asked = Arc::default();
    let state = graph
        .run(says("mail Ann see you"))
        .resource(shared(Elsewhere(Arc::clone(&asked))))
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(local_runs.load(Ordering::SeqCst), 0);
    assert_eq!(
        *asked.lock().unwrap(),
        [json!({"action": "send", "to": "Ann", "subject": "see you"})]
    );
    assert_eq!(state.mail_result, Some(MailResult::Sent("Ann".to_owned())));
    assert_eq!(state.reply_to_user.as_deref(), Some("sent to Ann"));

    // The one that is counted is one that can be asked: without the other transport it is.
    let state = graph.invoke(says("mail Ann see you")).await.unwrap();
    assert_eq!(local_runs.load(Ordering::SeqCst), 1);
    assert_eq!(state.reply_to_user.as_deref(), Some("sent to no address"));
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_remote_node_is_a_value_of_graph() {
    let network = local("mail", mail_agent());
    let graph = graph! {
        type State = Assistant;

        let mail_agent = RemoteNode::new("mail", network)
            .timeout(Duration::from_secs(5))
            .bind(mail_request, mail_result)
            .retry(2);

        START => parse => mail_agent => summarise => END;
    };
    let graph = graph.compile().unwrap();
    assert_eq!(
        graph.topology().node("mail_agent").unwrap().kind,
        NodeKind::Remote {
            agent: "mail".to_owned()
        }
    );
    let state = graph.invoke(says("inbox")).await.unwrap();
    assert_eq!(state.reply_to_user.as_deref(), Some("2 mails"));
}

#[tokio::test]
async fn without_a_binding_the_agent_is_sent_the_state_and_answers_with_an_update() {
    let network = local("judge", |request: AgentEnvelope| async move {
        let state: Value = request.payload().unwrap();
        assert_eq!(state["user_message"], "hi");
        EnvelopeBody::Complete(json!({"summary": "heard", "reply_to_user": "ho"}))
    });
    let mut graph = StateGraph::<Assistant>::new();
    graph
        .add_node("judge", RemoteNode::new("judge", network))
        .add_sequence(&["judge"]);
    let input = says("hi").weather("fine".to_owned());
    let state = graph.compile().unwrap().invoke(input).await.unwrap();
    assert_eq!((&*state.summary, &*state.weather), ("heard", "fine"));
    assert_eq!(state.reply_to_user.as_deref(), Some("ho"));
}

#[tokio::test]
async fn without_a_request_no_agent_is_called_and_the_graph_goes_on() {
    let tap = Tap::new(local("mail", mail_agent()));
    let graph = assistant().compile().unwrap();
    let run = graph.run(says("good morning"));
    let state = run
        .resource(shared(tap.clone()))
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(tap.seen(), []);
    assert_eq!(state.mail_result, None);
    assert_eq!(
        state.reply_to_user.as_deref(),
        Some("you said `good morning`")
    );
    // There need not even be a transport.
    let state = graph.invoke(says("hi")).await.unwrap();
    assert_eq!(state.reply_to_user.as_deref(), Some("you said `hi`"));
}

#[tokio::test]
async fn the_caller_is_who_it_says_it_is() {
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
