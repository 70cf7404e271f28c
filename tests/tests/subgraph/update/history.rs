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
        let bad = then
            .update(wrote("x"))
            .as_node("unknown")
            .await
            .unwrap_err();
        assert!(bad.to_string().contains("`unknown`"), "{bad}");
        assert_eq!(
            graph.thread("t").history().await.unwrap().len(),
            old.len(),
            "nothing is left behind"
        );
        assert_eq!(
            saver
                .administration()
                .unwrap()
                .logs("t")
                .await
                .unwrap()
                .len(),
            2
        );

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
        let state = graph
            .thread("t")
            .answer("no")
            .await
            .unwrap()
            .finished()
            .unwrap();
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
async fn a_graph_inside_a_graph_inside_is_reached_step_by_step() {
    for Opened { saver, .. } in savers().await {
        let graph = nested(&saver);
        graph.thread("t").run(()).await.unwrap();
        let mid = inside(&graph, "mid");
        let deep = mid.subgraph::<Vec2>("inner").unwrap();
        assert_eq!(log_of(&deep).await, ["before", "first"]);
        let error = mid.subgraph::<Vec2>("iner").unwrap_err().to_string();
        assert!(error.contains("on the way `mid/iner`"), "{error}");
        let error = deep.update(wrote("x")).as_node("unknown").await;
        assert!(error.is_err());

        graph.thread("t").resume("own", "mine").await.unwrap();
        graph.thread("t").answer("yes").await.unwrap();
        // Back in the thread, and in each graph on the way.
        let called = before(&graph, "mid").await;
        let mid = inside_at(&graph, called, "mid");
        let history = mid.history().await.unwrap();
        let begun = history.iter().find(|s| s.step == 0).unwrap();
        let deep = mid.at(begun.id).subgraph::<Vec2>("inner").unwrap();
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
        graph.thread("t").proceed().await.unwrap();
        let state = graph.thread("t").answer("again").await.unwrap();
        assert_eq!(
            state.finished().unwrap().log,
            ["before", "first", "outside", "last", "own: again", "after"]
        );
    }
}

