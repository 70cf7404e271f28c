//! Runs whose frames are kept.

mod options;
mod reader;
mod run_frames;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::run::EventStream;
use langgraph::state::State;
use serde::Serialize;
use tokio::sync::watch;

pub use self::options::ReplayOptions;
use self::reader::Reader;
use self::run_frames::RunFrames;
use crate::{FrameId, Frames, InvalidFrameId, Sse};

/// Runs that go on without their client: it keeps the last frames of each, so that a client that
/// has lost its connection goes on where it was, and several clients see one run.
///
/// A run is kept under a name, which is usually that of its thread. The next run under the same
/// name takes its place. [`ReplayOptions`] says how much is kept, for how long, and how long a run
/// without a reader goes on.
///
/// A run waits for the slowest of its readers, as every stream does: none of them misses a frame.
///
/// It is a handle: clones share what is kept. It needs a tokio runtime.
///
/// # Examples
///
/// ```
/// use futures_util::StreamExt as _;
/// use langgraph::prelude::*;
/// use langgraph_http::Replay;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let replay = Replay::default();
///
/// let events = graph.compile()?.run(21).stream(StreamMode::Values).accepted().await?;
/// let mut body = replay.keep("t", events);
/// let first = body.next().await.unwrap();
/// drop(body); // the connection is lost
///
/// let id = first.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
/// let rest: Vec<_> = replay.resume("t", id)?.collect().await;
/// assert_eq!(rest.len(), 2);
/// assert!(rest[1].contains("event: end"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Replay {
    options: ReplayOptions,
    runs: Arc<Runs>,
}

/// The runs that are kept, by name.
struct Runs {
    by_name: Mutex<HashMap<String, Arc<RunFrames>>>,
    /// How many of them have not ended.
    running: watch::Sender<usize>,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            by_name: Mutex::default(),
            running: watch::Sender::new(0),
        }
    }
}

impl Runs {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<RunFrames>>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why there is nothing to resume.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotResumable {
    /// The text is no id of an event.
    #[error(transparent)]
    Invalid(#[from] InvalidFrameId),
    /// No run is kept under the name, or another one.
    #[error("no such run of `{name}` is kept")]
    Unknown {
        /// The name.
        name: String,
    },
    /// The frames that follow are not kept any more.
    #[error("what follows event `{id}` is not kept any more")]
    Forgotten {
        /// The id.
        id: String,
    },
    /// The client has seen the whole run.
    #[error("the run ended with event `{id}`")]
    Ended {
        /// The id.
        id: String,
    },
}

impl NotResumable {
    /// The HTTP status that fits. 204 stops the `EventSource` of a browser.
    pub const fn http_status(&self) -> u16 {
        match self {
            Self::Invalid(_) => 400,
            Self::Unknown { .. } => 404,
            Self::Forgotten { .. } => 410,
            Self::Ended { .. } => 204,
        }
    }

    /// The reason as a word for clients.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid_input",
            Self::Unknown { .. } => "not_found",
            Self::Forgotten { .. } => "forgotten",
            Self::Ended { .. } => "ended",
        }
    }
}

impl Replay {
    /// Keeps runs as `options` say.
    pub fn new(options: ReplayOptions) -> Self {
        Self {
            options,
            runs: Arc::default(),
        }
    }

    /// Lets the run go on in the background and keeps its frames under `name`. The result reads
    /// them from the first one.
    ///
    /// A run that is kept under `name` already can no longer be resumed; its readers read on.
    pub fn keep<S>(&self, name: impl Into<String>, events: EventStream<S>) -> Sse
    where
        S: State<Update: Serialize> + Serialize,
    {
        let name = name.into();
        let frames = Frames::new(events);
        let run = Arc::new(RunFrames::new(frames.run_id(), self.options.frames));
        let reader = Reader::new(&run, 0);
        self.runs.all().insert(name.clone(), Arc::clone(&run));
        self.runs.running.send_modify(|running| *running += 1);
        let (runs, options) = (Arc::clone(&self.runs), self.options.clone());
        tokio::spawn(async move {
            let running = Running(&runs.running);
            run.drive(frames, options.grace).await;
            drop(running);
            tokio::time::sleep(options.keep).await;
            let mut all = runs.all();
            if all.get(&name).is_some_and(|now| Arc::ptr_eq(now, &run)) {
                all.remove(&name);
            }
        });
        Sse::new(reader)
    }

    /// The frames of the run under `name` that follow the one with the id `last`: what a client
    /// sends as `Last-Event-ID`.
    ///
    /// # Errors
    ///
    /// [`NotResumable`].
    pub fn resume(&self, name: &str, last: &str) -> Result<Sse, NotResumable> {
        let id: FrameId = last.parse()?;
        let unknown = || NotResumable::Unknown {
            name: name.to_owned(),
        };
        let run = self.get(name).ok_or_else(unknown)?;
        if run.run_id() != id.run() {
            return Err(unknown());
        }
        let reader = Reader::after(&run, id.number());
        Ok(Sse::new(reader.map_err(|problem| problem(last))?))
    }

    /// The frames of the run under `name` from the first one that is kept: for a client that
    /// joins.
    ///
    /// # Errors
    ///
    /// [`NotResumable::Unknown`].
    pub fn follow(&self, name: &str) -> Result<Sse, NotResumable> {
        match self.get(name) {
            Some(run) => Ok(Sse::new(Reader::new(&run, run.frames.first()))),
            None => Err(NotResumable::Unknown {
                name: name.to_owned(),
            }),
        }
    }

    /// Drops the run under `name`. Its readers see an `error` frame with the code `cancelled`.
    /// False when it has ended, or none is kept.
    pub fn cancel(&self, name: &str) -> bool {
        self.get(name).is_some_and(|run| run.cancel())
    }

    /// How many runs have not ended.
    pub fn running(&self) -> usize {
        *self.runs.running.borrow()
    }

    /// Waits until all runs have ended: the last step of a graceful stop.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the runs go on.
    pub async fn idle(&self) {
        let mut running = self.runs.running.subscribe();
        // The sender lives as long as this handle.
        let _ = running.wait_for(|running| *running == 0).await;
    }

    fn get(&self, name: &str) -> Option<Arc<RunFrames>> {
        self.runs.all().get(name).cloned()
    }
}

/// Counts a run until it is dropped, also by a runtime that stops.
struct Running<'a>(&'a watch::Sender<usize>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("options", &self.options)
            .field("running", &self.running())
            .finish_non_exhaustive()
    }
}

langgraph::debug_is_message!(NotResumable);
