//! Graphs that are kept from call to call.

use super::*;

fn expert(graph: CompiledStateGraph<Vec2>) -> CompiledStateGraph<Vec2> {
    graph.persistence(Persistence::PerThread("expert".to_owned()))
}

/// An expert that shows what it remembers.
fn telling(saver: &Arc<dyn Checkpointer>) -> CompiledStateGraph<Vec2> {
    let mut inner = StateGraph::<Vec2>::new();
    inner
        .add_node("look", note("looked"))
        .add_sequence(&["look"]);
    let show = |memory: Vec2| wrote(&memory.log.join("+"));
    let expert = expert(compiled(&inner)).mapped(|_: &Vec2| wrote("asked"), show);
    let mut graph = StateGraph::<Vec2>::new();
    graph.add_node("expert", expert).add_sequence(&["expert"]);
    compiled(&graph).checkpointer(Arc::clone(saver))
}

#[tokio::test]
async fn what_it_remembers_is_seen_changed_shortened_and_forgotten() {
    for Opened { saver, .. } in savers().await {
        let graph = telling(&saver);
        let expert = inside(&graph, "expert");
        assert!(expert.state().await.unwrap().is_none());
        assert!(expert.history().await.unwrap().is_empty());
        graph.run(()).thread("t").await.unwrap();
        assert_eq!(log_of(&expert).await, ["asked", "looked"]);
        // Between two calls.
        expert.update(wrote("noted")).await.unwrap();
        let state = graph.run(()).thread("t").await.unwrap().finished().unwrap();
        assert_eq!(state.log[1], "asked+looked+noted+asked+looked");
        assert_eq!(expert.history().await.unwrap().len(), 3 + 1 + 3);

        assert_eq!(expert.prune(Keep::Newest(2)).await.unwrap(), 5);
        assert_eq!(
            log_of(&expert).await.join("+"),
            "asked+looked+noted+asked+looked"
        );
        expert.delete().await.unwrap();
        assert!(expert.state().await.unwrap().is_none());
        let state = graph.run(()).thread("t").await.unwrap().finished().unwrap();
        assert_eq!(state.log[2], "asked+looked");
    }
}

#[tokio::test]
async fn it_is_updated_before_its_first_call() {
    for Opened { saver, .. } in savers().await {
        let graph = telling(&saver);
        inside(&graph, "expert")
            .update(wrote("noted"))
            .await
            .unwrap();
        let state = graph.run(()).thread("t").await.unwrap().finished().unwrap();
        assert_eq!(state.log, ["noted+asked+looked"]);
    }
}

#[tokio::test]
async fn a_call_that_waits_goes_on_with_a_change_and_stays_whole_when_shortened() {
    for Opened { saver, .. } in savers().await {
        let graph = around(expert(inner()), &saver);
        graph.run(()).thread("t").await.unwrap();
        graph.thread("t").answer("yes").await.unwrap();
        graph.run(()).thread("t").await.unwrap();
        let expert = inside(&graph, "inner");
        let calls = expert.history().await.unwrap();
        expert
            .update(wrote("outside"))
            .as_node("ask")
            .await
            .unwrap();
        assert!(open_questions(&graph).await.is_empty());
        // The first call goes; the one that is pending has its input, two supersteps, a change.
        assert_eq!(
            expert.prune(Keep::Newest(1)).await.unwrap(),
            calls.len() - 3
        );
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        // Over the same state it returns what it changed in this call.
        assert_eq!(
            state.log[5..],
            ["before", "first", "outside", "last", "after"]
        );
    }
}

