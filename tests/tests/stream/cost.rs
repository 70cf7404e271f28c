//! What a stream costs: a slow reader slows the run, and events without a reader cost nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::stream::{StreamModes, StreamOptions};
use serde::{Serialize, Serializer};

use langgraph_tests::fixtures::trail::{Trail, TrailUpdate, visited};

/// A chain of so many nodes that count how many of them have started.
fn counting(nodes: usize, started: &Arc<AtomicUsize>) -> CompiledStateGraph<Trail> {
    let mut graph = StateGraph::<Trail>::new();
    let names: Vec<_> = (0..nodes).map(|index| format!("n{index}")).collect();
    for name in &names {
        let started = Arc::clone(started);
        graph.add_node(name.clone(), move |_: &Trail, cx: &Context| {
            started.fetch_add(1, Ordering::SeqCst);
            visited(cx)
        });
    }
    graph.add_sequence(&names);
    graph.compile().unwrap()
}

/// Lets everything run that can.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn f5_a_reader_that_stops_reading_stops_the_run() {
    for (buffer, read) in [(1, 1), (1, 5), (4, 1), (4, 7), (16, 3)] {
        let started = Arc::new(AtomicUsize::new(0));
        let graph = counting(60, &started);
        let options = StreamOptions::new(StreamMode::Updates).buffer(buffer);
        let mut stream = graph.run(()).stream(options);
        // Nothing runs before the first read.
        settle().await;
        assert_eq!(started.load(Ordering::SeqCst), 0);
        for _ in 0..read {
            stream.next().await.unwrap().unwrap();
        }
        settle().await;
        let ahead = started.load(Ordering::SeqCst) - read;
        assert!(ahead <= buffer + 1, "{ahead} ahead of a buffer of {buffer}");
        // Nothing was lost: the rest comes when it is read.
        let mut rest = 0;
        while stream.next().await.is_some() {
            rest += 1;
        }
        assert_eq!((read + rest, started.load(Ordering::SeqCst)), (60, 60));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f5_tasks_of_a_superstep_run_on_and_the_next_superstep_waits() {
    let started = Arc::new(AtomicUsize::new(0));
    let mut graph = StateGraph::<Trail>::new();
    for index in 0..8 {
        for (layer, after) in [("a", START.to_owned()), ("b", format!("a{index}"))] {
            let started = Arc::clone(&started);
            graph.add_node(format!("{layer}{index}"), move |_: &Trail, cx: &Context| {
                started.fetch_add(1, Ordering::SeqCst);
                visited(cx)
            });
            graph.add_edge(after, format!("{layer}{index}"));
        }
    }
    let options = StreamOptions::new(StreamMode::Updates).buffer(1);
    let mut stream = graph.compile().unwrap().run(()).stream(options);
    stream.next().await.unwrap().unwrap();
    settle().await;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert!(started.load(Ordering::SeqCst) <= 8);
    stream.finish().await.unwrap();
    assert_eq!(started.load(Ordering::SeqCst), 16);
}

/// Counts how often it is cloned, so that a clone of the state or of an update is seen.
#[derive(Debug, Default)]
struct Tally(Arc<AtomicUsize>);

impl Clone for Tally {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&self.0))
    }
}

#[derive(State, Clone, Debug, Default)]
struct Counted {
    tally: Tally,
    #[reducer(append)]
    visits: Vec<Tally>,
}

/// A chain of so many nodes, each of which writes.
fn chain(nodes: usize) -> CompiledStateGraph<Counted> {
    let mut graph = StateGraph::<Counted>::new();
    let names: Vec<_> = (0..nodes).map(|index| format!("n{index}")).collect();
    for name in &names {
        graph.add_node(name.clone(), |state: &Counted| {
            let tally = Arc::clone(&state.tally.0);
            CountedUpdate::default()
                .tally(Tally(Arc::clone(&tally)))
                .visits(vec![Tally(tally)])
        });
    }
    graph.add_sequence(&names);
    graph.compile().unwrap()
}

/// How many clones a run makes, read with these modes if any.
async fn clones(graph: &CompiledStateGraph<Counted>, modes: Option<StreamModes>) -> usize {
    let counter = Arc::new(AtomicUsize::new(0));
    let run = graph.run(CountedUpdate::default().tally(Tally(Arc::clone(&counter))));
    match modes {
        None => drop(run.await.unwrap()),
        Some(modes) => {
            let mut stream = run.stream(modes);
            while let Some(event) = stream.next().await {
                drop(event.unwrap());
            }
        }
    }
    counter.load(Ordering::SeqCst)
}

#[tokio::test]
async fn f2_without_a_stream_a_superstep_clones_neither_the_state_nor_an_update() {
    assert_eq!(clones(&chain(10), None).await, 0);
    assert_eq!(clones(&chain(50), None).await, 0);
}

