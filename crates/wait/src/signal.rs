//! An event for a thread that waits for it.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;

use langgraph::error::{AgentError, CheckpointError};
use langgraph::run::Run;
use langgraph::thread::Thread;
use langgraph::{Outcome, State};
use serde_json::Value;

use crate::wait::open_waits;

/// An event for a thread that waits for it, as [`WakeExt::signal`](crate::WakeExt::signal) returns it.
///
/// Await it: the thread goes on, and the result is the outcome of its run. [`run`](Self::run) returns the run
/// instead, for its stream or its options.
///
/// # Errors
///
/// As [`Thread::state`], and those of the run. If nothing waits for the event, [`CheckpointError::NothingToResume`].
#[must_use = "an event is not reported until it is awaited"]
pub struct Signal<S: State> {
    pub(crate) thread: Thread<S>,
    pub(crate) event: String,
    pub(crate) payload: Result<Value, AgentError>,
}

impl<S: State> Signal<S> {
    /// Returns the run that goes on with the tasks that wait for the event.
    ///
    /// # Errors
    ///
    /// As awaiting the signal, without those of the run.
    pub async fn run(self) -> Result<Run<S>, AgentError> {
        let answers = answers_with(&self.thread, &self.event, &self.payload?).await?;
        if answers.is_empty() {
            return Err(CheckpointError::NothingToResume {
                thread: self.thread.id().to_owned(),
                key: self.event,
                open: "no wait for this event".to_owned(),
            }
            .into());
        }
        Ok(self.thread.resume_all(answers))
    }
}

impl<S: State> IntoFuture for Signal<S> {
    type Output = Result<Outcome<S>, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.run().await?.await })
    }
}

impl<S: State> fmt::Debug for Signal<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal")
            .field("thread", &self.thread.id())
            .field("event", &self.event)
            .finish_non_exhaustive()
    }
}

/// Returns the answers to the waits that take an event, by interrupt.
pub(crate) async fn answers_with<S: State>(
    thread: &Thread<S>,
    event: &str,
    payload: &Value,
) -> Result<Vec<(String, Value)>, AgentError> {
    let mut waits = open_waits(thread).await?;
    waits.retain(|wait| wait.takes(event));
    let answers = waits.into_iter().map(|wait| {
        let answer = wait.answer_with(event, payload.clone());
        (wait.interrupt, answer)
    });
    Ok(answers.collect())
}
