//! Error handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::worker;
use langgraph::policy::{NodeFailure, RetryPolicy};
use langgraph::prelude::*;

use langgraph_tests::fixtures::lines::{Boom, Log, LogUpdate, line, single};

fn fails(_: &Log) -> Result<LogUpdate, Boom> {
    Err(Boom("boom"))
}

fn note(_: &Log, failure: &NodeFailure) -> LogUpdate {
    line(format!("{}: {}", failure.node, failure.error))
}

#[tokio::test]
async fn a_handler_takes_over_after_the_retries_in_the_same_superstep() {
    async fn handle(state: &Log, failure: &NodeFailure, cx: &Context) -> LogUpdate {
        assert!(failure.error.is::<Boom>());
        assert_eq!(state.lines, ["a"]);
        line(format!(
            "{} failed {} times in step {}",
            failure.node,
            failure.attempts,
            cx.step()
        ))
    }
    let mut graph = StateGraph::<Log>::new();
    let policy = RetryPolicy::attempts(3).immediately();
    graph
        .add_node("a", |_: &Log| line("a"))
        .add_node("b", fails.retry(policy).on_error(handle))
        .add_node("c", |_: &Log, cx: &Context| {
            line(format!("c in step {}", cx.step()))
        })
        .add_sequence(&["a", "b", "c"]);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    // Its update follows the node's edges.
    assert_eq!(
        state.lines,
        ["a", "b failed 3 times in step 2", "c in step 3"]
    );
}

#[tokio::test]
async fn a_handler_may_say_where_to_go() {
    let elsewhere = |_: &Log, _: &NodeFailure| Command::update(line("handled")).and_goto("d");
    let nowhere = |_: &Log, _: &NodeFailure| (line("handled"), Next::End);
    let build = |node: langgraph::graph::ConfiguredNode<Log>| {
        let mut graph = StateGraph::<Log>::new();
        graph
            .add_node("b", node)
            .add_node("c", |_: &Log| line("c"))
            .add_node("d", |_: &Log| line("d"))
            .add_sequence(&["b", "c"]);
        graph
    };
    let graph = build(fails.on_error(elsewhere));
    assert!(graph.topology().node("b").unwrap().may_goto);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["handled", "d"]);
    let graph = build(fails.on_error(nowhere)).compile().unwrap();
    assert_eq!(
        graph.invoke(Log::default()).await.unwrap().lines,
        ["handled"]
    );
    let graph = build(fails.on_error(note));
    assert!(!graph.topology().node("b").unwrap().may_goto);
}

#[tokio::test]
async fn every_form_of_handler_works() {
    async fn with_context(_: &Log, failure: &NodeFailure, cx: &Context) -> Result<LogUpdate, Boom> {
        tokio::task::yield_now().await;
        assert_eq!(cx.node(), &*failure.node);
        Ok(line(failure.error.to_string()))
    }
    async fn without(state: &Log, failure: &NodeFailure) -> Command<Log> {
        assert!(state.lines.is_empty());
        Command::update(line(failure.error.to_string()))
    }
    let text = "boom".to_owned();
    let captures = move |_: &Log, _: &NodeFailure| {
        let text = text.clone();
        async move { line(text) }
    };
    let sync = |_: &Log, failure: &NodeFailure, _: &Context| line(failure.error.to_string());
    for graph in [
        single(fails.on_error(with_context)),
        single(fails.on_error(without)),
        single(fails.on_error(captures)),
        single(fails.on_error(sync)),
    ] {
        let state = graph
            .compile()
            .unwrap()
            .invoke(Log::default())
            .await
            .unwrap();
        assert_eq!(state.lines, ["boom"]);
    }
}

#[tokio::test]
async fn a_handler_that_fails_fails_the_run_with_its_own_error() {
    let handle = |_: &Log, _: &NodeFailure| Err::<(), _>(Boom("handler boom"));
    let error = single(fails.on_error(handle)).compile().unwrap();
    let error = error.invoke(Log::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "node `node` failed: handler boom");
}

