//! Calls that fail.

use crate::ends::ends_paused;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::prelude::*;
use langgraph_remote::{
    AgentEnvelope, EnvelopeBody, ErrorCode, LocalNetwork, RemoteError, RemoteNode, ReplyStream,
    Transport, async_trait,
};
use serde_json::{Value, json};

use crate::mail::*;

#[tokio::test]
async fn without_a_transport_the_error_names_node_and_agent() {
    let graph = assistant().compile().unwrap();
    let error = graph.invoke(says("inbox")).await;
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
async fn every_failure_names_node_and_agent() {
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
            "unknown",
            "there is no agent `unknown`; there are `broken`, `confused`, `rude`",
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

#[test]
fn a_message_that_json_would_change_is_not_sent() {
    let error = EnvelopeBody::complete(&[0.5, f64::NAN]).unwrap_err();
    assert!(matches!(error, RemoteError::Unwritable(_)), "{error}");
    assert!(error.to_string().contains("[1]"), "{error}");
}

#[tokio::test]
async fn a_failure_inside_a_subgraph_has_the_path_to_it() {
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

#[test]
fn a_reply_that_never_comes_is_given_up_in_time() {
    ends_paused(|| async {
        let (agent, dropped) = silent();
        let limit = Duration::from_secs(30);
        let graph = asking(RemoteNode::new("judge", local("judge", agent)).timeout(limit));
        let before = tokio::time::Instant::now();
        let error = graph.invoke(update()).await.unwrap_err();
        assert!(matches!(remote_error(&error), RemoteError::TimedOut(found) if *found == limit));
        assert_eq!(before.elapsed(), limit);
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    });
}

/// Each part of its reply comes soon, the last one never.
struct Dribble;

#[async_trait]
impl Transport for Dribble {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let reply = ReplyStream::produce(&request, |replies| async move {
            let stream = replies.start(Value::Null).await;
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                replies.chunk(&stream, "…").await?;
            }
        });
        Ok(reply)
    }
}

#[test]
fn the_time_is_for_the_whole_reply() {
    ends_paused(|| async {
        let limit = Duration::from_millis(4_500);
        let graph = asking(RemoteNode::new("judge", Dribble).timeout(limit));
        let before = tokio::time::Instant::now();
        let error = graph.invoke(update()).await.unwrap_err();
        assert!(matches!(remote_error(&error), RemoteError::TimedOut(_)));
        assert_eq!(before.elapsed(), limit);
    });
}

#[tokio::test]
async fn a_failed_call_is_tried_again() {
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
    let policy = langgraph::policy::RetryPolicy::attempts(3)
        .immediately()
        .retry_on(langgraph::error::NodeError::is::<RemoteError>);
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
async fn the_reply_to_another_request_is_refused() {
    struct Mixed;
    #[async_trait]
    impl Transport for Mixed {
        async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
            let reply = request
                .reply(EnvelopeBody::Complete(json!("yours?")))
                .with_request_id("another");
            Ok(ReplyStream::once(reply))
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