#[tokio::test]
async fn f2_events_that_are_not_requested_are_not_built() {
    let graph = chain(10);
    for modes in [
        StreamModes::NONE,
        StreamMode::Custom.into(),
        StreamMode::Messages.into(),
        StreamMode::Checkpoints.into(),
    ] {
        assert_eq!(clones(&graph, Some(modes)).await, 0, "{modes:?}");
    }
    // An update event is a clone of the update: two tallies.
    assert_eq!(
        clones(&graph, Some(StreamMode::Updates.into())).await,
        2 * 10
    );
    // A values event is a clone of the state: the field, and the list so far.
    let sum_of_lists: usize = (0..=10).sum();
    assert_eq!(
        clones(&graph, Some(StreamMode::Values.into())).await,
        11 + sum_of_lists
    );
}

#[tokio::test]
async fn f2_a_parallel_superstep_clones_nothing_either() {
    let mut graph = StateGraph::<Counted>::new();
    for name in ["a", "b", "c"] {
        graph.add_node(name, |state: &Counted| {
            CountedUpdate::default().visits(vec![Tally(Arc::clone(&state.tally.0))])
        });
        graph.add_edge(START, name);
    }
    let compiled = graph.compile().unwrap();
    assert_eq!(clones(&compiled, None).await, 0);
    // Only a router among several tasks needs a view of its own: the field, and its update.
    graph.add_router("a", |_: &Counted| END);
    let compiled = graph.compile().unwrap();
    assert_eq!(clones(&compiled, None).await, 2);
}

#[tokio::test]
async fn f2_the_tasks_of_a_superstep_show_one_state() {
    let mut graph = StateGraph::<Counted>::new();
    for index in 0..8 {
        graph.add_node(format!("n{index}"), |state: &Counted| {
            CountedUpdate::default().visits(vec![Tally(Arc::clone(&state.tally.0))])
        });
        graph.add_edge(START, format!("n{index}"));
    }
    let graph = graph.compile().unwrap();
    // Each end shows what its node wrote. The state is copied once, if an event still holds it when
    // the writes are merged: not for each of eight starts.
    let clones = clones(&graph, Some(StreamMode::Tasks.into())).await;
    assert!((8..=9).contains(&clones), "{clones} clones");
}

#[tokio::test]
async fn f2_an_event_keeps_the_state_of_its_moment() {
    let mut stream = chain(20).run(()).stream(StreamMode::Values);
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    let states = events.iter().filter_map(Event::values);
    let lengths: Vec<_> = states.map(|state| state.visits.len()).collect();
    assert_eq!(lengths, (1..=20).collect::<Vec<_>>());
}

/// Counts how often it is written as JSON.
struct Costly(Arc<AtomicUsize>);

impl Serialize for Costly {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        serializer.serialize_str("costly")
    }
}

#[tokio::test]
async fn f2_a_value_without_a_reader_is_not_even_serialized() {
    async fn emit(_: &Trail, cx: &Context) -> Result<TrailUpdate, NodeError> {
        let count = cx.resource_arc::<AtomicUsize>()?;
        cx.emit(Costly(count)).await?;
        Ok(TrailUpdate::default().round(usize::from(cx.wants(StreamMode::Custom))))
    }
    let count = Arc::new(AtomicUsize::new(0));
    let mut graph = StateGraph::<Trail>::new();
    graph.add_node("emit", emit).add_sequence(&["emit"]);
    let graph = graph.compile().unwrap();
    let run = || graph.run(()).resource(Arc::clone(&count));
    let state = run().await.unwrap().finished().unwrap();
    run().stream(StreamMode::Values).finish().await.unwrap();
    assert_eq!((count.load(Ordering::SeqCst), state.round), (0, 0));
    let state = run()
        .stream(StreamMode::Custom)
        .finish()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!((count.load(Ordering::SeqCst), state.round), (1, 1));
}

#[tokio::test]
async fn a_small_buffer_loses_no_event_of_a_chain_on_a_thread() {
    let mut shown = Vec::new();
    for buffer in [1, 2, 1_000] {
        let graph = counting(5, &Arc::default()).checkpointer(Arc::new(MemorySaver::new()));
        let options = StreamOptions::new(StreamModes::ALL).buffer(buffer);
        let mut stream = graph.run(()).thread("t").stream(options);
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            let event = event.unwrap();
            events.push((event.step, event.kind.name()));
        }
        shown.push(events);
    }
    let of = |name| shown[2].iter().filter(|(_, kind)| *kind == name).count();
    // One for the input, one for START, and one for each node.
    assert_eq!(
        (of("checkpoint"), of("update"), of("task_started")),
        (7, 5, 5)
    );
    assert!(shown[0] == shown[2] && shown[1] == shown[2], "{shown:?}");
}
