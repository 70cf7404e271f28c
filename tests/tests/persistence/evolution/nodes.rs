//! Nodes that have another name, or are gone.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::error::CheckpointError;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph_tests::fixtures::diary::{Diary, DiaryUpdate, wrote};

use super::{BOTH, on};

fn writer(line: &'static str) -> impl Fn(&Diary) -> DiaryUpdate + Clone {
    move |_| wrote(line)
}

async fn ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "who?")?;
    Ok(wrote(answer))
}

/// How a graph says that a node has another name.
#[derive(Clone, Copy, Debug)]
enum Rename {
    OnTheNode,
    InTheGraph,
}

const WAYS: [Rename; 2] = [Rename::OnTheNode, Rename::InTheGraph];

/// `ask`, then `last`, under these names.
fn asks_then(first: &str, last: &str, old: Option<(Rename, &str)>) -> StateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node(first, ask);
    match old {
        Some((Rename::OnTheNode, old)) => graph.add_node(last, writer("last").alias(old)),
        Some((Rename::InTheGraph, old)) => graph
            .add_node(last, writer("last"))
            .add_node_alias(old, last),
        None => graph.add_node(last, writer("last")),
    };
    graph.add_sequence(&[first, last]).interrupt_before([last]);
    graph
}

#[tokio::test]
async fn j8_a_paused_thread_whose_next_node_was_renamed_goes_on() {
    for bytes in BOTH {
        for way in WAYS {
            let store = Arc::new(MemorySaver::new());
            let old = on(&asks_then("ask", "publish", None), &store, bytes);
            old.run(()).thread("t").await.unwrap();
            let paused = old.thread("t").resume("name", "Ada").await.unwrap();
            assert!(matches!(paused, Outcome::Interrupted { .. }));

            let new = asks_then("ask", "print", Some((way, "publish")));
            let new = on(&new, &store, bytes);
            let state = new.thread("t").state().await.unwrap().unwrap();
            assert_eq!(*state.next, ["print".into()], "{way:?}");
            let done = new.thread("t").proceed().await.unwrap();
            assert_eq!(done.state().log, ["Ada", "last"], "{way:?}, bytes: {bytes}");
        }
    }
}

#[tokio::test]
async fn j8_a_question_of_a_renamed_node_is_answered() {
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        on(&asks_then("ask", "last", None), &store, bytes)
            .run(())
            .thread("t")
            .await
            .unwrap();
        let mut new = asks_then("question", "last", None);
        new.add_node_alias("ask", "question");
        let new = on(&new, &store, bytes);
        let paused = new.thread("t").resume("name", "Ada").await.unwrap();
        assert_eq!(paused.state().log, ["Ada"]);
    }
}

async fn shout(line: String) -> DiaryUpdate {
    wrote(line.to_uppercase())
}

fn sends(worker: &'static str) -> StateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("plan", writer("plan"));
    graph.add_worker(worker, shout);
    graph
        .add_edge(START, "plan")
        .add_router("plan", move |_: &Diary| {
            let lines = ["one", "two"];
            lines.map(|line| Send::to(worker, line.to_owned())).to_vec()
        })
        .add_edge(worker, END)
        .interrupt_before([worker]);
    graph
}

#[tokio::test]
async fn j8_a_pending_send_to_a_renamed_worker_arrives() {
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        let old = on(&sends("shout"), &store, bytes);
        old.run(()).thread("t").await.unwrap();
        let mut new = sends("cry");
        new.add_node_alias("shout", "cry");
        let done = on(&new, &store, bytes).thread("t").proceed().await.unwrap();
        assert_eq!(done.state().log, ["plan", "ONE", "TWO"], "bytes: {bytes}");
    }
}

/// `decide` has finished, and where it leads waits for its sibling's answer.
fn decided(goto: bool, first: &'static str, second: &'static str) -> StateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("ask", ask);
    if goto {
        graph.add_node("decide", move |_: &Diary| {
            Command::update(wrote("decided")).and_goto(second)
        });
    } else {
        graph
            .add_node("decide", writer("decided"))
            .add_conditional_edges(
                "decide",
                |_: &Diary| "yes",
                // The order is that of the places, which are not what is meant.
                if first < second {
                    [("no", first), ("yes", second)]
                } else {
                    [("yes", second), ("no", first)]
                },
            );
    }
    graph
        .add_node(first, writer("first"))
        .add_node(second, writer("second"))
        .add_edge(START, "ask")
        .add_edge(START, "decide");
    graph
}