#[tokio::test]
async fn a_handler_may_leave_a_failure_to_the_run() {
    let handle = |_: &Log, failure: &NodeFailure| Err::<(), _>(failure.unhandled());
    let error = single(fails.on_error(handle)).compile().unwrap();
    let error = error.invoke(Log::default()).await.unwrap_err();
    assert_eq!(
        error.node_error().unwrap().downcast_ref(),
        Some(&Boom("boom"))
    );
}

#[tokio::test]
async fn questions_and_commands_to_the_parent_are_no_failures() {
    let ask = |_: &Log, cx: &Context| -> Result<LogUpdate, NodeError> {
        Ok(line(cx.interrupt::<String>("name", "who?")?))
    };
    let graph = single(ask.on_error(note))
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run(Log::default()).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts()[0].key, "name");

    let leave = |_: &Log| Command::<Log>::parent(Command::<Log>::goto("after"));
    let inner = single(leave.on_error(note)).compile().unwrap();
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("inner", inner)
        .add_node("after", |_: &Log| line("after"))
        .add_edge(START, "inner");
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["after"]);
}

#[tokio::test]
async fn a_handler_may_ask() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let fails = move |_: &Log| -> Result<LogUpdate, Boom> {
        counted.fetch_add(1, Ordering::SeqCst);
        Err(Boom("boom"))
    };
    let ask = |_: &Log, failure: &NodeFailure, cx: &Context| -> Result<LogUpdate, NodeError> {
        let question = format!("{} said {}; what now?", failure.node, failure.error);
        Ok(line(cx.interrupt::<String>("advice", &question)?))
    };
    let graph = single(fails.on_error(ask))
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run(Log::default()).thread("t").await.unwrap();
    assert_eq!(outcome.interrupts()[0].payload, "node said boom; what now?");
    let snapshot = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.interrupts.len(), 1);
    let outcome = graph
        .thread("t")
        .resume("advice", "carry on")
        .await
        .unwrap();
    assert!(outcome.is_done());
    assert_eq!(outcome.state().lines, ["carry on"]);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_handled_failure_does_not_stop_the_siblings() {
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("a", fails.on_error(note))
        .add_node("b", |_: &Log| line("b"))
        .add_node("j", |_: &Log| line("j"))
        .add_edge(START, "a")
        .add_edge(START, "b")
        .add_edge(["a", "b"], "j")
        .fail_fast();
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["a: boom", "b", "j"]);
}

#[tokio::test]
async fn a_handler_sees_the_item_of_a_worker() {
    async fn picky(item: u32) -> Result<LogUpdate, Boom> {
        if item == 1 {
            Err(Boom("not that one"))
        } else {
            Ok(line(item.to_string()))
        }
    }
    let handle = |_: &Log, failure: &NodeFailure| {
        line(format!(
            "{}: {}",
            failure.item.as_ref().unwrap(),
            failure.error
        ))
    };
    let mut graph = StateGraph::<Log>::new();
    let picky = graph.add_worker("picky", worker(picky).on_error(handle));
    graph.add_map(START, |_: &Log| [0_u32, 1, 2], &picky);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["0", "1: not that one", "2"]);
}

#[tokio::test]
async fn panics_and_failures_of_a_graph_inside_are_handled() {
    async fn panics(_: &Log) {
        panic!("at the disco");
    }
    let graph = single(panics.on_error(note)).compile().unwrap();
    let state = graph.invoke(Log::default()).await.unwrap();
    assert_eq!(state.lines, ["node: panicked: at the disco"]);

    let inner = single(fails).compile().unwrap();
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("outer", inner.on_error(note))
        .add_sequence(&["outer"]);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Log::default())
        .await
        .unwrap();
    assert_eq!(state.lines, ["outer: node `outer/node` failed: boom"]);
}
