//! What a node sees of a test's context, and what the test sees of the node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::message::MessageChunk;
use langgraph::node::OnceKey;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph_testing::TestContext;

#[node]
async fn ask_twice(n: &i64, cx: &Context) -> Result<i64, NodeError> {
    let first: i64 = cx.interrupt_next("first?")?;
    let second: i64 = cx.interrupt_next("second?")?;
    Ok(n + first * 10 + second)
}

#[tokio::test]
async fn interrupts_open_one_after_the_other_as_they_are_answered() {
    let mut cx = TestContext::new();
    for (key, question) in [("0", "first?"), ("1", "second?")] {
        assert!(ask_twice(&100, &cx).await.is_err());
        let open = cx.interrupts();
        assert_eq!(open.len(), 1);
        assert_eq!((&*open[0].key, &open[0].payload), (key, &question.into()));
        assert_eq!(&*open[0].node, "node");
        assert!(cx.has_open_interrupt());
        cx.answer(key, 2);
        assert!(cx.interrupts().is_empty());
    }
    assert_eq!(ask_twice(&100, &cx).await.unwrap(), 122);
    assert!(!cx.has_open_interrupt());
}

#[tokio::test]
async fn answers_are_checked_and_can_be_replaced() {
    let mut cx = TestContext::builder().answer("0", "seven").build();
    let error = ask_twice(&0, &cx).await.unwrap_err().to_string();
    assert!(
        error.contains("the answer to `0` has the wrong form"),
        "{error}"
    );
    assert_eq!(cx.interrupts()[0].key, "0");
    cx.answer("0", 7);
    cx.answer("1", 1);
    assert_eq!(ask_twice(&0, &cx).await.unwrap(), 71);
}

#[tokio::test]
async fn without_a_thread_an_interrupt_is_an_error() {
    let cx = TestContext::builder().without_thread().build();
    assert_eq!(cx.thread_id(), None);
    let error = ask_twice(&0, &cx).await.unwrap_err().to_string();
    assert!(error.contains("has no checkpointer"), "{error}");
}

#[tokio::test]
async fn what_a_node_has_done_once_is_kept_when_it_is_called_again() {
    static CHARGED: AtomicU32 = AtomicU32::new(0);

    #[node]
    async fn pay(total: &i64, cx: &Context) -> Result<i64, NodeError> {
        let charged = cx.once_with(OnceKey::new("charge").with(total), || {
            Ok::<_, NodeError>(CHARGED.fetch_add(1, Ordering::Relaxed) + 1)
        });
        let charged: u32 = charged.await?;
        let tip: i64 = cx.interrupt("tip", "A tip?")?;
        Ok(i64::from(charged) + tip)
    }

    let mut cx = TestContext::new();
    assert!(pay(&100, &cx).await.is_err());
    cx.answer("tip", 5);
    assert_eq!(pay(&100, &cx).await.unwrap(), 6);
    assert_eq!(CHARGED.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_graph_inside_the_node_asks_and_is_answered() {
    async fn calls(n: &i64, cx: &Context) -> Result<i64, NodeError> {
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("ask", ask_twice).add_sequence(&["ask"]);
        cx.run(&graph.compile()?, *n).await
    }

    let mut cx = TestContext::builder().node("outer").build();
    assert!(calls(&100, &cx).await.is_err());
    let open = cx.interrupts();
    assert_eq!((open[0].key.as_str(), &*open[0].node), ("0", "ask"));
    assert_eq!(&*open[0].namespace[0], "outer");
    cx.answer("0", 1);
    assert!(calls(&100, &cx).await.is_err());
    cx.answer("1", 2);
    assert_eq!(calls(&100, &cx).await.unwrap(), 112);

    let events = cx.events::<i64>();
    let update = events.iter().find(|event| event.node() == Some("ask"));
    assert!(update.is_some(), "{events:?}");
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64));
}

#[tokio::test]
async fn events_are_recorded_if_they_are_read() {
    async fn speaks(_: &i64, cx: &Context) -> Result<(), NodeError> {
        cx.emit("a").await?;
        cx.emit_chunk(MessageChunk::text("b")).await;
        cx.emit(3).await
    }

    let cx = TestContext::new();
    speaks(&0, &cx).await.unwrap();
    assert_eq!(cx.emitted(), [serde_json::json!("a"), 3.into()]);
    assert_eq!(cx.chunks().len(), 1);
    assert_eq!(cx.events::<i64>().len(), 3);

    let cx = TestContext::builder().stream(StreamMode::Messages).build();
    assert!(cx.wants(StreamMode::Messages) && !cx.wants(StreamMode::Custom));
    speaks(&0, &cx).await.unwrap();
    assert_eq!((cx.emitted().len(), cx.chunks().len()), (0, 1));
}

#[tokio::test]
async fn options_are_what_the_node_reads() {
    let token = CancelToken::new();
    let cx = TestContext::builder()
        .resource::<dyn std::fmt::Display + Send + Sync>(Arc::new(7))
        .step(4)
        .remaining_steps(0)
        .attempt(2)
        .thread("t-1")
        .cancel_token(token.clone())
        .build();
    let shown = cx.resource::<dyn std::fmt::Display + Send + Sync>();
    assert_eq!(shown.unwrap().to_string(), "7");
    assert!(cx.resource::<u32>().is_err());
    assert_eq!((cx.step(), cx.attempt()), (4, 2));
    assert!(cx.is_last_step());
    assert_eq!(cx.thread_id(), Some("t-1"));
    assert_eq!(cx.metadata("user"), None);
    assert!(!cx.is_cancelled());
    token.cancel();
    cx.cancelled().await;
    assert!(cx.is_cancelled());
}
