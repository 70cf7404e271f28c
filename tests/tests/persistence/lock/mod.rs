//! What `graph.lock` refuses, and what it accepts.

mod agreement;
mod change;
mod locations;
mod random;
mod rules;
mod shapes;
mod states;
mod texts;

use langgraph::graph::Topology;
use langgraph::graph::lock::{self, Broken};

/// Compares two graphs through the text of a lock.
fn changes(before: &Topology, now: &Topology) -> Vec<Broken> {
    let text = lock::write([before]);
    let mut locked = lock::read(&text).unwrap();
    assert_eq!(lock::write(&locked), text, "the text is what was written");
    let before = locked.pop().unwrap();
    let changes = lock::breaking_changes(&before, now).into_iter();
    changes.map(|change| change.what).collect()
}
