//! Streams, and how they end.

use std::time::Duration;

use langgraph::message::{FinishReason, Usage};
use langgraph_agent::ModelErrorKind;
use serde_json::json;

use super::support::{Answer, Server};
use super::{TEXT, collect};

#[tokio::test]
async fn text_streams_with_its_cost_and_its_end() {
    let events = [&TEXT[..], &["[DONE]"]].concat();
    let server = Server::start([Answer::events(&events)]).await;
    let model = server.openai().build().unwrap();
    let (chunks, error) = collect(&model).await;
    assert!(error.is_none(), "{error:?}");
    let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, ["Hel", "lo", ""]);
    let last = chunks.last().unwrap();
    assert_eq!(last.usage, Some(Usage::new(3, 2)));
    assert_eq!(last.finish_reason, Some(FinishReason::Stop));
    let sent = &server.requests()[0];
    assert_eq!(sent["messages"], json!([{"role": "user", "content": "hi"}]));
    assert_eq!(sent["model"], "test-model");
}

/// Quirk 2: a stream that is cut off ends as if it were whole.
#[tokio::test]
async fn a_stream_that_is_cut_off_is_an_error() {
    for answer in [Answer::events(&TEXT[..2]), Answer::events(&TEXT[..2]).cut()] {
        let server = Server::start([answer]).await;
        let (chunks, error) = collect(&server.openai().build().unwrap()).await;
        assert_eq!(chunks.len(), 2);
        let error = error.unwrap();
        assert!(
            matches!(
                error.kind(),
                ModelErrorKind::Incomplete | ModelErrorKind::Transport
            ),
            "{error:?}"
        );
        assert!(error.is_retryable());
    }
}

/// Quirk 3: after a broken chunk the stream continues.
#[tokio::test]
async fn a_broken_piece_ends_the_stream() {
    let events = [TEXT[0], r#"{"choices": [{"del"#, TEXT[1], TEXT[2], "[DONE]"];
    let server = Server::start([Answer::events(&events)]).await;
    let (chunks, error) = collect(&server.openai().build().unwrap()).await;
    assert_eq!(chunks.len(), 1);
    assert_eq!(error.unwrap().kind(), &ModelErrorKind::Incomplete);
}

#[tokio::test]
async fn an_error_in_the_stream_ends_it() {
    let failed = r#"{"error": {"message": "overloaded", "type": "server_error"}}"#;
    let server = Server::start([Answer::events(&[TEXT[0], failed, "[DONE]"])]).await;
    let (_, error) = collect(&server.openai().build().unwrap()).await;
    let error = error.unwrap();
    assert_eq!(error.kind(), &ModelErrorKind::Provider { status: None });
    assert!(error.to_string().contains("overloaded"), "{error}");
}

/// Quirk 6: silence in the middle of a stream.
#[tokio::test]
async fn a_stream_that_falls_silent_times_out() {
    let answer = Answer::events(&TEXT[..2]).stall(Duration::from_secs(30));
    let server = Server::start([answer]).await;
    let model = server.openai().idle_timeout(Duration::from_millis(300));
    let (chunks, error) = collect(&model.build().unwrap()).await;
    assert_eq!(chunks.len(), 2);
    assert_eq!(error.unwrap().kind(), &ModelErrorKind::Timeout);
}

/// A server that ends its stream properly and never says why.
#[tokio::test]
async fn an_answer_without_a_reason_that_has_ended_is_whole() {
    let server = Server::start([Answer::events(&[TEXT[0], TEXT[1], "[DONE]"])]).await;
    let (chunks, error) = collect(&server.openai().build().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        chunks.last().unwrap().finish_reason,
        Some(FinishReason::Stop)
    );
}
