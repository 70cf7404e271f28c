//! Waking threads.

use std::time::SystemTime;

use futures_util::stream::{self, StreamExt as _};
use langgraph::checkpoint::{RunStatus, ThreadFilter, ThreadInfo};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::run::Run;
use langgraph::thread::Thread;
use langgraph::{Outcome, State};
use serde::Serialize;
use serde_json::Value;

use crate::graphs::WakesThreads;
use crate::kept::KeptEvents;
use crate::read::list;
use crate::signal::{Signal, answers_with};
use crate::wait::{Wait, open_waits};

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

    /// Returns the run that goes on with the tasks whose time has come at `now`, or whose event was
    /// [kept](Self::signal_or_keep); `None` if nothing is due.
    ///
    /// # Errors
    ///
    /// As [`Thread::state`]. If another program wakes the thread at the same time, one of the two
    /// runs fails with [`CheckpointError::Held`] or [`CheckpointError::NothingToResume`].
    fn wake(
        &self,
        now: SystemTime,
    ) -> impl Future<Output = Result<Option<Run<S>>, AgentError>> + Send;

    /// Reports an event: the thread goes on with the tasks that wait for it, when the [`Signal`] is awaited.
    fn signal(&self, event: &str, payload: impl Serialize) -> Signal<S>;

    /// As [`signal`](Self::signal). If nothing waits for the event, it is kept with the thread, and the
    /// result is `None`: the first wait for it is then due at once. The thread need not exist yet.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::SystemTime;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    /// use langgraph_wait::{WaitExt, WakeExt};
    ///
    /// #[node]
    /// async fn bill(_: &u32, cx: &Context) -> Result<u32, NodeError> {
    ///     Ok(cx.wait_for("paid", None)?.unwrap_or_default())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let graph = graph! { START => bill => END }.compile()?;
    /// let thread = graph.checkpointer(Arc::new(MemorySaver::new())).thread("anna");
    /// assert!(thread.signal_or_keep("paid", 100).await?.is_none());
    ///
    /// thread.run(0).await?; // waits
    /// let run = thread.wake(SystemTime::now()).await?; // as `wake_due` does
    /// assert_eq!(run.unwrap().await?.finished()?, 100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Thread::state`], and those of storing the event.
    fn signal_or_keep(
        &self,
        event: &str,
        payload: impl Serialize + Send,
    ) -> impl Future<Output = Result<Option<Run<S>>, AgentError>> + Send;
}

impl<S: State> WakeExt<S> for Thread<S> {
    async fn waits(&self) -> Result<Vec<Wait>, AgentError> {
        open_waits(self).await
    }

    async fn wake(&self, now: SystemTime) -> Result<Option<Run<S>>, AgentError> {
        let waits = self.waits().await?;
        let answers = due_answers(self, &waits, now).await?;
        Ok((!answers.is_empty()).then(|| self.resume_all(answers)))
    }

    fn signal(&self, event: &str, payload: impl Serialize) -> Signal<S> {
        Signal {
            thread: self.clone(),
            event: event.to_owned(),
            payload: json(event, &payload),
        }
    }

    async fn signal_or_keep(
        &self,
        event: &str,
        payload: impl Serialize + Send,
    ) -> Result<Option<Run<S>>, AgentError> {
        let payload = json(event, &payload)?;
        let answers = answers_with(self, event, &payload).await?;
        if !answers.is_empty() {
            return Ok(Some(self.resume_all(answers)));
        }
        let kept = KeptEvents::of(&**self.saver()?, self.id());
        kept.add(event, &payload).await?;
        // A node may have begun to wait since the look.
        let waits = self.waits().await?;
        let answers = kept.give(&waits).await?;
        Ok((!answers.is_empty()).then(|| self.resume_all(answers)))
    }
}

