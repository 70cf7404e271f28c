//! A graph whose threads are served, without its types.

use async_trait::async_trait;
use langgraph::checkpoint::Snapshot;
use langgraph::error::{AgentError, CheckpointError};
use langgraph::run::{CancelToken, EventStream, Run};
use langgraph::stream::{EventKind, StreamMode, StreamOptions};
use langgraph::thread::{OnConflict, Thread};
use langgraph::{CompiledStateGraph, Outcome, State};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answers::{Given, assign};
use super::values::{update_of, value_of};
use crate::ThreadState;

/// The metadata entry of a run that says which invocation drives it.
pub(crate) const INVOCATION: &str = "restate_invocation";

/// How an invocation begins, once it is settled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Begin {
    Input(Value),
    Proceed,
    /// Answers by the ids of interrupts.
    Answers(Vec<(String, Value)>),
}

/// The end of a superstep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Step {
    /// These nodes are next.
    More(Vec<String>),
    Ended(ThreadState),
}

/// A run that is under way in this process.
#[async_trait]
pub(crate) trait Steps: Send {
    /// Runs the next superstep.
    async fn next(&mut self) -> Result<Step, AgentError>;
}

#[async_trait]
pub(crate) trait ErasedThreads: Send + Sync {
    /// Finds the interrupts that are meant; an empty list if nothing is due.
    async fn accept(&self, thread: &str, given: &Given)
    -> Result<Vec<(String, Value)>, AgentError>;

    /// Begins the run of an invocation, or takes it up where the thread stands.
    async fn begin(
        &self,
        thread: &str,
        begin: &Begin,
        invocation: &str,
        cancel: CancelToken,
    ) -> Result<Box<dyn Steps>, AgentError>;

    async fn state(&self, thread: &str) -> Result<Option<ThreadState>, AgentError>;
}

/// A graph with its types.
pub(crate) struct Served<S: State> {
    graph: CompiledStateGraph<S>,
    options: Options<S>,
}

/// Sets the options of a run.
type Options<S> = Box<dyn Fn(Run<S>) -> Run<S> + Send + Sync>;

impl<S> Served<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    pub(crate) fn new(graph: CompiledStateGraph<S>, options: Options<S>) -> Self {
        // Restate runs one invocation of a thread at a time: another holder of the lease was given up.
        let leases = graph.threads();
        let has_leases = leases.saver().is_ok_and(|saver| saver.leases().is_some());
        let graph = if has_leases {
            graph.on_conflict(OnConflict::Cancel)
        } else {
            graph
        };
        Self { graph, options }
    }
}

