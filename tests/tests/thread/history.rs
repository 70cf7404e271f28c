//! Looking back over a thread.

use langgraph::checkpoint::{ListOptions, Source};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;

use langgraph_tests::fixtures::diary::{Diary, World, graph_in, in_memory, note, wrote};

/// Two turns, the second with a note; an update between them.
async fn thread() -> CompiledStateGraph<Diary> {
    let mut graph = graph_in(&World::new());
    graph
        .add_node("a", note)
        .add_node("b", note)
        .add_sequence(&["a", "b"]);
    let graph = in_memory(&graph);
    graph.run(wrote("one")).thread("t").await.unwrap();
    graph
        .thread("t")
        .update(wrote("update"))
        .as_node("b")
        .await
        .unwrap();
    let run = graph.run(wrote("two")).thread("t");
    run.metadata("user", "Ada")
        .metadata("turn", 2)
        .await
        .unwrap();
    graph
}

async fn steps(graph: &CompiledStateGraph<Diary>, options: ListOptions) -> Vec<i64> {
    let history = graph.thread("t").history_with(options).await.unwrap();
    history.iter().map(|snapshot| snapshot.step).collect()
}

#[tokio::test]
async fn e6_history_shows_only_what_is_wanted() {
    let graph = thread().await;
    let all = ListOptions::new;
    assert_eq!(steps(&graph, all()).await.len(), 9);
    let inputs = steps(&graph, all().source(Source::Input)).await;
    assert_eq!(inputs.len(), 2);
    assert_eq!(inputs[1], -1);
    assert_eq!(steps(&graph, all().source(Source::Update)).await, [3]);
    assert_eq!(steps(&graph, all().steps(0..=1)).await, [1, 0]);
    assert_eq!(
        steps(&graph, all().limit(2)).await,
        steps(&graph, all()).await[..2]
    );
    assert!(steps(&graph, all().limit(0)).await.is_empty());
    let ada = steps(&graph, all().metadata("user", "Ada")).await;
    assert_eq!(ada.len(), 4);
    assert_eq!(
        steps(&graph, all().metadata("user", "Ada").metadata("turn", 2)).await,
        ada
    );
    assert!(
        steps(&graph, all().metadata("user", "Bob"))
            .await
            .is_empty()
    );
    let update = graph
        .thread("t")
        .history_with(all().source(Source::Update))
        .await
        .unwrap();
    assert_eq!(
        steps(&graph, all().before(update[0].id)).await,
        [2, 1, 0, -1]
    );
    let both = all().before(update[0].id).source(Source::Loop).limit(2);
    assert_eq!(steps(&graph, both).await, [2, 1]);
    // The options do not change what is shown.
    let whole = graph.thread("t").history().await.unwrap();
    let one = graph
        .thread("t")
        .history_with(all().steps(1..=1))
        .await
        .unwrap();
    let same = whole
        .iter()
        .find(|snapshot| snapshot.id == one[0].id)
        .unwrap();
    assert_eq!(one[0].values, same.values);
    assert_eq!(one[0].values.log, ["one", "a@1"]);
    assert!(graph.thread("unknown").history().await.unwrap().is_empty());
}

#[tokio::test]
async fn e5_a_lineage_is_one_branch() {
    let graph = thread().await;
    let whole = graph.thread("t").history().await.unwrap();
    let early = whole.iter().find(|snapshot| snapshot.step == 1).unwrap().id;
    let end = whole[0].id;
    graph.thread("t").proceed().at(early).await.unwrap();
    let all = graph.thread("t").history().await.unwrap();

    let logs = async |thread: Thread<Diary>| -> Vec<Vec<String>> {
        let lineage = thread.lineage().await.unwrap();
        for pair in lineage.windows(2) {
            assert_eq!(pair[0].parent, Some(pair[1].id));
        }
        assert_eq!(lineage.last().unwrap().parent, None);
        lineage
            .into_iter()
            .map(|snapshot| snapshot.values.log)
            .collect()
    };
    // The fork, and what it came from.
    let fork = logs(graph.thread("t")).await;
    assert_eq!(fork[0], ["one", "a@1", "b@2"]);
    assert_eq!(fork.len(), all.len() - whole.len() + 3);
    // The old branch is as it was.
    let old = logs(graph.thread("t").at(end)).await;
    let expected: Vec<_> = whole
        .iter()
        .map(|snapshot| snapshot.values.log.clone())
        .collect();
    assert_eq!(old, expected);

    let nowhere = graph.thread("u").at(end).lineage().await.unwrap_err();
    assert!(matches!(
        nowhere,
        AgentError::Checkpoint(CheckpointError::UnknownCheckpoint { .. })
    ));
    assert!(graph.thread("u").lineage().await.unwrap().is_empty());
}
