//! What is no graph inside.

use super::*;

fn refusal<T: State>(graph: &CompiledStateGraph<Vec2>, path: impl Into<SubgraphPath>) -> String {
    graph
        .thread("t")
        .subgraph::<T>(path)
        .unwrap_err()
        .to_string()
}

#[tokio::test]
async fn a_path_that_leads_to_no_graph_is_refused_by_name() {
    let saver = open_saver("memory").await.unwrap().saver;
    let mut mid = StateGraph::<Vec2>::new();
    mid.add_node("inner", inner().persistence(Persistence::None));
    mid.add_sequence(&["inner"]);
    let graph = around_mid(compiled(&mid), &saver);
    assert_eq!(
        refusal::<Vec2>(&graph, ["mid", "iner"]),
        "there is no node `iner` in graph `LangGraph` on the way `mid/iner`; it has `inner`"
    );
    assert!(refusal::<Vec2>(&graph, "before").starts_with("node `before` is no graph"));
    assert!(refusal::<Vec2>(&graph, ["mid", "inner"]).contains("`mid/inner` keeps nothing"));
    assert!(refusal::<Vec2>(&graph, [""; 0]).contains("is empty"));
    let wrong = refusal::<i64>(&graph, "mid");
    assert!(
        wrong.contains("is over `") && wrong.ends_with("Vec2`, not over `i64`"),
        "{wrong}"
    );
    let error = graph
        .thread("t")
        .subgraph::<Vec2>(START)
        .unwrap_err()
        .to_string();
    assert!(error.contains("there is no node"), "{error}");
}

#[tokio::test]
async fn a_graph_without_a_checkpointer_has_nothing_inside() {
    let mut graph = StateGraph::<Vec2>::new();
    graph.add_node("inner", inner()).add_sequence(&["inner"]);
    let error = compiled(&graph)
        .thread("t")
        .subgraph::<Vec2>("inner")
        .unwrap()
        .state()
        .await
        .unwrap_err();
    assert!(matches!(
        error,
        AgentError::Checkpoint(CheckpointError::NoCheckpointer(_))
    ));
}

#[tokio::test]
async fn a_graph_that_has_not_started_cannot_be_changed() {
    for Opened { saver, .. } in savers().await {
        let graph = around(inner(), &saver);
        let inner = inside(&graph, "inner");
        assert!(inner.state().await.unwrap().is_none());
        let before = ["inner"];
        graph
            .run(())
            .thread("t")
            .interrupt_before(before)
            .await
            .unwrap();
        assert!(inner.state().await.unwrap().is_none());
        let error = inner.update(wrote("x")).await.unwrap_err();
        assert!(
            matches!(
                error,
                AgentError::Subgraph(SubgraphError::NotStarted { .. })
            ),
            "{error}"
        );
        let error = inner.prune(Keep::Newest(1)).await.unwrap_err();
        assert!(matches!(
            error,
            AgentError::Subgraph(SubgraphError::NotKept { .. })
        ));
        let unknown = "019a0000-0000-7000-8000-000000000000".parse().unwrap();
        let then = inside_at(&graph, unknown, "inner");
        let error = then.state().await.unwrap_err();
        assert!(matches!(
            error,
            AgentError::Checkpoint(CheckpointError::UnknownCheckpoint { .. })
        ));
        graph.thread("t").proceed().await.unwrap();
        let error = inner.at(unknown).update(wrote("x")).await.unwrap_err();
        assert!(matches!(
            error,
            AgentError::Checkpoint(CheckpointError::UnknownCheckpoint { .. })
        ));
        assert_eq!(
            open_questions(&graph).await,
            ["a"],
            "a change that is refused changes nothing"
        );
    }
}
