//! When a run is stored.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability};
use langgraph::prelude::*;

use langgraph_tests::fixtures::diary::{
    Diary, World, graph_in, in_memory, log_of, memory, note, over, shown, wrote,
};
use langgraph_tests::fixtures::faulty_saver::{Fault, Faulty, faulty};

fn chain(world: &Arc<World>) -> StateGraph<Diary> {
    let mut graph = graph_in(world);
    for name in ["a", "b", "c", "d", "e", "f"] {
        graph.add_node(name, note);
    }
    graph
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("a", "c");
    graph
        .add_edge(["b", "c"], "d")
        .add_edge("d", "e")
        .add_edge("e", "f");
    graph
}

#[tokio::test]
async fn what_is_written_behind_a_run_is_written_in_order() {
    let graph = in_memory(&chain(&World::new()));
    graph.run(wrote("in")).thread("t").await.unwrap();
    let expected = shown(&graph, "t").await;

    let saver = memory();
    let faulty = faulty(&saver, None);
    let slow: Arc<dyn Checkpointer> = Arc::<Faulty>::clone(&faulty);
    let graph = over(&chain(&World::new()), &slow);
    let run = graph.run(wrote("in")).thread("t");
    let state = run
        .durability(Durability::Async)
        .await
        .unwrap()
        .finished()
        .unwrap();
    // When it has ended, everything is there.
    let graph = over(&chain(&World::new()), &saver);
    assert_eq!(shown(&graph, "t").await, expected);
    assert_eq!(log_of(&graph, "t").await, state.log);
    assert_eq!(faulty.intercept().most_writes_at_once(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_does_not_wait_for_what_is_written_behind_it() {
    for (durability, effects) in [
        (Durability::Sync, 1),
        (Durability::Async, 6),
        (Durability::Exit, 6),
    ] {
        let world = World::new();
        // The lease is the first call, loading the second, the input the third, what is behind `START`
        // the fourth.
        let saver: Arc<dyn Checkpointer> = faulty(&memory(), Some((4, Fault::Hangs)));
        let run = over(&chain(&world), &saver).run(wrote("in")).thread("t");
        let run = run.durability(durability).timeout(Duration::from_secs(5));
        let ended = run.await;
        assert_eq!(ended.is_ok(), durability == Durability::Exit);
        assert_eq!(world.effects().len(), effects, "{durability:?}");
    }
}

#[tokio::test]
async fn e11_a_saver_that_fails_behind_a_run_fails_the_run() {
    for at in 2..7 {
        let world = World::new();
        let saver = memory();
        let faulty: Arc<dyn Checkpointer> = faulty(&saver, Some((at, Fault::Fails)));
        let run = over(&chain(&world), &faulty).run(wrote("in")).thread("t");
        let error = run.durability(Durability::Async).await.unwrap_err();
        assert_eq!(error.to_string(), "checkpoint: the disk is away");
        // Nothing that came behind the gap was written.
        let graph = over(&chain(&world), &saver);
        if at == 2 {
            assert!(graph.thread("t").state().await.unwrap().is_none());
            continue;
        }
        graph.thread("t").proceed().await.unwrap();
        let whole = in_memory(&chain(&World::new()));
        whole.run(wrote("in")).thread("t").await.unwrap();
        assert_eq!(shown(&graph, "t").await, shown(&whole, "t").await);
    }
}

#[tokio::test]
async fn what_a_run_did_that_is_stored_at_its_end_is_lost_with_it() {
    let world = World::new();
    let saver = memory();
    let graph = over(&chain(&world), &saver);
    graph.run(wrote("one")).thread("t").await.unwrap();
    let before = shown(&graph, "t").await;
    let mut stream = graph
        .run(wrote("two"))
        .thread("t")
        .durability(Durability::Exit)
        .stream(StreamMode::Updates);
    stream.next().await.unwrap().unwrap();
    drop(stream);
    assert_eq!(shown(&graph, "t").await, before);
}
