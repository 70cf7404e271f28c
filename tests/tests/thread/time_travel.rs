//! Looking back over a thread, changing it, and going on from where it was.

use std::sync::Arc;

use langgraph::checkpoint::{CheckpointId, MemorySaver, Source};
use langgraph::prelude::*;

use langgraph_tests::fixtures::notes::{Vec2, Vec2Update, asking, chain, note};

#[tokio::test]
async fn e4_three_nodes_give_five_linked_checkpoints() {
    let graph = chain();
    graph.run(10).thread("t").await.unwrap();
    let history = graph.thread("t").history().await.unwrap();
    let shown: Vec<_> = history
        .iter()
        .map(|s| {
            (
                s.step,
                s.source,
                s.values,
                s.next.iter().map(ToString::to_string).collect::<Vec<_>>(),
            )
        })
        .collect();
    let next = |name: &str| vec![name.to_owned()];
    assert_eq!(
        shown,
        [
            (3, Source::Loop, 13, vec![]),
            (2, Source::Loop, 12, next("c")),
            (1, Source::Loop, 11, next("b")),
            (0, Source::Loop, 10, next("a")),
            (-1, Source::Input, 0, next(START)),
        ]
    );
    for pair in history.windows(2) {
        assert_eq!(pair[0].parent, Some(pair[1].id));
    }
    assert_eq!(history[4].parent, None);
}

#[tokio::test]
async fn e6_an_update_from_outside_goes_through_reducers_and_says_what_comes_next() {
    let mut graph = StateGraph::<Vec2>::new();
    for name in ["a", "b", "c"] {
        graph.add_node(name, note(name));
    }
    graph.add_sequence(&["a", "b", "c"]).interrupt_before(["b"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    graph.run(()).thread("t").await.unwrap();
    let update = || Vec2Update::default().log(vec!["outside".to_owned()]);
    graph.thread("t").update(update()).await.unwrap();
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(
        (state.values.log.clone(), &*state.next[0]),
        (vec!["a".to_owned(), "outside".to_owned()], "b")
    );
    graph
        .thread("t")
        .update(update())
        .as_node("b")
        .await
        .unwrap();
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.log, ["a", "outside", "outside", "c"]);
    let nowhere = graph
        .thread("t")
        .update(update())
        .as_node("d")
        .await
        .unwrap_err();
    assert!(nowhere.to_string().contains("`d`"), "{nowhere}");
}

#[tokio::test]
async fn e5_a_run_from_an_older_checkpoint_is_a_fork_and_the_history_stays() {
    let graph = chain();
    graph.run(0).thread("t").await.unwrap();
    let history = graph.thread("t").history().await.unwrap();
    let before_b = history
        .iter()
        .find(|s| s.next.first().is_some_and(|n| &**n == "b"))
        .unwrap();
    let forked = graph.thread("t").at(before_b.id).update(10).await.unwrap();
    assert_eq!(
        graph.thread("t").proceed().at(forked).await.unwrap(),
        Outcome::done(12)
    );
    assert_eq!(
        graph.thread("t").proceed().at(before_b.id).await.unwrap(),
        Outcome::done(3)
    );
    let after = graph.thread("t").history().await.unwrap();
    // Three of the update and its run, three of the copy and its run.
    assert_eq!(after.len(), history.len() + 6);
    assert_eq!(
        after.iter().rev().take(5).map(|s| s.id).collect::<Vec<_>>(),
        history.iter().rev().map(|s| s.id).collect::<Vec<_>>()
    );
    assert_eq!(after[2].source, Source::Fork);
    assert_eq!(after[2].parent, Some(before_b.id));
}

/// Returns a graph whose thread `t` has waited for answers at `ask`, and at `beside`, which a command started;
/// and the checkpoint.
async fn asked_beside() -> (CompiledStateGraph<Vec2>, CheckpointId) {
    let mut graph = StateGraph::<Vec2>::new();
    graph
        .add_node("ask", asking("ask"))
        .add_node("other", note("other"))
        .add_node("beside", asking("beside"));
    graph.add_sequence(&["ask"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(()).await.unwrap();
    let goto = Command::goto("beside");
    let paused = thread.proceed().command(goto).await.unwrap();
    assert_eq!(paused.interrupts().len(), 2);
    let asked = thread.state().await.unwrap().unwrap().id;
    let answers = [("ask", "Ada"), ("beside", "Bob")];
    let done = thread.resume_all(answers).await.unwrap();
    assert_eq!(done.state().log, ["ask: Ada", "beside: Bob"]);
    (graph, asked)
}

#[tokio::test]
async fn a_fork_takes_an_answer_to_a_task_that_a_command_started() {
    let (graph, asked) = asked_beside().await;
    let then = graph.thread("t").at(asked);
    let answers = [("beside", "Kim"), ("ask", "Eve")];
    let both = then.resume_all(answers).await.unwrap();
    assert_eq!(both.state().log, ["ask: Eve", "beside: Kim"]);

    let goto = Command::goto("other");
    let with_other = then.resume_all(answers).command(goto).await.unwrap();
    let log = &with_other.state().log;
    assert_eq!(log, &["ask: Eve", "other", "beside: Kim"]);
}

#[tokio::test]
async fn a_fork_leaves_out_a_task_that_a_command_started_and_no_answer_is_for() {
    let (graph, asked) = asked_beside().await;
    let then = graph.thread("t").at(asked);
    let one = then.resume("ask", "Eve").await.unwrap();
    assert_eq!(one.state().log, ["ask: Eve"]);
    let none = then.fork().await.unwrap();
    let forked = graph.thread("t").at(none).state().await.unwrap().unwrap();
    assert_eq!(
        forked.next.iter().map(|n| &**n).collect::<Vec<_>>(),
        ["ask"]
    );
}
