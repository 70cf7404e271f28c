//! Graphs as agents, and the boundary to the user.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_remote::{
    AgentEnvelope, AgentId, ErrorCode, InvokeBoundary, RemoteError, Transport, serve,
};
use serde_json::{Value, json};

use crate::mail::*;

#[tokio::test]
async fn the_user_talks_to_the_boundary_only() {
    let mut graph = assistant();
    graph.resource(shared(local("mail", mail_agent())));
    let boundary = InvokeBoundary::new(
        graph.compile().unwrap(),
        |text: &'static str| says(text),
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
async fn on_a_thread_each_turn_sends_its_own_mail_only() {
    let tap = Tap::new(local("mail", mail_agent()));
    let mut graph = assistant();
    graph.resource(shared(tap.clone()));
    let graph = graph.compile().unwrap();
    let boundary = InvokeBoundary::new(
        graph.checkpointer(Arc::new(MemorySaver::new())),
        |text: &'static str| says(text),
        |state: &Assistant| state.reply_to_user.clone(),
    );
    let mut requests = 0;
    for (said, answered, asked) in [
        ("mail Ann lunch", "sent to Ann", 1),
        ("thanks", "you said `thanks`", 0),
        ("inbox", "2 mails", 1),
        ("bye", "you said `bye`", 0),
    ] {
        let reply = boundary.invoke_with(said, |run| run.thread("user")).await;
        assert_eq!(reply.unwrap().as_deref(), Some(answered));
        requests += asked;
        // A request and its reply.
        assert_eq!(tap.seen().len(), requests * 2, "{said}");
    }
}

#[tokio::test]
async fn the_assistant_and_the_mail_agent_are_two_graphs() {
    let tap = Tap::new(local("mail", mail_agent()));
    let graph = assistant().compile().unwrap();
    let mut requests = Vec::new();
    for (said, answered) in [("mail Ann lunch", "sent to Ann"), ("inbox", "2 mails")] {
        let run = graph.run(says(said));
        let state = run
            .resource(shared(tap.clone()))
            .resource(Arc::new(AgentId::new("assistant")))
            .await
            .unwrap()
            .finished()
            .unwrap();
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
            ErrorCode::Failed,
            "the question `name` can never be answered",
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
