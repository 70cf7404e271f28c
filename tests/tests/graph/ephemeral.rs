//! Ephemeral fields in a chain: each lives for one superstep, whether the run is observed or not.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct Relay {
    /// What the last node left for the next one.
    #[state(ephemeral)]
    note: String,
    #[reducer(append)]
    seen: Vec<String>,
}

fn saw(relay: &Relay, node: &str) -> RelayUpdate {
    RelayUpdate::default().seen(vec![format!("{node}: {}", relay.note)])
}

#[node]
async fn first(relay: &Relay) -> RelayUpdate {
    saw(relay, "first").note("from first".to_owned())
}

/// Leaves nothing.
#[node]
async fn second(relay: &Relay) -> RelayUpdate {
    saw(relay, "second")
}

#[node]
async fn third(relay: &Relay) -> RelayUpdate {
    saw(relay, "third").note("from third".to_owned())
}

#[node]
async fn last(relay: &Relay) -> RelayUpdate {
    saw(relay, "last").note("from last".to_owned())
}

fn graph() -> CompiledStateGraph<Relay> {
    // The router sees what `third` has just left.
    let leaves_a_note = |relay: &Relay| relay.note == "from third";
    let graph = graph! {
        START => first => second => third => if leaves_a_note { last } else { END };
        last => END;
    };
    graph.compile().unwrap()
}

#[tokio::test]
async fn an_ephemeral_field_lives_for_one_superstep_of_a_chain() {
    let expected = [
        "first: ",
        "second: from first",
        "third: ",
        "last: from third",
    ];
    let graph = graph();
    let unobserved = graph.invoke(()).await.unwrap();
    assert_eq!(unobserved.seen, expected);
    assert_eq!(unobserved.note, "from last");

    let mut events = graph.run(()).stream(StreamMode::Values);
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    let streamed = events.finish().await.unwrap().finished().unwrap();
    assert_eq!(streamed.seen, expected);

    let stored = graph.checkpointer(Arc::new(MemorySaver::new()));
    let run = stored.run(()).thread("t").await.unwrap();
    assert_eq!(run.finished().unwrap().seen, expected);
    let history = stored.thread("t").history().await.unwrap();
    let notes: Vec<_> = history.iter().rev().map(|at| &*at.values.note).collect();
    assert_eq!(notes, ["", "", "from first", "", "from third", "from last"]);
}
