use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;

use {{crate}}::{OrderUpdate, order};

fn order_of(count: u32) -> OrderUpdate {
    OrderUpdate::default().item("lamps".to_owned()).count(count)
}

#[tokio::test]
async fn a_small_order_is_shipped() {
    let state = order().unwrap().invoke(order_of(2)).await.unwrap();
    assert_eq!(
        state.log,
        ["checked the stock of lamps", "the price is 10", "shipped"]
    );
}

#[tokio::test]
async fn what_is_not_in_stock_is_cancelled() {
    let state = order().unwrap().invoke(order_of(101)).await.unwrap();
    assert_eq!(state.log.last().unwrap(), "cancelled");
}

#[tokio::test]
async fn a_person_decides_about_an_expensive_order() {
    let graph = order().unwrap().checkpointer(Arc::new(MemorySaver::new()));
    for (thread, answer, end) in [("a", true, "shipped"), ("b", false, "cancelled")] {
        let outcome = graph.run(order_of(80)).thread(thread).await.unwrap();
        assert_eq!(outcome.interrupts()[0].payload, "Buy 80 lamps for 400?");
        let outcome = graph
            .thread(thread)
            .resume("approve", answer)
            .await
            .unwrap();
        assert_eq!(outcome.finished().unwrap().log.last().unwrap(), end);
    }
}
