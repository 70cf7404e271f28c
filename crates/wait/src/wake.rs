//! Waking threads.

use std::time::SystemTime;

use futures_util::stream::{self, StreamExt as _};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::run::Run;
use langgraph::thread::Thread;
use langgraph::{CompiledStateGraph, Outcome, State};
use serde::Serialize;
use serde_json::json;

use crate::wait::{End, Wait};
use crate::waits::Waits;

/// How many threads [`wake_due`] runs at a time.
const AT_ONCE: usize = 16;

/// Waking, for the handle of a [`Thread`].
pub trait WakeExt<S: State> {
    /// Returns what the thread waits for.
    ///
    /// # Errors
    ///
    /// As [`Thread::state`].
    fn waits(&self) -> impl Future<Output = Result<Vec<Wait>, AgentError>> + Send;

    /// Returns the run that goes on with the tasks whose time has come at `now`; `None` if nothing
    /// is due.
    ///
    /// # Errors
    ///
    /// As [`Thread::state`]. If another program wakes the thread at the same time, one of the two
    /// runs fails with [`CheckpointError::Held`] or [`CheckpointError::NothingToResume`].
    fn wake(
        &self,
        now: SystemTime,
    ) -> impl Future<Output = Result<Option<Run<S>>, AgentError>> + Send;

    /// Reports an event: returns the run that goes on with the tasks that wait for it.
    ///
    /// # Errors
    ///
    /// As [`Thread::state`]. If nothing waits for the event, the run fails with
    /// [`CheckpointError::NothingToResume`].
    fn signal(
        &self,
        event: &str,
        payload: impl Serialize + Send,
    ) -> impl Future<Output = Result<Run<S>, AgentError>> + Send;
}

impl<S: State> WakeExt<S> for Thread<S> {
    async fn waits(&self) -> Result<Vec<Wait>, AgentError> {
        let open = self.state().await?.map(|snapshot| snapshot.interrupts);
        let open = open.unwrap_or_default();
        Ok(open.iter().filter_map(|i| Wait::of(self.id(), i)).collect())
    }

    async fn wake(&self, now: SystemTime) -> Result<Option<Run<S>>, AgentError> {
        let mut due = self.waits().await?;
        due.retain(|wait| wait.is_due(now));
        let answers = due.iter().map(|wait| (&*wait.interrupt, wait.answer()));
        Ok((!due.is_empty()).then(|| self.resume_all(answers)))
    }

    async fn signal(
        &self,
        event: &str,
        payload: impl Serialize + Send,
    ) -> Result<Run<S>, AgentError> {
        let answer = json!(End::Event(serde_json::to_value(payload).map_err(
            |error| {
                AgentError::InvalidInput(format!(
                    "the event `{event}` cannot be written as JSON: {error}"
                ))
            }
        )?));
        let mut waits = self.waits().await?;
        waits.retain(|wait| wait.event.as_deref() == Some(event));
        if waits.is_empty() {
            return Err(CheckpointError::NothingToResume {
                thread: self.id().to_owned(),
                key: event.to_owned(),
                open: "no wait for this event".to_owned(),
            }
            .into());
        }
        Ok(self.resume_all(
            waits
                .into_iter()
                .map(|wait| (wait.interrupt, answer.clone())),
        ))
    }
}

/// A thread that [`wake_due`] has woken.
#[derive(Debug)]
#[non_exhaustive]
pub struct Woken<S: State> {
    /// The thread.
    pub thread: String,
    /// The outcome of its run.
    pub outcome: Result<Outcome<S>, AgentError>,
}

/// Wakes the threads of this graph whose time has come at `now`, runs them, and returns their
/// outcomes in the order in which they were due.
///
/// Call it in a loop, in any number of programs. A thread that another program wakes first, or that
/// another run holds, is left out. Threads that a graph of another name has run on are left to that
/// graph. Sixteen threads run at a time; for another number, start the runs from [`Waits`].
///
/// # Errors
///
/// As [`due`](crate::due), if nothing could be listed. What fails on a thread is in its
/// [`outcome`](Woken::outcome).
pub async fn wake_due<S: State>(
    graph: &CompiledStateGraph<S>,
    now: SystemTime,
) -> Result<Vec<Woken<S>>, AgentError> {
    let threads = graph.threads();
    let mut waits = Waits::new();
    waits.read(&**threads.saver()?).await?;
    let name = &graph.topology().name;
    let mut due: Vec<String> = Vec::new();
    for wait in waits.due(now) {
        let own = wait.graph.is_none_or(|graph| graph == *name);
        if own && !due.contains(&wait.thread) {
            due.push(wait.thread);
        }
    }
    let woken = stream::iter(due).map(|thread| async move {
        let outcome = match graph.thread(&*thread).wake(now).await {
            Ok(None) => return None,
            Ok(Some(run)) => run.await,
            Err(error) => Err(error),
        };
        match outcome {
            Err(error) if is_lost_race(&error) => None,
            outcome => Some(Woken { thread, outcome }),
        }
    });
    let woken: Vec<_> = woken.buffered(AT_ONCE).collect().await;
    Ok(woken.into_iter().flatten().collect())
}

/// Returns true if another program has the thread.
fn is_lost_race(error: &AgentError) -> bool {
    use CheckpointError::{Conflict, Held, NothingToResume};
    matches!(
        error,
        AgentError::Checkpoint(Held { .. } | NothingToResume { .. } | Conflict { .. })
    )
}