#[async_trait]
impl<S> ErasedThreads for Served<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    async fn accept(
        &self,
        thread: &str,
        given: &Given,
    ) -> Result<Vec<(String, Value)>, AgentError> {
        let unknown = || CheckpointError::UnknownThread(thread.to_owned());
        let snapshot = self.graph.thread(thread).state().await?;
        assign(thread, &snapshot.ok_or_else(unknown)?.interrupts, given)
    }

    async fn begin(
        &self,
        thread: &str,
        begin: &Begin,
        invocation: &str,
        cancel: CancelToken,
    ) -> Result<Box<dyn Steps>, AgentError> {
        let thread = self.graph.thread(thread);
        let snapshot = thread.state().await?;
        let has_begun = |snapshot: &Snapshot<S>| {
            let by = snapshot.metadata.get(INVOCATION).and_then(Value::as_str);
            by == Some(invocation)
        };
        let run = match (begin, snapshot) {
            (Begin::Input(input), None) => thread.run(update_of::<S>(input.clone())?),
            (Begin::Input(input), Some(snapshot)) => {
                if !has_begun(&snapshot) {
                    thread.run(update_of::<S>(input.clone())?)
                } else if is_settled(&snapshot) {
                    return Ok(Box::new(AlreadyEnded(shown(snapshot))));
                } else {
                    thread.recover()
                }
            }
            (Begin::Answers(given), Some(snapshot)) => {
                // An earlier attempt may have given them.
                let open = |id: &str| {
                    snapshot
                        .interrupts
                        .iter()
                        .any(|interrupt| interrupt.id == id)
                };
                let left: Vec<_> = given.iter().filter(|(id, _)| open(id)).cloned().collect();
                if !left.is_empty() {
                    thread.resume_all(left)
                } else if is_settled(&snapshot) {
                    return Ok(Box::new(AlreadyEnded(shown(snapshot))));
                } else {
                    thread.recover()
                }
            }
            (_, Some(snapshot)) if is_settled(&snapshot) => {
                return Ok(Box::new(AlreadyEnded(shown(snapshot))));
            }
            (_, Some(snapshot)) if has_begun(&snapshot) => thread.recover(),
            _ => thread.proceed(),
        };
        let watched = StreamOptions::new(StreamMode::Checkpoints)
            .without_checkpoint_values()
            .buffer(1);
        let events = (self.options)(run)
            .metadata(INVOCATION, invocation)
            .cancel(cancel)
            .stream(watched);
        Ok(Box::new(Running(Some(events))))
    }

    async fn state(&self, thread: &str) -> Result<Option<ThreadState>, AgentError> {
        let thread: Thread<S> = self.graph.thread(thread);
        Ok(thread.state().await?.map(shown))
    }
}

/// Returns true if nothing can run before an answer comes.
fn is_settled<S: State>(snapshot: &Snapshot<S>) -> bool {
    snapshot.next.len()
        <= snapshot
            .tasks
            .iter()
            .filter(|task| !task.interrupts.is_empty())
            .count()
}

struct Running<S: State>(Option<EventStream<S>>);

#[async_trait]
impl<S> Steps for Running<S>
where
    S: State,
    S::Update: Serialize,
{
    async fn next(&mut self) -> Result<Step, AgentError> {
        let ended = || AgentError::InvalidInput("the run has ended".to_owned());
        let events = self.0.as_mut().ok_or_else(ended)?;
        while let Some(event) = events.next().await {
            let event = event?;
            // What leads to the first nodes is part of their superstep, and the last checkpoint is
            // part of the end.
            if let EventKind::CheckpointSaved(saved) = event.kind
                && event.namespace.is_empty()
                && saved.step > 0
                && !saved.next.is_empty()
            {
                return Ok(Step::More(names(&saved.next)));
            }
        }
        let events = self.0.take().ok_or_else(ended)?;
        Ok(Step::Ended(end(events.finish().await?)))
    }
}

/// A run that had ended before its invocation was tried again.
struct AlreadyEnded(ThreadState);

#[async_trait]
impl Steps for AlreadyEnded {
    async fn next(&mut self) -> Result<Step, AgentError> {
        Ok(Step::Ended(self.0.clone()))
    }
}

fn names(nodes: &[langgraph::graph::NodeName]) -> Vec<String> {
    nodes.iter().map(ToString::to_string).collect()
}

fn end<S>(outcome: Outcome<S>) -> ThreadState
where
    S: State,
    S::Update: Serialize,
{
    let (interrupts, next) = match &outcome {
        Outcome::Interrupted {
            interrupts, next, ..
        } => (interrupts.clone(), names(next)),
        Outcome::Drained { next, .. } => (Vec::new(), names(next)),
        _ => (Vec::new(), Vec::new()),
    };
    ThreadState {
        values: value_of::<S>(outcome.into_state_so_far()),
        interrupts,
        next,
    }
}

fn shown<S>(snapshot: Snapshot<S>) -> ThreadState
where
    S: State,
    S::Update: Serialize,
{
    ThreadState {
        values: value_of::<S>(snapshot.values),
        interrupts: snapshot.interrupts,
        next: names(&snapshot.next),
    }
}

#[cfg(test)]
mod tests;
