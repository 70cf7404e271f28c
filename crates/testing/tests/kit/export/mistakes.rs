//! Threads that went wrong: the test fails until the mistake is mended.
#![allow(clippy::unnecessary_wraps)] // nodes of one type

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_testing::{ExportError, Exported, ExportedThread, Mistake, export};
use serde::{Deserialize, Serialize};

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Order {
    euros: i64,
    rebate: i64,
    #[reducer(append)]
    notes: Vec<String>,
}

type Node = fn(&Order) -> Result<OrderUpdate, NodeError>;

fn tenth(order: &Order) -> Result<OrderUpdate, NodeError> {
    Ok(OrderUpdate::default().rebate(order.euros / 10))
}

fn fifth(order: &Order) -> Result<OrderUpdate, NodeError> {
    Ok(OrderUpdate::default().rebate(order.euros / 5))
}

fn none(_: &Order) -> Result<OrderUpdate, NodeError> {
    Ok(OrderUpdate::default().rebate(0))
}

fn closed(_: &Order) -> Result<OrderUpdate, NodeError> {
    Err(NodeError::msg("the till is closed"))
}

fn broken(_: &Order) -> Result<OrderUpdate, NodeError> {
    Err(NodeError::msg("the till is broken"))
}

fn shop(rebate: Node, bill: &'static str) -> CompiledStateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    graph
        .set_name("shop")
        .add_node("look", |_: &Order| {
            OrderUpdate::default().notes(vec!["seen".to_owned()])
        })
        .add_node("rebate", rebate)
        .add_node("bill", move |_: &Order| {
            OrderUpdate::default().notes(vec![bill.to_owned()])
        })
        .add_sequence(&["look", "rebate", "bill"]);
    graph.compile().unwrap()
}

async fn stored(graph: &CompiledStateGraph<Order>) -> Arc<MemorySaver> {
    let saver = Arc::new(MemorySaver::new());
    let thread = graph.clone().checkpointer(saver.clone()).thread("t");
    let _ = thread.run(OrderUpdate::default().euros(200)).await;
    saver
}

/// Runs the test with a graph.
async fn run(exported: &Exported, graph: &CompiledStateGraph<Order>) -> Result<(), String> {
    let thread = ExportedThread::parse(&exported.thread, &exported.cassette)
        .await
        .unwrap();
    let report = thread.replay(graph).await.unwrap();
    thread.check(&report).map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_named_mistake_fails_until_its_field_is_as_expected() {
    let today = shop(tenth, "billed");
    let mistake = Mistake::at(2, "rebate").expected("rebate", 40);
    let exported = export(stored(&today).await, &today, "t")
        .mistake(mistake)
        .await
        .unwrap();

    let error = run(&exported, &today).await.unwrap_err();
    let text = "the mistake is still made: superstep 2, node `rebate`, `rebate` should be 40";
    assert!(error.starts_with(text), "{error}");
    let error = run(&exported, &shop(none, "billed")).await.unwrap_err();
    assert!(error.starts_with("the mistake is not mended"), "{error}");
    assert!(error.contains("`rebate`: expected 20, got 0"), "{error}");
    run(&exported, &shop(fifth, "billed")).await.unwrap();
    // What comes behind the mistake follows from it.
    run(&exported, &shop(fifth, "sent")).await.unwrap();
}

#[tokio::test]
async fn a_failure_is_the_mistake_of_its_thread() {
    let today = shop(closed, "billed");
    let exported = export(stored(&today).await, &today, "t").await.unwrap();
    assert!(
        exported.test.contains("superstep 2, node `rebate`"),
        "{}",
        exported.test
    );

    for still_fails in [closed as Node, broken] {
        let error = run(&exported, &shop(still_fails, "billed"))
            .await
            .unwrap_err();
        assert!(error.starts_with("the mistake is still made"), "{error}");
    }
    run(&exported, &shop(tenth, "billed")).await.unwrap();
}

#[tokio::test]
async fn another_way_before_the_mistake_fails() {
    let today = shop(closed, "billed");
    let exported = export(stored(&today).await, &today, "t").await.unwrap();
    let mut other = StateGraph::<Order>::new();
    other
        .set_name("shop")
        .add_node("look", |_: &Order| {
            OrderUpdate::default().notes(vec!["gone".to_owned()])
        })
        .add_node("rebate", tenth as Node)
        .add_sequence(&["look", "rebate"]);
    let error = run(&exported, &other.compile().unwrap()).await.unwrap_err();
    assert!(error.starts_with("the thread goes another way"), "{error}");
}

#[tokio::test]
async fn a_failure_inside_a_subgraph_is_found_there() {
    let outer = |rebate: Node| {
        let mut graph = StateGraph::<Order>::new();
        graph
            .add_node("till", shop(rebate, "billed"))
            .add_sequence(&["till"]);
        graph.compile().unwrap()
    };
    let exported = export(stored(&outer(closed)).await, &outer(closed), "t")
        .await
        .unwrap();
    assert!(
        exported.test.contains("graph in `till`, superstep 2"),
        "{}",
        exported.test
    );
    run(&exported, &outer(closed)).await.unwrap_err();
    run(&exported, &outer(tenth)).await.unwrap();
}

#[tokio::test]
async fn a_thread_that_does_not_exist_or_cannot_be_compared_is_an_error() {
    let graph = shop(tenth, "billed");
    let saver = stored(&graph).await;
    let error = export(saver.clone(), &graph, "u").await.unwrap_err();
    assert!(
        matches!(error, ExportError::UnknownThread { .. }),
        "{error}"
    );

    let mut other = StateGraph::<Order>::new();
    other
        .set_name("store")
        .add_node("look", tenth as Node)
        .add_sequence(&["look"]);
    let error = export(saver.clone(), &other.compile().unwrap(), "t")
        .await
        .unwrap_err();
    assert!(
        matches!(error, ExportError::UnknownThread { .. }),
        "{error}"
    );

    let nodes = ["look", "rebate", "bill"];
    let kept = export(saver, &graph, "t").keep(nodes).await.unwrap();
    // Their routes are compared.
    assert!(kept.report.is_same(), "{}", kept.report);
}
