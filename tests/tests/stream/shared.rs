//! The state of events: shared with the run, and copied only if a reader holds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::prelude::*;
use langgraph::stream::StreamModes;

/// Counts how often it is cloned.
#[derive(Debug, Default)]
struct Counted(Arc<AtomicUsize>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(&self.0))
    }
}

#[derive(State, Clone, Debug, Default)]
struct Work {
    #[state(untracked)]
    counted: Counted,
    done: u32,
}

/// Waits once, so that the reader takes what was emitted before the node has ended.
async fn step(work: &Work) -> WorkUpdate {
    tokio::task::yield_now().await;
    WorkUpdate::default().done(work.done + 1)
}

fn chain() -> CompiledStateGraph<Work> {
    let mut graph = StateGraph::<Work>::new();
    let names: Vec<_> = (0..20).map(|n| format!("n{n}")).collect();
    for name in &names {
        graph.add_node(name, step);
    }
    graph.add_sequence(&names);
    graph.compile().unwrap()
}

#[tokio::test]
async fn a_state_that_its_reader_has_dropped_is_not_copied() {
    let copies = Arc::new(AtomicUsize::new(0));
    let work = Work {
        counted: Counted(Arc::clone(&copies)),
        done: 0,
    };
    let mut events = chain().run(work).stream(StreamModes::ALL);
    let (mut held, mut before) = (Vec::new(), 0);
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        let Some(values) = event.values() else {
            continue;
        };
        match values.done {
            // The first half is dropped, the other one kept until the end.
            0..10 => {}
            10 => before = copies.load(Ordering::Relaxed),
            _ => held.push(event),
        }
    }
    assert!(
        before <= 3,
        "{before} copies of a state that no reader held"
    );
    assert!(copies.load(Ordering::Relaxed) >= before + 9);
    let held: Vec<_> = held
        .iter()
        .map(|event| event.values().unwrap().done)
        .collect();
    assert_eq!(held, (11..=20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_task_of_a_chain_that_writes_nothing_shows_no_state() {
    let mut graph = StateGraph::<Work>::new();
    graph.add_node("look", |_: &Work| WorkUpdate::default());
    graph.add_node("count", |work: &Work| {
        WorkUpdate::default().done(work.done + 1)
    });
    graph.add_node("again", |_: &Work| WorkUpdate::default());
    graph.add_sequence(&["look", "count", "again"]);
    let mut events = graph
        .compile()
        .unwrap()
        .run(Work::default())
        .stream(StreamMode::Values);
    let mut shown = Vec::new();
    while let Some(event) = events.next().await {
        shown.extend(event.unwrap().values().map(|work| work.done));
    }
    assert_eq!(shown, [0, 1]);
}
