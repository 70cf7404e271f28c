//! The events of a thread, run after run.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{Stream, StreamExt, stream};
use langgraph_http::{BrokenOff, Frame, Sse};

use crate::encode::Encoder;
use crate::encode::v1::{Ids, V1};
use crate::encode::v2::{Channels, V2};
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::rows::Run;
use crate::runs::{Watcher, attach};
use crate::stream::FeedReader;
use crate::threads::sees;

/// How often a silent stream sends a comment. Clients count on it once they have seen one.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// How long a stream waits before it looks for runs by itself.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// How many runs are looked at together.
const RUNS: i64 = 16;

/// In which form the events are sent.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Those of the protocol.
    Events(Channels),
    /// Those of each run, as its own stream sends them.
    Runs,
}

struct ThreadStream {
    app: Access,
    thread: String,
    form: Form,
    /// The number of the last event that the client has seen.
    after: i64,
    watcher: Watcher,
    /// The numbers up to this one belong to runs that were shown.
    shown: i64,
    current: Option<Current>,
    frames: VecDeque<Frame>,
}

/// The run whose events are sent.
struct Current {
    events: FeedReader,
    encoder: Box<dyn Encoder>,
}

/// Streams the events of a thread after that number: of its runs so far, and of those to come. It
/// ends with its client, and breaks off with the server, or when an event cannot be read: its client
/// comes again with the last one that it has seen.
pub(crate) fn streamed(app: &Access, thread: String, form: Form, after: i64) -> Sse {
    Sse::breakable(frames(app, thread, form, after).boxed()).keep_alive(HEARTBEAT)
}

/// As [`streamed`], frame by frame.
pub(crate) fn frames(
    app: &Access,
    thread: String,
    form: Form,
    after: i64,
) -> impl Stream<Item = Result<Frame, BrokenOff>> + Send + 'static {
    let start = ThreadStream {
        watcher: app.runs.watchers.of(&thread),
        app: app.clone(),
        thread,
        form,
        after,
        shown: -1,
        current: None,
        frames: VecDeque::new(),
    };
    stream::unfold(Some(start), |state| async move {
        let mut state = state?;
        match state.next().await {
            Ok(Some(frame)) => return Some((Ok(frame), Some(state))),
            Ok(None) => {}
            Err(error) if !error.is_storage() => {}
            Err(error) => tracing::error!(?error, "failed to read the events of a thread"),
        }
        Some((Err(BrokenOff), None))
    })
}

impl ThreadStream {
    /// Returns the next frame; `None` when the server stops, or an event cannot be read.
    async fn next(&mut self) -> ApiResult<Option<Frame>> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Ok(Some(frame));
            }
            let Some(current) = &mut self.current else {
                if !self.find().await? {
                    if self.app.runs.is_draining() {
                        return Ok(None);
                    }
                    self.wait().await;
                }
                continue;
            };
            match current.events.next().await {
                Ok(Some(event)) => self.frames.extend(current.encoder.encode(&event)),
                Ok(None) => self.current = None,
                Err(BrokenOff) => return Ok(None),
            }
        }
    }

    /// Finds the next run whose events can be sent. Returns false without one.
    async fn find(&mut self) -> ApiResult<bool> {
        let app = self.app.clone();
        loop {
            let runs = app.rows.numbered_runs(&self.thread, self.shown, RUNS);
            let runs: Vec<(i64, Run)> = runs.await?;
            if runs.is_empty() {
                return Ok(false);
            }
            for (base, run) in runs {
                self.shown = base;
                if !app.stores_events(&run) {
                    continue;
                }
                // The thread may not have been there when the stream began.
                let thread = app.rows.thread(&self.thread).await?;
                if !thread.is_some_and(|thread| sees(&app, &thread)) {
                    return Err(ApiError::not_found("Thread not found"));
                }
                let (encoder, first) = self.encoder(&run, base);
                let feed = attach(&app, &run).await?;
                self.current = Some(Current {
                    events: FeedReader::new(&app.rows, feed, first),
                    encoder,
                });
                return Ok(true);
            }
        }
    }

    /// Returns the encoder of a run, and the number of the first event that it needs.
    fn encoder(&self, run: &Run, base: i64) -> (Box<dyn Encoder>, i64) {
        let after = self.after;
        match &self.form {
            Form::Events(channels) => {
                let graph = run.metadata["graph_id"].as_str().unwrap_or_default();
                let encoder = V2::new(&run.run_id, graph, base, channels.clone(), after);
                (Box::new(encoder), 0)
            }
            Form::Runs => {
                let ids = Ids::OfThread { base, after };
                let encoder = V1::new(run.kwargs.stream_mode.clone(), ids);
                let first = encoder.first_event(ids.next_event());
                (Box::new(encoder), first)
            }
        }
    }

    /// Waits until there may be another run.
    async fn wait(&mut self) {
        let _ = tokio::time::timeout(POLL_INTERVAL, self.watcher.changed()).await;
    }
}
