//! At older checkpoints of the thread.

use super::*;

async fn before(
    graph: &CompiledStateGraph<Vec2>,
    node: &str,
) -> langgraph::checkpoint::CheckpointId {
    let history = graph.thread("t").history().await.unwrap();
    let next = |s: &&langgraph::checkpoint::Snapshot<Vec2>| s.next.iter().any(|n| &**n == node);
    history.iter().rev().find(next).unwrap().id
}

#[tokio::test]
async fn a_call_that_has_ended_is_shown_and_is_changed_in_a_copy() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").answer("yes").await.unwrap();
        let inner = inside(&graph, "inner");
        // The newest call.
        assert_eq!(log_of(&inner).await, ["before", "first", "a: yes", "last"]);
        let error = inner.update(wrote("x")).await.unwrap_err();
        assert!(
            matches!(error, AgentError::Subgraph(SubgraphError::Ended { .. })),
            "{error}"
        );

        let old = graph.thread("t").history().await.unwrap();
        let called = before(&graph, "inner").await;
        let then = inside_at(&graph, called, "inner");
        let first = then.history().await.unwrap();
        let asked = first
            .iter()
            .find(|s| s.next.iter().any(|n| &**n == "ask"))
            .unwrap();
        let bad = then.update(wrote("x")).as_node("nobody").await.unwrap_err();
        assert!(bad.to_string().contains("`nobody`"), "{bad}");
        assert_eq!(
            graph.thread("t").history().await.unwrap().len(),
            old.len(),
            "nothing is left behind"
        );
        assert_eq!(saver.logs("t").await.unwrap().len(), 2);

        then.at(asked.id)
            .update(wrote("outside"))
            .as_node("ask")
            .await
            .unwrap();
        let head = graph.thread("t").history().await.unwrap().remove(0);
        assert_eq!((head.source, head.parent), (Source::Fork, Some(called)));
        assert_eq!(log_of(&inner).await, ["before", "first", "outside"]);
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "first", "outside", "last", "after"]);

        // What came after the old checkpoint is as it was.
        let kept = graph
            .thread("t")
            .at(old[0].id)
            .state()
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            kept.values.log,
            ["before", "first", "a: yes", "last", "after"]
        );
        assert_eq!(log_of(&then).await, ["before", "first", "a: yes", "last"]);
    }
}

#[tokio::test]
async fn a_replay_inside_an_older_checkpoint_runs_from_there() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").answer("yes").await.unwrap();
        let then = inside_at(&graph, before(&graph, "inner").await, "inner");
        let history = then.history().await.unwrap();
        let asked = history
            .iter()
            .find(|s| s.next.iter().any(|n| &**n == "ask"))
            .unwrap();
        then.at(asked.id).fork().await.unwrap();
        let outcome = graph.thread("t").proceed().await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1, "without the old answer");
        let state = graph.thread("t").answer("no").await.unwrap().into_state();
        assert_eq!(state.log, ["before", "first", "a: no", "last", "after"]);
    }
}

#[tokio::test]
async fn a_change_two_graphs_deep_copies_what_is_in_between() {
    for Opened { saver, .. } in savers().await {
        let graph = nested(&saver);
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").resume("own", "mine").await.unwrap();
        graph.thread("t").answer("yes").await.unwrap();
        let called = before(&graph, "mid").await;
        let deep = inside_at(&graph, called, ["mid", "inner"]);
        let history = deep.history().await.unwrap();
        let asked = history
            .iter()
            .find(|s| s.next.iter().any(|n| &**n == "ask"))
            .unwrap();
        deep.at(asked.id)
            .update(wrote("outside"))
            .as_node("ask")
            .await
            .unwrap();
        // The tasks beside it all run again: the other question is open, without its answer.
        let outcome = graph.thread("t").proceed().await.unwrap();
        let keys: Vec<_> = outcome
            .interrupts()
            .iter()
            .map(|i| i.key.as_str())
            .collect();
        assert_eq!(keys, ["own"]);
        let state = graph
            .thread("t")
            .answer("again")
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(
            state.log,
            ["before", "first", "outside", "last", "own: again", "after"]
        );
    }
}

#[tokio::test]
async fn a_copied_thread_has_graphs_of_its_own() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").copy("copy").await.unwrap();
        let copy = graph.thread("copy").subgraph::<Vec2>("inner").unwrap();
        copy.update(wrote("outside")).as_node("ask").await.unwrap();
        assert_eq!(log_of(&inside(&graph, "inner")).await, ["before", "first"]);
        assert_eq!(open_questions(&graph).await, ["a"]);
        let state = graph
            .thread("copy")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "first", "outside", "last", "after"]);
        graph.thread("copy").delete().await.unwrap();
        assert!(copy.state().await.unwrap().is_none());
        let state = graph.thread("t").answer("yes").await.unwrap().into_state();
        assert_eq!(state.log, ["before", "first", "a: yes", "last", "after"]);
    }
}

#[tokio::test]
async fn what_stays_of_a_pruned_thread_keeps_its_graphs() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").answer("yes").await.unwrap();
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").prune(Keep::Newest(1)).await.unwrap();
        assert_eq!(saver.logs("t").await.unwrap().len(), 2);
        let inner = inside(&graph, "inner");
        inner.update(wrote("outside")).as_node("ask").await.unwrap();
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(
            state.log[5..],
            ["before", "first", "outside", "last", "after"]
        );
    }
}
