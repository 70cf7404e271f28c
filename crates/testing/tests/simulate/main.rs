//! Graphs under a simulation: what it finds, and that it finds it again.
#![allow(clippy::unwrap_used, clippy::panic)] // clippy does not know that helpers of tests are tests
#![allow(clippy::ptr_arg)] // a node takes its state, which is a `String`

mod approvals;
mod clocks;
mod effects;
mod right;
mod states;

use langgraph_testing::simulate::{History, SimulationFailure, SimulationReport};

/// Returns an error unless each thread that is done has had the effect so often.
fn exactly<S>(history: &History<S>, name: &str, times: usize) -> Result<(), String> {
    for thread in history.threads().iter().filter(|thread| thread.is_done()) {
        let count = thread.effects(name).count();
        if count != times {
            return Err(format!("{}: `{name}` happened {count} times", thread.id()));
        }
    }
    at_most(history, name, times)
}

/// Returns an error if a thread has had the effect more often.
fn at_most<S>(history: &History<S>, name: &str, times: usize) -> Result<(), String> {
    for thread in history.threads() {
        let count = thread.effects(name).count();
        if count > times {
            return Err(format!("{}: `{name}` happened {count} times", thread.id()));
        }
    }
    Ok(())
}

/// Checks that the mistake was found, with a story that can be read.
#[track_caller]
fn found(result: Result<SimulationReport, SimulationFailure>, says: &str) -> SimulationFailure {
    let failure = result.unwrap_err();
    let text = failure.to_string();
    assert!(text.contains(says), "{text}");
    assert!((1..=10).contains(&failure.story().len()), "{text}");
    assert!(text.contains(&format!("SEED={}", failure.seed())), "{text}");
    failure
}
