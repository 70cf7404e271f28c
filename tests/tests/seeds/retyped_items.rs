//! Programs whose workers take items of another type: `check_threads` says of each thread what a run then finds.

use std::sync::Arc;

use fastrand::Rng;
use langgraph::node::Item;
use langgraph::prelude::*;
use langgraph_tests::ByteSaver;
use langgraph_tests::fixtures::diary::{Diary, wrote};
use langgraph_versions::check_threads;

/// A graph whose workers take these items, and wait.
fn maps<T: Item>(items: Vec<T>) -> StateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    let worker = graph.add_worker("work", |_: T, _: &Diary, cx: &Context| {
        let asked = cx.interrupt::<String>("what", "what?");
        async move { asked.map(wrote).map_err(NodeError::from) }
    });
    graph.add_map(START, move |_: &Diary| items.clone(), &worker);
    graph
}

/// A graph whose items have a type, and values, that are drawn.
fn drawn(dice: &mut Rng) -> StateGraph<Diary> {
    let many = dice.usize(1..4);
    let number = |dice: &mut Rng| dice.i32(-2..400);
    let mut numbers = || (0..many).map(|_| number(dice)).collect::<Vec<_>>();
    let numbers = numbers();
    let each = numbers.into_iter();
    match dice.u8(..7) {
        0 => maps(
            each.map(|n| u8::try_from(n.rem_euclid(256)).unwrap_or_default())
                .collect(),
        ),
        1 => maps(each.map(|n| f64::from(n) / 2.0).collect()),
        2 => maps(each.map(|n| n.to_string()).collect()),
        3 => maps(each.map(|n| (n > 0).then_some(n)).collect()),
        4 => maps(each.map(|n| vec![n]).collect()),
        5 => maps(each.map(|n| (n, n > 0)).collect()),
        _ => maps(each.collect()),
    }
}

/// Compiles a graph, as a node in others that are so deep.
fn nested(graph: &StateGraph<Diary>, depth: usize) -> CompiledStateGraph<Diary> {
    let mut graph = { graph }.compile().unwrap();
    for _ in 0..depth {
        let mut outer = StateGraph::<Diary>::new();
        outer.set_name("maps");
        outer.add_node("inner", graph).add_sequence(&["inner"]);
        graph = outer.compile().unwrap();
    }
    graph
}

#[test]
fn a_check_says_which_items_a_changed_worker_does_not_take() {
    super::play(300, async |dice| {
        let saver = Arc::new(ByteSaver::default());
        let depth = dice.usize(..3);
        let before = nested(drawn(dice).set_name("maps"), depth);
        let before = before.checkpointer(Arc::clone(&saver));
        for thread in ["one", "two"] {
            before.run(()).thread(thread).await.unwrap();
        }
        let after = nested(drawn(dice).set_name("maps"), depth);
        let report = check_threads(Arc::clone(&saver), &after).await.unwrap();
        let after = after.checkpointer(saver);
        assert_eq!(report.threads.len(), 2, "{report}");
        for check in &report.threads {
            let thread = after.thread(&check.thread);
            let state = before.thread(&check.thread).state().await.unwrap().unwrap();
            let ids = state
                .interrupts
                .iter()
                .map(|interrupt| interrupt.id.clone());
            let run = thread.resume_all(ids.map(|id| (id, "x"))).await;
            let says = check.error.as_ref().map(ToString::to_string);
            let found = run.err().map(|error| error.to_string());
            assert_eq!(says.is_some(), found.is_some(), "{says:?} and {found:?}");
        }
    });
}