#[tokio::test]
async fn a_checkpoint_of_a_graph_inside_is_named_on_the_way_to_one_inside_it() {
    for Opened { saver, .. } in savers().await {
        // `mid` calls `inner` twice, one call after the other.
        let mut mid = StateGraph::<Vec2>::new();
        mid.add_node("inner", inner())
            .add_node("again", asking("again"));
        mid.add_sequence(&["inner", "again"]).add_conditional_edges(
            "again",
            |s: &Vec2| if s.log.len() < 8 { "more" } else { "enough" },
            [("more", "inner"), ("enough", END)],
        );
        let graph = around_mid(compiled(&mid), &saver);
        let thread = graph.thread("t");
        thread.run(()).await.unwrap();
        for answer in ["one", "more", "two"] {
            thread.answer(answer).await.unwrap();
        }
        let mid = inside(&graph, "mid");
        // The second call is the newest.
        let newest = mid.subgraph::<Vec2>("inner").unwrap();
        assert_eq!(log_of(&newest).await.len(), 8);
        let history = mid.history().await.unwrap();
        let first = history
            .iter()
            .rev()
            .find(|s| s.next.iter().any(|n| &**n == "inner"))
            .unwrap();
        let then = mid.at(first.id).subgraph::<Vec2>("inner").unwrap();
        assert_eq!(
            log_of(&then).await,
            ["before", "first", "a: one", "last"],
            "the first call"
        );
        // It is changed in a copy of what is around it, up to that call.
        let checkpoints = thread.history().await.unwrap().len();
        then.update(wrote("outside")).as_node("ask").await.unwrap();
        assert_eq!(thread.history().await.unwrap().len(), checkpoints + 1);
        thread.proceed().await.unwrap();
        assert_eq!(open_questions(&graph).await, ["again"]);
        let state = thread.state_with_subgraphs().await.unwrap().unwrap();
        let mid = state.tasks[0].inside::<Vec2>().unwrap();
        assert_eq!(
            mid.values.log,
            ["before", "first", "a: one", "last", "outside", "last"]
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
        let state = graph
            .thread("t")
            .answer("yes")
            .await
            .unwrap()
            .finished()
            .unwrap();
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
        assert_eq!(
            saver
                .administration()
                .unwrap()
                .logs("t")
                .await
                .unwrap()
                .len(),
            2
        );
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

/// The id of the task that runs `inner` at each checkpoint of the thread that has one, the newest first.
async fn calls(graph: &CompiledStateGraph<Vec2>) -> Vec<(CheckpointId, String)> {
    let history = graph.thread("t").history().await.unwrap();
    let called = history.iter().filter_map(|snapshot| {
        let index = snapshot.tasks.iter().position(|t| &*t.node == "inner")?;
        Some((snapshot.id, snapshot.task_id(index)?))
    });
    called.collect()
}

#[tokio::test]
async fn every_call_of_a_graph_is_found_by_the_id_of_its_task() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        for answer in ["one", "two"] {
            graph.run(()).thread("t").await.unwrap();
            graph.thread("t").answer(answer).await.unwrap();
        }
        // Another branch, which leaves the second call behind.
        let first = calls(&graph).await.pop().unwrap();
        graph.thread("t").at(first.0).fork().await.unwrap();
        graph.thread("t").proceed().await.unwrap();
        let calls = calls(&graph).await;
        assert_eq!(calls.len(), 3);
        let ends: [&[&str]; 3] = [
            &["before", "first"],
            &["a: two", "last"],
            &["first", "a: one", "last"],
        ];
        for ((checkpoint, task), end) in calls.into_iter().zip(ends) {
            let inner = inside(&graph, SubgraphPath::new("inner").task(&*task));
            assert_eq!(inner.outer_checkpoints().await.unwrap(), [checkpoint]);
            let log = log_of(&inner).await;
            assert!(log.join(",").ends_with(&end.join(",")), "{log:?} {end:?}");
            let same = inside_at(&graph, checkpoint, "inner").history().await;
            let ids = |history: Vec<langgraph::checkpoint::Snapshot<Vec2>>| -> Vec<_> {
                history.iter().map(|snapshot| snapshot.id).collect()
            };
            assert_eq!(ids(inner.history().await.unwrap()), ids(same.unwrap()));
            let there = SubgraphPath::new("inner").task(&*task);
            assert_eq!(log_of(&inside_at(&graph, checkpoint, there)).await, log);
        }
        let none = inside(&graph, SubgraphPath::new("inner").task(first.1 + "0"));
        assert!(none.history().await.unwrap().is_empty());
        assert!(none.state().await.unwrap().is_none());
        assert!(none.outer_checkpoints().await.unwrap().is_empty());
        assert!(
            graph
                .thread("t")
                .outer_checkpoints()
                .await
                .unwrap()
                .is_empty()
        );
    }
}

#[tokio::test]
async fn tasks_side_by_side_and_inside_one_another_have_ids() {
    let id = |snapshot: &langgraph::checkpoint::Snapshot<Vec2>, node: &str| -> Vec<String> {
        let tasks = snapshot.tasks.iter().enumerate();
        let of_node = tasks.filter(|(_, task)| &*task.node == node);
        of_node
            .filter_map(|(index, _)| snapshot.task_id(index))
            .collect()
    };
    for Opened { saver, .. } in savers().await {
        let graph = sent(&saver);
        graph.run(()).thread("t").await.unwrap();
        let now = graph.thread("t").state().await.unwrap().unwrap();
        for (index, task) in id(&now, "inner").into_iter().enumerate() {
            let by_id = inside(&graph, SubgraphPath::new("inner").task(task));
            let by_number = inside(&graph, SubgraphPath::new("inner").instance(index));
            assert_eq!(log_of(&by_id).await, log_of(&by_number).await);
        }

        graph.thread("t").delete().await.unwrap();
        let graph = nested(&saver);
        graph.run(()).thread("t").await.unwrap();
        let now = graph.thread("t").state().await.unwrap().unwrap();
        let mid = SubgraphPath::new("mid").task(id(&now, "mid").remove(0));
        let there = inside(&graph, mid.clone()).state().await.unwrap().unwrap();
        let deep = mid.then("inner").task(id(&there, "inner").remove(0));
        let deep = inside(&graph, deep);
        assert_eq!(deep.outer_checkpoints().await.unwrap(), [now.id, there.id]);
        assert_eq!(next_of(&deep).await, ["ask"]);
    }
}
