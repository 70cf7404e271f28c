use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;

use {{crate}}::{order, order_graph};

#[tokio::test]
async fn a_small_order_is_shipped() {
    let graph = order_graph().unwrap();
    let state = graph.invoke(order("lamps".to_owned(), 2)).await.unwrap();
    assert_eq!(state.output.as_deref(), Some("shipped 2 lamps"));
}

#[tokio::test]
async fn what_is_not_in_stock_is_refused() {
    let graph = order_graph().unwrap();
    let state = graph.invoke(order("lamps".to_owned(), 101)).await.unwrap();
    assert_eq!(state.output.as_deref(), Some("not in stock"));
}

#[tokio::test]
async fn a_person_decides_about_an_expensive_order() {
    let graph = order_graph()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    for (answer, end, shipped) in [
        (true, "shipped 80 lamps", 80),
        (false, "cancelled", 80),
        (true, "shipped 80 lamps", 160),
    ] {
        let outcome = thread.run(order("lamps".to_owned(), 80)).await.unwrap();
        assert_eq!(outcome.interrupts()[0].payload, "Buy 80 lamps for 400?");
        let outcome = thread.resume("approve", answer).await.unwrap();
        let state = outcome.finished().unwrap();
        assert_eq!(state.output.as_deref(), Some(end));
        assert_eq!(state.previous, Some(shipped));
    }
}
