//! Looking back over a thread, changing it, and going on from where it was.

use std::sync::Arc;

use langgraph::checkpoint::{MemorySaver, Source};
use langgraph::prelude::*;

use langgraph_tests::fixtures::notes::{Vec2, Vec2Update, chain, note};

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