#[tokio::test]
async fn j8_where_a_finished_task_leads_is_kept_by_name() {
    for bytes in BOTH {
        for goto in [true, false] {
            let store = Arc::new(MemorySaver::new());
            let old = on(&decided(goto, "b", "c"), &store, bytes);
            let paused = old.run(()).thread("t").await.unwrap();
            assert_eq!(paused.interrupts().len(), 1);

            let mut new = decided(goto, "b", "a");
            new.add_node_alias("c", "a");
            let done = on(&new, &store, bytes);
            let done = done.thread("t").resume("name", "Ada").await.unwrap();
            let log = &done.state().log;
            assert_eq!(
                *log,
                ["Ada", "decided", "second"],
                "goto: {goto}, bytes: {bytes}"
            );
        }
    }
}

fn joins(quick: &str, target: &str) -> StateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node(quick, writer("quick"))
        .add_node("slow", writer("slow"))
        .add_node("ask", ask)
        .add_node(target, writer("both"))
        .add_edge(START, quick)
        .add_edge(START, "slow")
        .add_edge("slow", "ask")
        .add_edge([quick, "ask"], target)
        .add_edge(target, END);
    graph
}

#[tokio::test]
async fn j8_a_half_filled_join_of_renamed_nodes_is_filled() {
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        let old = on(&joins("quick", "both"), &store, bytes);
        old.run(()).thread("t").await.unwrap();

        let mut new = joins("fast", "all");
        new.add_node_alias("quick", "fast")
            .add_node_alias("both", "all");
        let new = on(&new, &store, bytes);
        let done = new.thread("t").resume("name", "Ada").await.unwrap();
        assert_eq!(done.state().log, ["quick", "slow", "Ada", "both"]);
    }
}

fn outer(node: &str, inner_node: &str) -> StateGraph<Diary> {
    let mut inner = StateGraph::<Diary>::new();
    inner
        .add_node("first", writer("first"))
        .add_node(inner_node, ask)
        .add_sequence(&["first", inner_node]);
    if inner_node != "ask" {
        inner.add_node_alias("ask", inner_node);
    }
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node(node, inner.compile().unwrap())
        .add_sequence(&[node]);
    graph
}

#[tokio::test]
async fn j8_a_graph_inside_a_renamed_node_goes_on_where_it_was() {
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        let old = on(&outer("team", "ask"), &store, bytes);
        old.run(()).thread("t").await.unwrap();

        let mut new = outer("crew", "question");
        new.add_node_alias("team", "crew");
        let new = on(&new, &store, bytes);
        let done = new.thread("t").resume("name", "Ada").await.unwrap();
        // `first` did not run again.
        assert_eq!(done.state().log, ["first", "Ada"], "bytes: {bytes}");
    }
}

fn defers(last: &str) -> StateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("quick", writer("quick"))
        .add_node("ask", ask)
        .add_node(last, writer("last").defer())
        .add_edge(START, "quick")
        .add_edge(START, "ask")
        .add_edge("quick", last)
        .add_edge("ask", "slow")
        .add_node("slow", writer("slow"))
        .add_edge("slow", last)
        .interrupt_before(["slow"]);
    graph
}

#[tokio::test]
async fn j8_a_deferred_node_that_was_renamed_or_removed() {
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        let old = on(&defers("last"), &store, bytes);
        old.run(()).thread("t").await.unwrap();
        old.thread("t").resume("name", "Ada").await.unwrap();

        let gone = on(&defers("end"), &store, bytes);
        let error = gone.thread("t").proceed().await.unwrap_err();
        assert!(error.to_string().contains("node `last`"), "{error}");

        let mut new = defers("end");
        new.add_node_alias("last", "end");
        let done = on(&new, &store, bytes).thread("t").proceed().await.unwrap();
        assert_eq!(done.state().log, ["quick", "Ada", "slow", "last"]);
    }
}

#[tokio::test]
async fn j8_a_pending_node_that_is_gone_is_named() {
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        let mut old = asks_then("ask", "publish", None);
        old.set_name("desk");
        let old = on(&old, &store, bytes);
        old.run(()).thread("t").await.unwrap();
        old.thread("t").resume("name", "Ada").await.unwrap();
        let fingerprint = old.topology().fingerprint();

        let mut new = asks_then("ask", "print", None);
        new.set_name("desk");
        let new = on(&new, &store, bytes);
        let error = new.thread("t").proceed().await.unwrap_err();
        let AgentError::Checkpoint(CheckpointError::UnknownNode {
            thread,
            node,
            graph,
            stored,
            now,
        }) = &error
        else {
            panic!("{error}");
        };
        assert_eq!((&**thread, &**node, &**graph), ("t", "publish", "desk"));
        assert_eq!((*stored, *now), (fingerprint, new.topology().fingerprint()));
        let text = error.to_string();
        assert!(
            text.contains(
                "thread `t` waits for node `publish`, which graph `desk` does not have: the \
                 graph was changed since"
            ),
            "{text}"
        );
    }
}

