//! Untracked fields live for a run, on every saver.

use std::sync::Arc;

use langgraph::checkpoint::{Durability, MemorySaver};
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Work {
    #[state(untracked)]
    handle: Option<Arc<String>>,
    #[reducer(append)]
    log: Vec<String>,
}

fn seen(state: &Work, cx: &Context) -> WorkUpdate {
    let handle = state.handle.as_deref().map_or("-", String::as_str);
    WorkUpdate::default().log(vec![format!("{}: {handle}", cx.node())])
}

fn opened(state: &Work, cx: &Context) -> WorkUpdate {
    seen(state, cx).handle(Some(Arc::new("open".to_owned())))
}

fn graph() -> CompiledStateGraph<Work> {
    let mut graph = StateGraph::<Work>::new();
    graph
        .add_node("open", opened)
        .add_node("look", seen)
        .add_node("again", seen)
        .add_sequence(&["open", "look", "again"]);
    let graph = graph.compile().unwrap();
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn the_next_run_of_a_thread_does_not_see_them() {
    for durability in [Durability::Sync, Durability::Exit] {
        let graph = graph();
        let run = graph.run(()).thread("t").durability(durability).await;
        let state = run.unwrap().finished().unwrap();
        assert_eq!(state.log, ["open: -", "look: open", "again: open"]);
        assert!(state.handle.is_some());

        let kept = graph.thread("t").state().await.unwrap().unwrap().values;
        assert_eq!((kept.handle, kept.log), (None, state.log));
        // An input may bring one, and it is no more kept than the others.
        let input = WorkUpdate::default().handle(Some(Arc::new("brought".to_owned())));
        let run = graph.run(input).thread("t").durability(durability).await;
        assert_eq!(run.unwrap().finished().unwrap().log[3], "open: brought");
        let run = graph.run(()).thread("t").durability(durability).await;
        assert_eq!(run.unwrap().finished().unwrap().log[6], "open: -");
    }
}

#[tokio::test]
async fn a_run_that_goes_on_begins_without_them() {
    let graph = graph();
    let run = graph.run(()).thread("t").interrupt_before(["again"]);
    assert!(run.await.unwrap().state().handle.is_some());
    let outcome = graph.thread("t").proceed().await.unwrap();
    assert_eq!(
        outcome.finished().unwrap().log,
        ["open: -", "look: open", "again: -"]
    );
}
