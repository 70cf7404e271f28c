//! At older checkpoints of the thread.

use super::*;

async fn before(
    graph: &CompiledStateGraph<Vec2>,
    node: &str,
) -> langgraph::checkpoint::CheckpointId {
    let history = graph.history("t").await.unwrap();
    let next = |s: &&langgraph::checkpoint::Snapshot<Vec2>| s.next.iter().any(|n| &**n == node);
    history.iter().rev().find(next).unwrap().id
}

#[tokio::test]
async fn a_call_that_has_ended_is_shown_and_is_changed_in_a_copy() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.answer("t", "yes").await.unwrap();
        let inner = inside(&graph, "inner");
        // The newest call.
        assert_eq!(log_of(&inner).await, ["before", "first", "a: yes", "last"]);
        let error = inner.update_state(wrote("x")).await.unwrap_err();
        assert!(
            matches!(error, AgentError::Subgraph(SubgraphError::Ended { .. })),
            "{error}"
        );

        let old = graph.history("t").await.unwrap();
        let called = before(&graph, "inner").await;
        let then = inner.clone().at(called);
        let first = then.history().await.unwrap();
        let asked = first
            .iter()
            .find(|s| s.next.iter().any(|n| &**n == "ask"))
            .unwrap();
        let bad = then
            .update_state(wrote("x"))
            .as_node("nobody")
            .await
            .unwrap_err();
        assert!(bad.to_string().contains("`nobody`"), "{bad}");
        assert_eq!(
            graph.history("t").await.unwrap().len(),
            old.len(),
            "nothing is left behind"
        );
        assert_eq!(saver.logs("t").await.unwrap().len(), 2);

        then.update_state(wrote("outside"))
            .at(asked.id)
            .as_node("ask")
            .await
            .unwrap();
        let head = graph.history("t").await.unwrap().remove(0);
        assert_eq!((head.source, head.parent), (Source::Fork, Some(called)));
        assert_eq!(log_of(&inner).await, ["before", "first", "outside"]);
        let state = graph.proceed("t").await.unwrap().finished().unwrap();
        assert_eq!(state.log, ["before", "first", "outside", "last", "after"]);

        // What came after the old checkpoint is as it was.
        let kept = graph.get_state_at("t", old[0].id).await.unwrap().unwrap();
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
        graph.answer("t", "yes").await.unwrap();
        let then = inside(&graph, "inner").at(before(&graph, "inner").await);
        let history = then.history().await.unwrap();
        let asked = history
            .iter()
            .find(|s| s.next.iter().any(|n| &**n == "ask"))
            .unwrap();
        then.copy_checkpoint().at(asked.id).await.unwrap();
        let outcome = graph.proceed("t").await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1, "without the old answer");
        let state = graph.answer("t", "no").await.unwrap().into_state();
        assert_eq!(state.log, ["before", "first", "a: no", "last", "after"]);
    }
}

#[tokio::test]
async fn a_change_two_graphs_deep_copies_what_is_in_between() {
    for Opened { saver, .. } in savers().await {
        let graph = nested(&saver);
        graph.run(()).thread("t").await.unwrap();
        graph.resume("t", "own", "mine").await.unwrap();
        graph.answer("t", "yes").await.unwrap();
        let called = before(&graph, "mid").await;
        let deep = inside(&graph, ["mid", "inner"]).at(called);
        let history = deep.history().await.unwrap();
        let asked = history
            .iter()
            .find(|s| s.next.iter().any(|n| &**n == "ask"))
            .unwrap();
        deep.update_state(wrote("outside"))
            .at(asked.id)
            .as_node("ask")
            .await
            .unwrap();
        // The tasks beside it all run again: the other question is open, without its answer.
        let outcome = graph.proceed("t").await.unwrap();
        let keys: Vec<_> = outcome
            .interrupts()
            .iter()
            .map(|i| i.key.as_str())
            .collect();
        assert_eq!(keys, ["own"]);
        let state = graph
            .answer("t", "again")
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
        graph.copy_thread("t", "copy").await.unwrap();
        let copy = graph.subgraph::<Vec2>("copy", "inner").unwrap();
        copy.update_state(wrote("outside"))
            .as_node("ask")
            .await
            .unwrap();
        assert_eq!(log_of(&inside(&graph, "inner")).await, ["before", "first"]);
        assert_eq!(open_questions(&graph).await, ["a"]);
        let state = graph.proceed("copy").await.unwrap().finished().unwrap();
        assert_eq!(state.log, ["before", "first", "outside", "last", "after"]);
        graph.delete_thread("copy").await.unwrap();
        assert!(copy.get_state().await.unwrap().is_none());
        let state = graph.answer("t", "yes").await.unwrap().into_state();
        assert_eq!(state.log, ["before", "first", "a: yes", "last", "after"]);
    }
}

#[tokio::test]
async fn what_stays_of_a_pruned_thread_keeps_its_graphs() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.answer("t", "yes").await.unwrap();
        graph.run(()).thread("t").await.unwrap();
        graph.prune("t", Keep::Newest(1)).await.unwrap();
        assert_eq!(saver.logs("t").await.unwrap().len(), 2);
        let inner = inside(&graph, "inner");
        inner
            .update_state(wrote("outside"))
            .as_node("ask")
            .await
            .unwrap();
        let state = graph.proceed("t").await.unwrap().finished().unwrap();
        assert_eq!(
            state.log[5..],
            ["before", "first", "outside", "last", "after"]
        );
    }
}