#[tokio::test]
async fn j8_a_thread_whose_next_node_is_gone_is_read_and_moved_on() {
    for bytes in BOTH {
        let paused = async || {
            let store = Arc::new(MemorySaver::new());
            let old = on(&asks_then("ask", "publish", None), &store, bytes);
            old.run(()).thread("t").await.unwrap();
            old.thread("t").resume("name", "Ada").await.unwrap();
            let mut new = StateGraph::<Diary>::new();
            new.add_node("ask", ask)
                .add_node("print", writer("print"))
                .add_sequence(&["ask", "print"]);
            on(&new, &store, bytes)
        };
        let graph = paused().await;
        let state = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(state.values.log, ["Ada"]);
        assert_eq!(*state.next, ["publish".into()]);
        assert_eq!(graph.thread("t").history().await.unwrap().len(), 3);

        // Written as the previous node, the update continues after it.
        let update = graph.thread("t").update(wrote("moved"));
        update.as_node("ask").await.unwrap();
        let done = graph.thread("t").proceed().await.unwrap();
        assert_eq!(done.state().log, ["Ada", "moved", "print"]);

        // Nothing is pending any more.
        let graph = paused().await;
        graph.thread("t").clear_pending().await.unwrap();
        let state = graph.thread("t").state().await.unwrap().unwrap();
        assert!(state.next.is_empty());
        assert!(graph.thread("t").proceed().await.is_ok());

        // A new input drops what was pending.
        let graph = paused().await;
        graph.run(wrote("again")).thread("t").await.unwrap();
        let done = graph.thread("t").resume("name", "Bea").await.unwrap();
        assert_eq!(done.state().log, ["Ada", "again", "Bea", "print"]);
    }
}

#[test]
fn an_alias_leads_to_one_node() {
    let reported = |change: &dyn Fn(&mut StateGraph<Diary>)| {
        let mut graph = StateGraph::<Diary>::new();
        graph
            .add_node("plan", writer("plan").alias("idea"))
            .add_node("print", writer("print"))
            .add_sequence(&["plan", "print"]);
        change(&mut graph);
        let errors = graph.compile().map(drop).unwrap_err();
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        errors.join("; ")
    };
    assert_eq!(
        reported(&|graph| {
            graph.add_node_alias("publish", "prin");
        }),
        "`publish` is to be an alias of `prin`, which is no node; did you mean `print`?"
    );
    assert_eq!(
        reported(&|graph| {
            graph.add_node_alias("plan", "print");
        }),
        "`plan` is to be an alias of `print`, and stands for another node already; a name leads \
         to one node"
    );
    assert_eq!(
        reported(&|graph| {
            graph.add_node_alias("idea", "print");
        }),
        "`idea` is to be an alias of `print`, and stands for another node already; a name leads \
         to one node"
    );
    // Twice the same is no mistake.
    let mut graph = asks_then("ask", "print", Some((Rename::OnTheNode, "publish")));
    assert!(graph.add_node_alias("publish", "print").compile().is_ok());
}

#[tokio::test]
async fn a_half_filled_join_goes_on_when_its_sources_are_declared_in_another_order() {
    let graph = |first: &str, second: &str| {
        let mut graph = StateGraph::<Diary>::new();
        graph.add_node(first, writer(first_letter(first)));
        graph.add_node(second, writer(first_letter(second)));
        graph
            .add_node("slow", writer("s"))
            .add_node("sum", writer("sum"));
        graph.add_edge(START, "left").add_edge(START, "slow");
        graph.add_edge("slow", "right");
        graph.add_edge(["left", "right"], "sum");
        graph
    };
    for bytes in BOTH {
        let store = Arc::new(MemorySaver::new());
        let old = on(&graph("left", "right"), &store, bytes);
        old.run(())
            .thread("t")
            .interrupt_before(["right"])
            .await
            .unwrap();
        let new = on(&graph("right", "left"), &store, bytes);
        let done = new.thread("t").proceed().await.unwrap();
        assert_eq!(done.state().log.last().map(String::as_str), Some("sum"));
    }
}

fn first_letter(name: &str) -> &'static str {
    if name == "left" { "l" } else { "r" }
}
