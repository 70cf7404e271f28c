//! A decision after a map: it is made once, when all items have run, on the merged state.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::thread::{OnOpenInterrupt, StateUpdate};
use serde_json::json;

#[derive(State, Clone, Debug, Default)]
struct Basket {
    #[reducer(append)]
    taken: Vec<usize>,
    /// What each decision saw.
    #[reducer(append)]
    decided_on: Vec<usize>,
    rounds: usize,
}

#[node]
async fn take(item: usize) -> BasketUpdate {
    BasketUpdate::default().taken(vec![item])
}

#[node]
async fn more(state: &Basket) -> BasketUpdate {
    BasketUpdate::default()
        .rounds(state.rounds + 1)
        .decided_on(vec![state.taken.len()])
}

fn three(_: &Basket) -> Vec<usize> {
    vec![1, 2, 3]
}

fn enough(state: &Basket) -> bool {
    state.taken.len() >= 6
}

fn by_macro() -> StateGraph<Basket> {
    graph! {
        START => for item in three { take(item) } => if enough { END } else { more };
        more => for item in three { take(item) };
    }
}

fn by_builder() -> StateGraph<Basket> {
    let mut graph = StateGraph::<Basket>::new();
    let worker = graph.add_worker("take", take);
    graph
        .add_node("more", more)
        .add_map(START, three, &worker)
        .add_map("more", three, &worker)
        .add_conditional_edges(
            "take",
            |state: &Basket| if enough(state) { END } else { "more" },
            ["more", END],
        );
    graph
}

#[tokio::test]
async fn a_decision_after_a_map_is_made_once_on_the_merged_state() {
    for graph in [by_macro(), by_builder()] {
        let graph = graph.compile().unwrap();
        let basket = graph.invoke(()).await.unwrap();
        assert_eq!(basket.taken, [1, 2, 3, 1, 2, 3]);
        // One decision for three items, and not one for each.
        assert_eq!(basket.decided_on, [3]);
        assert_eq!(basket.rounds, 1);
    }
}

#[tokio::test]
async fn a_decision_after_a_map_that_interrupts_runs_no_item_again() {
    let ran = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&ran);
    let mut graph = StateGraph::<Basket>::new();
    let worker = graph.add_worker("take", move |item: usize| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move { BasketUpdate::default().taken(vec![item]) }
    });
    let ask = |state: &Basket, cx: &Context| -> Result<&'static str, NodeError> {
        let ends: bool = cx.interrupt("enough?", &state.taken.len())?;
        Ok(if ends { END } else { "more" })
    };
    graph
        .add_node("more", more)
        .add_map(START, three, &worker)
        .add_edge("more", END)
        .add_conditional_edges("take", ask, ["more", END]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let outcome = thread.run(()).await.unwrap();
    let interrupts = outcome.interrupts();
    assert_eq!(interrupts.len(), 1, "{interrupts:?}");
    assert_eq!(interrupts[0].payload, json!(3));
    let basket = thread
        .resume("enough?", false)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(basket.taken, [1, 2, 3]);
    assert_eq!(basket.decided_on, [3]);
    assert_eq!(ran.load(std::sync::atomic::Ordering::Relaxed), 3);
}

#[node]
async fn take_or_ask(item: usize, _: &Basket, cx: &Context) -> Result<BasketUpdate, NodeError> {
    if item == 3 {
        let _: bool = cx.interrupt("sure", "?")?;
    }
    Ok(BasketUpdate::default().taken(vec![item]))
}

#[tokio::test]
async fn a_decision_after_items_from_outside_is_made_once_on_all_of_them() {
    for graph in [by_macro(), by_builder()] {
        let graph = graph.compile().unwrap();
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        for (items, next) in [(5, 1), (6, 0)] {
            let thread = graph.thread(items.to_string());
            thread.run(()).interrupt_before(["take"]).await.unwrap();
            let item = |item| StateUpdate::new(BasketUpdate::default().taken(vec![item]));
            let updates = (0..items).map(|n| item(n).as_node("take"));
            thread.update_supersteps([updates]).await.unwrap();
            let snapshot = thread.state().await.unwrap().unwrap();
            assert_eq!(snapshot.values.taken.len(), items);
            assert_eq!(snapshot.next.len(), next, "{:?}", snapshot.next);
        }
    }
}

#[tokio::test]
async fn a_decision_after_a_map_is_made_once_where_a_question_of_it_is_dismissed() {
    let mut graph = StateGraph::<Basket>::new();
    let worker = graph.add_worker("take", take_or_ask);
    let both = |state: &Basket| {
        if state.taken.len() == 2 { END } else { "more" }
    };
    graph
        .add_node("more", more)
        .add_map(START, three, &worker)
        .add_conditional_edges("take", both, ["more", END]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(()).await.unwrap();
    let next = thread.run(()).on_open_interrupt(OnOpenInterrupt::Dismiss);
    next.await.unwrap();
    let history = thread.history().await.unwrap();
    let dismissed = history.iter().rev().find(|at| at.values.taken.len() == 2);
    assert_eq!(
        dismissed.unwrap().next,
        [] as [langgraph::graph::NodeName; 0]
    );
}
