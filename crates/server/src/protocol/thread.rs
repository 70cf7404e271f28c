//! The events of a thread, run after run.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::{StreamExt, stream};
use langgraph_queue::{RunQueue, Signal, Signals};
use tokio::time::Instant;

use super::{Channels, Translator};
use crate::app::App;
use crate::error::ApiResult;
use crate::rows::{PER_EVENT, Run};
use crate::runs::{Feed, broken_off, join};

/// How often a silent stream says that it lives. Clients count on it once it has been said.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// How long a stream waits before it looks for runs by itself.
const LOOK: Duration = Duration::from_secs(1);

/// In which form the events are told.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Those of the protocol.
    Events(Channels),
    /// Those of each run, as its own stream tells them.
    Runs,
}

struct Streaming {
    app: Arc<App>,
    thread: String,
    form: Form,
    /// The number of the last event that the client has seen.
    since: i64,
    signals: Signals,
    seen: HashSet<String>,
    current: Option<Current>,
    heartbeat: Instant,
}

struct Current {
    feed: Arc<Feed>,
    translator: Translator,
    base: i64,
    next: usize,
}

/// Streams the events of a thread behind that number: of its runs so far, and of those to come. It
/// ends with its client, and breaks off with the server.
pub(crate) fn streamed(app: &Arc<App>, thread: String, form: Form, since: i64) -> Body {
    let start = Streaming {
        signals: app.rows.signals(),
        app: Arc::clone(app),
        thread,
        form,
        since,
        seen: HashSet::new(),
        current: None,
        heartbeat: Instant::now() + HEARTBEAT,
    };
    let texts = stream::unfold(Some(start), |state| async move {
        let mut state = state?;
        loop {
            let text = match state.step().await {
                Ok(Step::Text(text)) if text.is_empty() => continue,
                Ok(Step::Text(text)) => text,
                Ok(Step::End) => return Some((Err(broken_off()), None)),
                Err(error) => {
                    tracing::error!(?error, "the events of a thread cannot be read");
                    return Some((Err(broken_off()), None));
                }
            };
            state.heartbeat = Instant::now() + HEARTBEAT;
            return Some((Ok(text), Some(state)));
        }
    });
    Body::from_stream(texts.boxed())
}

enum Step {
    Text(String),
    End,
}

impl Streaming {
    async fn step(&mut self) -> ApiResult<Step> {
        if self.current.is_none() && !self.find().await? {
            if self.app.runs.is_draining() {
                return Ok(Step::End);
            }
            return Ok(Step::Text(self.wait().await));
        }
        let Some(current) = &mut self.current else {
            return Ok(Step::Text(String::new()));
        };
        let waiting = current.feed.wait_for(current.next);
        let Ok(frame) = tokio::time::timeout_at(self.heartbeat, waiting).await else {
            return Ok(Step::Text(heartbeat()));
        };
        let Some(frame) = frame else {
            return self.leave().await;
        };
        current.next += 1;
        let number = current.base + frame.seq * PER_EVENT + 1;
        Ok(Step::Text(match &self.form {
            Form::Runs if number > self.since && !frame.is_hidden() => {
                frame.text_as(Some(&format!("{}-{number}", frame.ms)))
            }
            Form::Runs => String::new(),
            Form::Events(channels) => {
                let told = current.translator.events(&frame).into_iter();
                let wanted = told.filter(|told| {
                    told.number > self.since
                        && channels.want(told.method, told.name.as_deref(), &told.namespace)
                });
                wanted.map(|told| told.text()).collect()
            }
        }))
    }

    /// Ends the current run.
    async fn leave(&mut self) -> ApiResult<Step> {
        let Some(mut current) = self.current.take() else {
            return Ok(Step::Text(String::new()));
        };
        if self.app.runs.is_draining() {
            return Ok(Step::End);
        }
        let row = self.app.rows.run_of_id(&current.feed.run).await?;
        let Some(row) = row else {
            return Ok(Step::Text(String::new()));
        };
        if row.is_open() {
            // It goes on elsewhere.
            self.seen.remove(&row.run_id);
            return Ok(Step::Text(String::new()));
        }
        let mut texts = String::new();
        if let (Form::Events(channels), false) = (&self.form, current.translator.has_ended) {
            let number = i64::try_from(current.next).unwrap_or(i64::MAX);
            for told in current.translator.lost(number, &row.status) {
                if told.number > self.since && channels.want(told.method, None, &told.namespace) {
                    texts.push_str(&told.text());
                }
            }
        }
        Ok(Step::Text(texts))
    }

    /// Finds the next run whose events can be told. Returns false without one.
    async fn find(&mut self) -> ApiResult<bool> {
        let app = Arc::clone(&self.app);
        let runs: Vec<(i64, Run)> = app.rows.numbered_runs(&self.thread).await?;
        for (base, run) in runs {
            if self.seen.contains(&run.run_id) || !app.keeps(&run) {
                continue;
            }
            self.seen.insert(run.run_id.clone());
            let graph = run.metadata["graph_id"].as_str().unwrap_or_default();
            self.current = Some(Current {
                feed: join(&app, &run).await?,
                translator: Translator::new(&run.run_id, graph, base),
                base,
                next: 0,
            });
            return Ok(true);
        }
        Ok(false)
    }

    /// Waits until there may be another run.
    async fn wait(&mut self) -> String {
        let look = tokio::time::sleep(LOOK);
        tokio::pin!(look);
        loop {
            tokio::select! {
                () = &mut look => break,
                () = tokio::time::sleep_until(self.heartbeat) => return heartbeat(),
                signal = self.signals.next() => match signal {
                    Some(Signal::Events(run)) if self.seen.contains(&run) => {}
                    Some(Signal::Cancel(_)) => {}
                    Some(_) => break,
                    None => {
                        look.await;
                        break;
                    }
                },
            }
        }
        String::new()
    }
}

fn heartbeat() -> String {
    ": heartbeat\r\n\r\n".to_owned()
}
