//! Ephemeral fields in a chain: each lives for one superstep, whether the run is observed or not.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::thread::OnConflict;
use tokio::sync::Notify;

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

#[tokio::test]
async fn the_first_nodes_see_what_an_input_leaves_for_them() {
    let input = || RelayUpdate::default().note("from outside".to_owned());
    let plain = || Command::update(input());
    let graph = graph();
    let stored = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
    let jump = || plain().and_goto("second");
    for command in [&plain as &dyn Fn() -> Command<Relay>, &jump] {
        let without_thread = graph.run(command()).await.unwrap().finished().unwrap();
        assert!(without_thread.seen[0].ends_with(": from outside"));
        // At once, and by a run that goes on at a breakpoint, from the log.
        for (thread, stop) in [("at once", vec![]), ("later", vec!["first", "second"])] {
            let thread = stored.thread(thread);
            let mut outcome = thread.run(command()).interrupt_before(stop).await.unwrap();
            if !outcome.is_done() {
                outcome = thread.proceed().await.unwrap();
            }
            let seen = &outcome.state().seen;
            assert_eq!(
                seen[seen.len() - without_thread.seen.len()..],
                without_thread.seen
            );
        }
    }
}

/// Lets a test hold a node.
#[derive(Default)]
struct Gate {
    reached: Notify,
    open: Notify,
}

async fn held(_: &Relay, cx: &Context) -> Result<RelayUpdate, NodeError> {
    let gate = cx.resource::<Gate>()?;
    gate.reached.notify_one();
    gate.open.notified().await;
    Ok(RelayUpdate::default().note("from held".to_owned()))
}

async fn asks(relay: &Relay, cx: &Context) -> Result<RelayUpdate, NodeError> {
    let _: bool = cx.interrupt("sure", "?")?;
    Ok(saw(relay, "asks"))
}

#[tokio::test]
async fn an_input_that_a_run_merges_leaves_the_fields_for_the_next_node() {
    let gate = Arc::new(Gate::default());
    let mut graph = StateGraph::<Relay>::new();
    graph.resource(Arc::clone(&gate)).add_node("held", held);
    graph.add_node("asks", asks).add_sequence(&["held", "asks"]);
    let graph = graph.compile().unwrap().on_conflict(OnConflict::Join);
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");

    let active = tokio::spawn(thread.run(()).into_future());
    gate.reached.notified().await;
    let later = RelayUpdate::default().seen(vec!["later".to_owned()]);
    let later = thread
        .run(later)
        .stream(StreamMode::Values)
        .accepted()
        .await
        .unwrap();
    let later = tokio::spawn(later.finish());
    gate.open.notify_one();
    let paused = active.await.unwrap().unwrap();
    assert_eq!(
        (&*paused.state().note, &paused.state().seen[..]),
        ("from held", &["later".to_owned()][..])
    );
    later.await.unwrap().unwrap();

    assert_eq!(
        thread.state().await.unwrap().unwrap().values.note,
        "from held"
    );
    let done = thread.answer(true).await.unwrap().finished().unwrap();
    assert_eq!(done.seen, ["later", "asks: from held"]);
}