#[tokio::test]
async fn it_is_forgotten_while_it_waits_and_begins_anew() {
    for Opened { saver, .. } in savers().await {
        let graph = around(expert(inner()), &saver);
        graph.run(()).thread("t").await.unwrap();
        inside(&graph, "inner").delete().await.unwrap();
        assert!(open_questions(&graph).await.is_empty());
        let outcome = graph.thread("t").proceed().await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1);
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
async fn a_graph_inside_it_is_reached() {
    for Opened { saver, .. } in savers().await {
        let mut mid = StateGraph::<Vec2>::new();
        mid.add_node("inner", inner()).add_sequence(&["inner"]);
        let graph = around_mid(expert(compiled(&mid)), &saver);
        graph.run(()).thread("t").await.unwrap();
        let deep = inside(&graph, ["mid", "inner"]);
        deep.update(wrote("outside")).as_node("ask").await.unwrap();
        assert!(open_questions(&graph).await.is_empty());
        let state = graph
            .thread("t")
            .proceed()
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(state.log, ["before", "first", "outside", "last", "after"]);
        let error = deep.update(wrote("late")).await.unwrap_err();
        assert!(matches!(
            error,
            AgentError::Subgraph(SubgraphError::Ended { .. })
        ));
    }
}

#[tokio::test]
async fn no_checkpoint_of_the_thread_says_where_it_stood() {
    for Opened { saver, .. } in savers().await {
        let graph = telling(&saver);
        graph.run(()).thread("t").await.unwrap();
        let head = graph.thread("t").state().await.unwrap().unwrap().id;
        let expert = inside_at(&graph, head, "expert");
        let error = expert.state().await.unwrap_err();
        assert!(
            matches!(
                error,
                AgentError::Subgraph(SubgraphError::NotOfACheckpoint { .. })
            ),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_graph_inside_an_older_call_of_it_is_shown_but_not_changed() {
    for Opened { saver, .. } in savers().await {
        let mut mid = StateGraph::<Vec2>::new();
        mid.add_node("inner", inner()).add_sequence(&["inner"]);
        let graph = around_mid(expert(compiled(&mid)), &saver);
        let thread = graph.thread("t");
        thread.run(()).await.unwrap();
        let mid = inside(&graph, "mid");
        let first = mid.state().await.unwrap().unwrap().id;
        thread.answer("yes").await.unwrap();
        thread.run(()).await.unwrap();

        let then = mid.at(first).subgraph::<Vec2>("inner").unwrap();
        let log = log_of(&then).await;
        assert_eq!(log[log.len() - 2..], ["a: yes", "last"]);
        let logs = saver.administration().unwrap().logs("t").await.unwrap();
        let error = then.update(wrote("x")).await.unwrap_err();
        assert!(
            matches!(error, AgentError::Subgraph(SubgraphError::Ended { .. })),
            "{error}"
        );
        assert_eq!(
            saver.administration().unwrap().logs("t").await.unwrap(),
            logs
        );
    }
}

#[tokio::test]
async fn it_is_kept_under_every_durability() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for Opened { saver, .. } in savers().await {
            let graph = telling(&saver);
            let run = || graph.run(()).thread("t").durability(durability);
            run().await.unwrap();
            let expert = inside(&graph, "expert");
            assert_eq!(log_of(&expert).await, ["asked", "looked"]);
            expert.update(wrote("noted")).await.unwrap();
            let state = run().await.unwrap().finished().unwrap();
            assert_eq!(state.log[1], "asked+looked+noted+asked+looked");
            assert_eq!(log_of(&expert).await.len(), 5, "{durability:?}");

            let graph = around(self::expert(inner()), &saver);
            let thread = graph.thread("u");
            let run = || graph.run(()).thread("u").durability(durability);
            let inside = thread.subgraph::<Vec2>("inner").unwrap();
            for (calls, remembered, stored) in [(1, 4, 5), (2, 13, 10)] {
                assert_eq!(run().await.unwrap().interrupts().len(), 1);
                let now = inside.state().await.unwrap().unwrap();
                assert_eq!(now.values.log.last().unwrap(), "first");
                assert_eq!(now.interrupts.len(), 1, "{durability:?}");
                let state = thread.answer("yes").durability(durability).await.unwrap();
                assert_eq!(state.finished().unwrap().log.len(), calls * 5);
                // Its input is the state around it, which it adds to what it remembers.
                assert_eq!(log_of(&inside).await.len(), remembered, "{durability:?}");
                assert_eq!(
                    inside.history().await.unwrap().len(),
                    stored,
                    "{durability:?}"
                );
            }
        }
    }
}
