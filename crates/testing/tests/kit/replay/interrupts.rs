//! Interrupts and their answers in replays of stored threads.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_testing::replay;
use serde_json::json;

use super::{Asks, Change, Order, OrderUpdate, approve, note, only, price, shop, stored};

#[tokio::test]
async fn k8_changed_questions_diverge() {
    let saver = stored().await;
    let change = |approve: Asks| Change {
        approve: Some(approve),
        ..Change::default()
    };
    // Another question: the stored answer still counts, and the open question differs.
    let asks_more = change(|_, cx| {
        let by: String = cx.interrupt("by", "who?")?;
        Ok(note(&format!("approved by {by}")))
    });
    let report = replay(saver.clone(), &shop(&asks_more)).await.unwrap();
    let (thread, divergence) = only(&report);
    assert_eq!((thread, &*divergence.field), ("waits", "interrupt"));
    assert_eq!(divergence.expected, json!([{"by": "120 euros?"}]));
    assert_eq!(divergence.got, json!([{"by": "who?"}]));

    // A second question: what was finished asks again.
    let asks_twice = change(|order, cx| {
        let _ = approve(order, cx)?;
        let why: String = cx.interrupt("why", "why?")?;
        Ok(note(&why))
    });
    let report = replay(saver.clone(), &shop(&asks_twice)).await.unwrap();
    let (thread, divergence) = only(&report);
    assert_eq!((thread, &*divergence.field), ("dear", "outcome"));
    assert_eq!(divergence.got, json!({"interrupts": [{"why": "why?"}]}));

    // No question any more: neither the open one nor the answered one comes up.
    let asks_nothing = change(|_, _| Ok(note("approved by Ada")));
    let report = replay(saver, &shop(&asks_nothing)).await.unwrap();
    let diverged: Vec<_> = report.diverged().collect();
    let fields = diverged
        .iter()
        .map(|(thread, divergence)| (*thread, &*divergence.field));
    let fields: Vec<_> = fields.collect();
    assert_eq!(fields, [("dear", "interrupt"), ("waits", "outcome")]);
    assert_eq!(diverged[0].1.expected, json!([{"by": "140 euros?"}]));
    assert!(diverged.iter().all(|(_, found)| found.got == "finished"));
}

#[tokio::test]
async fn k8_each_answered_question_of_a_task_has_to_come_up_again() {
    fn graph(keys: &'static [&'static str]) -> CompiledStateGraph<Order> {
        let ask = move |_: &Order, cx: &Context| {
            for key in keys {
                let _: String = cx.interrupt(key, key)?;
            }
            Ok::<_, NodeError>(note("asked"))
        };
        let mut graph = StateGraph::<Order>::new();
        graph
            .add_node("ask", ask)
            .add_node("beside", |_: &Order| note("beside"))
            .add_edge(START, "ask")
            .add_edge(START, "beside");
        graph.compile().unwrap()
    }
    let saver = Arc::new(MemorySaver::new());
    let stored = graph(&["who", "why"]).checkpointer(saver.clone());
    stored
        .thread("t")
        .run(OrderUpdate::default())
        .await
        .unwrap();
    stored.thread("t").answer("Ada").await.unwrap();
    stored.thread("t").answer("tea").await.unwrap();

    for (keys, missing) in [
        (&["who", "why"][..], None),
        (&["why", "who"], None),
        (&["why"], Some("who")),
        (&["who"], Some("why")),
        (&[], Some("who")),
    ] {
        let report = replay(saver.clone(), &graph(keys)).await.unwrap();
        let expected = report
            .diverged()
            .map(|(_, found)| (&*found.field, found.expected.clone()));
        let expected: Vec<_> = expected.collect();
        let missing = missing.map(|key: &str| ("interrupt", json!([{key: key}])));
        assert_eq!(expected, Vec::from_iter(missing), "{keys:?}: {report}");
    }
}

#[tokio::test]
async fn k8_a_question_of_a_router_has_to_come_up_again() {
    fn graph(asks: bool) -> CompiledStateGraph<Order> {
        let route = move |_: &Order, cx: &Context| {
            if asks {
                let _: String = cx.interrupt("way", "which way?")?;
            }
            Ok::<_, NodeError>("bill")
        };
        let mut graph = StateGraph::<Order>::new();
        graph
            .add_node("price", price)
            .add_node("bill", |_: &Order| note("billed"))
            .add_edge(START, "price")
            .add_conditional_edges("price", route, ["bill"]);
        graph.compile().unwrap()
    }
    let saver = Arc::new(MemorySaver::new());
    let stored = graph(true).checkpointer(saver.clone());
    stored
        .thread("t")
        .run(OrderUpdate::default())
        .await
        .unwrap();
    stored.thread("t").answer("left").await.unwrap();

    let report = replay(saver.clone(), &graph(true)).await.unwrap();
    assert!(report.is_same(), "{report}");
    let report = replay(saver, &graph(false)).await.unwrap();
    assert_eq!(only(&report).1.field, "interrupt");
}
