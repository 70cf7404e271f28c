//! What a run did, for assertions.

mod mismatch;

use langgraph::error::AgentError;
use langgraph::message::{Message, ToolCall};
use langgraph::run::{Outcome, Run};
use langgraph::state::{HasMessages, State};
use langgraph::stream::{Event, EventKind, StreamModes, StreamOptions};
use serde_json::Value;

pub use mismatch::PathMismatch;

/// What a run did: its path, its events, and its outcome.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_testing::Trace;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph
///     .add_node("add", |n: &i64| n + 1)
///     .add_node("double", |n: &i64| n * 2)
///     .add_sequence(&["add", "double"]);
///
/// let trace = Trace::of(graph.compile()?.run(1)).await;
/// trace.path_is(["add", "double"])?;
/// trace.path_contains(["double"])?;
/// let wrong = trace.path_is(["double", "add"]).unwrap_err();
/// assert_eq!(wrong.to_string(), "the run took another path\n  expected: double, add\n  taken:    add, double");
/// assert_eq!(*trace.outcome().unwrap().state(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Trace<S: State> {
    path: Vec<String>,
    events: Vec<Event<S>>,
    outcome: Result<Outcome<S>, AgentError>,
}

impl<S: State> Trace<S> {
    /// Runs to the end, and notes every event. A failure of the run is its
    /// [outcome](Self::outcome).
    pub async fn of(run: Run<S>) -> Self {
        let mut stream = run.stream(StreamOptions::new(StreamModes::ALL).subgraphs());
        let mut events = Vec::new();
        let mut failed = None;
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => events.push(event),
                Err(error) => failed = Some(error),
            }
        }
        let outcome = match failed {
            Some(error) => Err(error),
            None => stream.finish().await,
        };
        let path = events.iter().filter_map(step).collect();
        Self {
            path,
            events,
            outcome,
        }
    }

    /// Returns the nodes that ran, in the order of their ends. A node of a subgraph is
    /// `outer/inner`; one that paused at an interrupt instead of ending has a `?` behind its name.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Checks that exactly these nodes ran, in this order.
    ///
    /// # Errors
    ///
    /// [`PathMismatch`], which shows both paths; so do the other checks.
    pub fn path_is<N: Into<String>>(
        &self,
        nodes: impl IntoIterator<Item = N>,
    ) -> Result<(), PathMismatch> {
        let expected = names(nodes);
        self.check("the run took another path", expected, |path, expected| {
            path == expected
        })
    }

    /// Checks that these nodes ran in this order, with others between them.
    ///
    /// # Errors
    ///
    /// As [`path_is`](Self::path_is).
    pub fn path_follows<N: Into<String>>(
        &self,
        nodes: impl IntoIterator<Item = N>,
    ) -> Result<(), PathMismatch> {
        self.check(
            "the run did not follow the path",
            names(nodes),
            |path, expected| {
                let mut path = path.iter();
                expected.iter().all(|node| path.any(|taken| taken == node))
            },
        )
    }

    /// Checks that exactly these nodes ran, as often as they are listed, in any order.
    ///
    /// # Errors
    ///
    /// As [`path_is`](Self::path_is).
    pub fn path_in_any_order<N: Into<String>>(
        &self,
        nodes: impl IntoIterator<Item = N>,
    ) -> Result<(), PathMismatch> {
        self.check(
            "the run took other nodes",
            names(nodes),
            |path, expected| {
                let (mut path, mut expected) = (path.to_vec(), expected.to_vec());
                path.sort_unstable();
                expected.sort_unstable();
                path == expected
            },
        )
    }

    /// Checks that these nodes ran, and maybe others.
    ///
    /// # Errors
    ///
    /// As [`path_is`](Self::path_is).
    pub fn path_contains<N: Into<String>>(
        &self,
        nodes: impl IntoIterator<Item = N>,
    ) -> Result<(), PathMismatch> {
        self.check("the run left out nodes", names(nodes), |path, expected| {
            let mut path = path.to_vec();
            expected.iter().all(|node| {
                let at = path.iter().position(|taken| taken == node);
                at.map(|at| path.swap_remove(at)).is_some()
            })
        })
    }

    /// Checks that only these nodes ran, each any number of times.
    ///
    /// # Errors
    ///
    /// As [`path_is`](Self::path_is).
    pub fn path_stays_within<N: Into<String>>(
        &self,
        nodes: impl IntoIterator<Item = N>,
    ) -> Result<(), PathMismatch> {
        self.check("the run left the nodes", names(nodes), |path, expected| {
            path.iter().all(|taken| expected.contains(taken))
        })
    }

    fn check(
        &self,
        what: &'static str,
        expected: Vec<String>,
        fits: impl FnOnce(&[String], &[String]) -> bool,
    ) -> Result<(), PathMismatch> {
        if fits(&self.path, &expected) {
            return Ok(());
        }
        let mismatch = PathMismatch::new(what, expected, self.path.clone());
        Err(match &self.outcome {
            Ok(_) => mismatch,
            Err(error) => mismatch.of_failed_run(error),
        })
    }

    /// Returns all events, in order.
    pub fn events(&self) -> &[Event<S>] {
        &self.events
    }

    /// Returns the values that nodes and tools emitted.
    pub fn emitted(&self) -> Vec<&Value> {
        let values = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Custom { value, .. } => Some(value),
            _ => None,
        });
        values.collect()
    }

    /// Returns the outcome, or why the run failed.
    ///
    /// # Errors
    ///
    /// The run's error.
    pub fn outcome(&self) -> Result<&Outcome<S>, &AgentError> {
        self.outcome.as_ref()
    }

    /// As [`outcome`](Self::outcome), by value: for `?` in a test that returns an error.
    ///
    /// # Errors
    ///
    /// The run's error.
    pub fn into_outcome(self) -> Result<Outcome<S>, AgentError> {
        self.outcome
    }
}

impl<S: HasMessages> Trace<S> {
    /// Returns the tool calls of the final chat, in order.
    pub fn tool_calls(&self) -> Vec<&ToolCall> {
        let messages = self
            .outcome
            .as_ref()
            .map_or(&[][..], |outcome| outcome.state().messages());
        messages.iter().flat_map(Message::tool_calls).collect()
    }
}

fn names<N: Into<String>>(nodes: impl IntoIterator<Item = N>) -> Vec<String> {
    nodes.into_iter().map(Into::into).collect()
}

/// Returns the node of a task that has ended.
fn step<S: State>(event: &Event<S>) -> Option<String> {
    let EventKind::TaskFinished(task) = &event.kind else {
        return None;
    };
    let outer = event.namespace.iter();
    let names: Vec<&str> = outer.chain([&task.node]).map(|name| &**name).collect();
    let mut path = names.join("/");
    if !task.interrupts.is_empty() {
        path.push('?');
    }
    Some(path)
}