fn json(event: &str, payload: &impl Serialize) -> Result<Value, AgentError> {
    serde_json::to_value(payload).map_err(|error| {
        AgentError::InvalidInput(format!(
            "the event `{event}` cannot be written as JSON: {error}"
        ))
    })
}

/// Returns the answers to the waits whose time has come or whose event was kept, by interrupt.
async fn due_answers<S: State>(
    thread: &Thread<S>,
    waits: &[Wait],
    now: SystemTime,
) -> Result<Vec<(String, Value)>, AgentError> {
    let for_events = waits.iter().any(|wait| !wait.events.is_empty());
    let mut answers = Vec::new();
    if for_events {
        let kept = KeptEvents::of(&**thread.saver()?, thread.id());
        answers = kept.give(waits).await?;
    }
    for wait in waits.iter().filter(|wait| wait.is_due(now)) {
        if !answers.iter().any(|(id, _)| *id == wait.interrupt) {
            answers.push((wait.interrupt.clone(), wait.answer()));
        }
    }
    Ok(answers)
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

/// Wakes the threads of a graph whose time has come at `now`, or whose event was kept, runs them, and
/// returns their outcomes in the order in which they were due. It also takes
/// [`Versions`](langgraph_versions::Versions) of a graph: each thread goes on with its own.
///
/// Call it in a loop, in any number of programs. The saver finds the threads by time, so that a call costs
/// nothing for those that sleep on. A thread that another program wakes first, or that another run holds,
/// is left out. Threads that a graph of another name has run on are left to that graph. Sixteen threads run
/// at a time; a program that controls its runs starts them from [`due`](crate::due).
///
/// # Errors
///
/// As [`due`](crate::due), if nothing could be listed. What fails on a thread, such as damage in what is
/// stored of it, is in its [`outcome`](Woken::outcome), and does not keep the others.
pub async fn wake_due<S: State>(
    graphs: &impl WakesThreads<S>,
    now: SystemTime,
) -> Result<Vec<Woken<S>>, AgentError> {
    let threads = graphs.threads()?;
    let saver = threads.saver()?;
    let filter = ThreadFilter::new()
        .status(RunStatus::Interrupted)
        .graph(threads.graph_name())
        .due_at(now);
    let mut due = list(&**saver, filter).await?;
    due.sort_by(|a, b| (a.wake_at, &a.thread).cmp(&(b.wake_at, &b.thread)));
    let woken = stream::iter(due).map(|info| async move {
        let outcome = match wake_one(graphs, &info, now).await {
            Ok(None) => return None,
            Ok(Some(run)) => run.await,
            Err(error) => Err(error),
        };
        match outcome {
            Err(error) if is_lost_race(&error) => None,
            outcome => Some(Woken {
                thread: info.thread,
                outcome,
            }),
        }
    });
    let woken: Vec<_> = woken.buffered(AT_ONCE).collect().await;
    Ok(woken.into_iter().flatten().collect())
}

/// Returns the run of a thread that may be due. If it is not, the saver learns when it will be.
async fn wake_one<S: State>(
    graphs: &impl WakesThreads<S>,
    info: &ThreadInfo,
    now: SystemTime,
) -> Result<Option<Run<S>>, AgentError> {
    let thread = graphs.thread(&info.thread).await?;
    let waits = thread.waits().await?;
    let answers = due_answers(&thread, &waits, now).await?;
    if !answers.is_empty() {
        return Ok(Some(thread.resume_all(answers)));
    }
    let next = waits.iter().filter_map(|wait| wait.until).min();
    if let Some(administration) = thread.saver()?.administration() {
        administration
            .set_wake_at(&info.thread, info.head, next)
            .await?;
    }
    Ok(None)
}

/// Returns true if another program has the thread.
fn is_lost_race(error: &AgentError) -> bool {
    use CheckpointError::{Conflict, Held, NothingToResume};
    matches!(
        error,
        AgentError::Checkpoint(Held { .. } | NothingToResume { .. } | Conflict { .. })
    )
}
