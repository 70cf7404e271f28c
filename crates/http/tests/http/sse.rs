//! A run as the body of a response.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_http::sse;
use serde_json::json;

use crate::support::{Counting, NONE, Page, PageUpdate, fields, one};

async fn texts(events: langgraph::run::EventStream<Page>) -> Vec<String> {
    sse(events).collect().await
}

#[tokio::test]
async fn ids_name_the_run_and_count_its_frames() {
    let write = |_: &Page| PageUpdate::default().title("one\ntwo".to_owned());
    let events = one("write", write).run(()).stream(StreamMode::Updates);
    let run = events.run_id().to_owned();
    let texts = texts(events).await;
    let [first, end] = texts.as_slice() else {
        panic!("{texts:?}");
    };
    let (id, event, data) = fields(first);
    assert_eq!((id, event.as_str()), (format!("{run}:0"), "update"));
    assert_eq!(data["data"]["update"][0]["update"]["title"], "one\ntwo");
    let end = fields(end);
    let done = json!({"status": "done"});
    assert_eq!(end, (format!("{run}:1"), "end".to_owned(), done));
}

#[tokio::test]
async fn an_error_says_its_code_the_node_and_whether_a_retry_helps() {
    let bad = |_: &Page| Err::<(), _>(NodeError::msg("first\nsecond"));
    let graph = one("outer", one("bad", bad));
    let texts = texts(graph.run(()).stream(StreamMode::Values)).await;
    let (_, event, data) = fields(texts.last().unwrap());
    assert_eq!(event, "error");
    assert_eq!(
        data,
        json!({
            "code": "node",
            "message": "node `outer/bad` failed: first\nsecond",
            "retry": false,
            "node": "bad",
            "namespace": ["outer"],
        })
    );

    let reset = |_: &Page| -> Result<(), NodeError> {
        Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into())
    };
    let texts = self::texts(one("reset", reset).run(()).stream(NONE)).await;
    assert_eq!(fields(&texts[0]).2["retry"], true);
}

#[tokio::test]
async fn a_pause_ends_it_with_the_questions() {
    let ask = |_: &Page, cx: &Context| -> Result<PageUpdate, NodeError> {
        Ok(PageUpdate::default().title(cx.interrupt("title", "which?")?))
    };
    let graph = one("ask", ask).checkpointer(Arc::new(MemorySaver::new()));
    let texts = texts(graph.run(()).thread("t").stream(NONE)).await;
    let [asked, end] = texts.as_slice() else {
        panic!("{texts:?}");
    };
    assert_eq!(fields(asked).1, "interrupt");
    let (_, event, data) = fields(end);
    assert_eq!(event, "end");
    assert_eq!(data["status"], "interrupted");
    assert_eq!(data["next"], json!(["ask"]));
    assert_eq!(data["interrupts"][0]["payload"], "which?");
}

#[tokio::test]
async fn the_run_stops_when_the_body_is_dropped() {
    let counting = Counting::to(2);
    counting.go.add_permits(1);
    let mut body = sse(counting.events());
    body.next().await.unwrap();
    assert!(!counting.was_dropped());
    drop(body);
    assert!(counting.was_dropped());
}

#[tokio::test(start_paused = true)]
async fn a_quiet_run_sends_comments() {
    let counting = Counting::to(1);
    let mut body = sse(counting.events()).keep_alive(Duration::from_secs(15));
    let begun = tokio::time::Instant::now();
    for _ in 0..2 {
        assert_eq!(body.next().await.unwrap(), ":\n\n");
    }
    assert_eq!(begun.elapsed().as_secs(), 30);
    counting.go.add_permits(1);
    assert_eq!(fields(&body.next().await.unwrap()).1, "custom");
}
