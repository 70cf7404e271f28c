//! One run, from its claim to its end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use langgraph::checkpoint::{Checkpointer, ThreadKey};
use langgraph::environment;
use langgraph::error::AgentError;
use langgraph::run::CancelToken;
use serde_json::{Value, json};

use super::attach::{last_event, load};
use super::failure::{fail_run, requeue};
use super::finish::{Attempt, finish};
use super::invocation::invocation;
use super::live::Live;
use super::outcome::Outcome;
use super::temporary::{Marked, leave_thread};
use crate::app::App;
use crate::error::ApiResult;
use crate::graph::{ErasedGraph, Finished, Head, Start};
use crate::queue::{Cancel, Claim, RunEnd, RunQueue};
use crate::rows::{Base, Run, merge};
use crate::saver::TERM;
use crate::stream::{
    OrderedSaver, Out, Publisher, Publishing, Spending, Spent, Stored, Storing, StreamEvent,
    StreamEventKind,
};
use crate::wire::usage::Usages;

/// How long the database may be away before a run that publishes events is put back.
const PATIENCE: Duration = Duration::from_secs(10);

/// Carries out a run that was claimed.
///
/// A future has room for the largest one that it awaits. What is awaited before and after the graph is boxed here, so
/// that a run whose model takes its time needs room for the graph alone.
pub(super) async fn execute(app: &Arc<App>, mut claim: Claim) {
    let began = environment::steady();
    // It is not needed again.
    let payload = std::mem::take(&mut claim.payload);
    let row: Arc<Run> = match serde_json::from_str(&payload) {
        Ok(row) => Arc::new(row),
        Err(error) => {
            tracing::error!(%error, run = claim.run, "failed to read a run");
            let _ = Box::pin(app.rows.finish(&claim, RunEnd::Status("error"), None)).await;
            return;
        }
    };
    drop(payload);
    let live = match Box::pin(open(app, claim.clone(), &row)).await {
        Ok(live) => live,
        Err(error) => {
            tracing::error!(?error, run = claim.run, "failed to begin a run");
            return Box::pin(requeue(app, &claim)).await;
        }
    };
    let session = Session {
        app: Arc::clone(app),
        live: Arc::clone(&live),
        row: Arc::clone(&row),
    };
    // Nothing of it is used again after a panic.
    let carried = AssertUnwindSafe(session.run()).catch_unwind();
    let outcome = match carried.await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) if error.is_storage() => {
            tracing::error!(?error, run = row.run_id, "the storage of a run failed");
            Box::pin(requeue(app, &live.claim)).await;
            Outcome::Requeued
        }
        Ok(Err(error)) => {
            tracing::error!(?error, run = row.run_id, "failed to carry out a run");
            Box::pin(fail_run(app, &live, &row)).await
        }
        Err(_) => {
            tracing::error!(run = row.run_id, "the task of a run panicked");
            Box::pin(fail_run(app, &live, &row)).await
        }
    };
    live.feed.set_local(false);
    app.runs.live.remove(&live);
    if let Outcome::Ended { result, removal } = outcome {
        app.metrics.run_ended(&result, environment::since(began));
        live.feed.end(Some(result));
        app.runs.deliveries.notify_one();
        let marked = removal.map(|mark| Marked {
            mark,
            holder: live.claim.holder().into(),
        });
        leave_thread(app, &row, marked);
    }
}

/// Opens the feed of a run, and lists the run among those of this process.
async fn open(app: &Arc<App>, claim: Claim, row: &Run) -> ApiResult<Arc<Live>> {
    let stores = app.stores_events(row);
    let last = if stores {
        last_event(app, &claim.run).await?
    } else {
        None
    };
    let feed = app.runs.feeds.of(&claim.run, stores, last.as_ref());
    feed.see();
    let live = Arc::new(Live::new(claim, feed));
    if let Some(action) = live.claim.cancel {
        live.cancel(action);
    }
    app.runs.live.add(&live);
    if app.runs.is_draining() {
        live.token.drain();
    }
    Ok(live)
}

/// A run that this process carries out.
struct Session {
    app: Arc<App>,
    live: Arc<Live>,
    row: Arc<Run>,
}

impl Session {
    /// Holds the thread while the run is carried out. No other run writes to it meanwhile, and
    /// this one writes nothing once another process has it.
    async fn run(&self) -> ApiResult<Outcome> {
        let (thread, holder) = (&self.row.thread_id, self.live.claim.holder());
        let saver = &self.app.saver;
        if !self.live.claim.has_lease {
            Box::pin(saver.seize(thread, &holder, TERM)).await?;
        }
        let mut carried = std::pin::pin!(self.carry_out());
        let outcome = loop {
            tokio::select! {
                biased;
                outcome = &mut carried => break outcome,
                () = tokio::time::sleep(TERM / 3) => {
                    // If another holder has it, the next record fails.
                    if let Err(error) = Box::pin(saver.lease(thread, &holder, TERM)).await {
                        tracing::warn!(%error, "failed to renew the lease of a thread");
                    }
                }
            }
        };
        let is_removed = matches!(
            &outcome,
            Ok(Outcome::Ended {
                removal: Some(_),
                ..
            })
        );
        if !is_removed && let Err(error) = Box::pin(saver.release(thread, &holder)).await {
            // The next run of the thread takes it.
            tracing::warn!(%error, "failed to release the lease of a thread");
        }
        outcome
    }

    async fn carry_out(&self) -> ApiResult<Outcome> {
        let Self { app, live, row } = self;
        let holder: Arc<str> = live.claim.holder().into();
        let saver = app.saver.held_by(&holder);
        let graph_id = row.metadata["graph_id"].as_str().unwrap_or_default();
        let graph = app.graph(graph_id)?.with_saver(Arc::clone(&saver));
        Box::pin(self.begin_events()).await?;
        let place = Box::pin(self.place(&*graph)).await?;
        // A claim that was lost before the thread was taken has taken it from its rightful holder,
        // who then takes it again.
        let Some(mut begun) = Box::pin(self.begin(&place)).await? else {
            live.revoke();
            return Ok(Outcome::Requeued);
        };
        // It may have been cancelled after it was claimed, and before this process could know.
        if let Some(action) = begun.cancel {
            live.cancel(action);
        }
        let mut out = self.out();
        let started = StreamEventKind::Started {
            run_id: row.run_id.clone(),
            attempt: live.claim.attempt,
        };
        Box::pin(out.push(StreamEvent::new(started))).await;
        let (ordered, barriers) = OrderedSaver::new(saver);
        let saver: Arc<dyn Checkpointer> = Arc::clone(&ordered) as _;
        let mut publishing = Publishing {
            publisher: Publisher::new(
                row.kwargs.stream_mode.clone(),
                self.metadata(),
                std::mem::take(&mut begun.usages),
                Spending::new(
                    app.prices.clone(),
                    Spent::from_wire(&row.metadata["usage_metadata"]),
                ),
            ),
            out: &mut out,
            barriers,
        };
        let held = graph.with_saver(saver);
        let base = begun.base;
        let attempted = match place {
            Ok(place) => self.attempt(&*held, &mut publishing, place, &base).await,
            // The thread of another graph, say.
            Err(error) => Ok(Err(error)),
        };
        ordered.close().await;
        let result = attempted?;
        let attempt = Attempt {
            spent: publishing.publisher.spent(),
            usages: publishing.publisher.usages,
            result,
            base,
        };
        Box::pin(finish(app, live, row, &*graph, out, attempt)).await
    }

    /// Reads what an earlier attempt has published, so that the numbers of this one follow.
    async fn begin_events(&self) -> ApiResult<()> {
        let feed = &self.live.feed;
        if feed.is_stored {
            let _one = feed.reading().await;
            load(&self.app, feed).await?;
        }
        feed.set_local(true);
        Ok(())
    }

    /// Returns where the thread is now.
    async fn place(&self, graph: &dyn ErasedGraph) -> ApiResult<Result<Place, AgentError>> {
        if self.live.claim.has_begun {
            return Ok(Ok(Place::default()));
        }
        let head = match graph.head(&self.row.thread_id).await {
            Ok(head) => head,
            Err(error) => return Ok(Err(error)),
        };
        let mut base = Base::default();
        if let Some(head) = &head {
            base.checkpoint = head.id.to_string();
        }
        // Answers, and a command, are stored with the checkpoint that waits for them: no new one says that an
        // earlier attempt has stored them, but the log is longer.
        if self.row.kwargs.command.is_some() {
            let log = ThreadKey::root(&self.row.thread_id);
            let head = self.app.saver.plain().head(&log).await?;
            base.version = head.and_then(|head| i64::try_from(head.version).ok());
        }
        Ok(Ok(Place { head, base }))
    }

    /// Marks the thread as busy, and notes where it was before the run; `None` if another process has the run.
    async fn begin(&self, place: &Result<Place, AgentError>) -> ApiResult<Option<Beginning>> {
        let Self { app, live, row } = self;
        let (claim, stores_events) = (&live.claim, live.feed.is_stored);
        let mut usages = Usages::default();
        let (base, cancel) = if claim.has_begun && (claim.has_numbers || !stores_events) {
            let Some(held) = app.rows.held(&claim.run, claim.fence).await? else {
                return Ok(None);
            };
            (Base::default(), held.cancel)
        } else {
            let now = place.as_ref().ok().map(|place| &place.base);
            let Some(begun) = app.rows.begin(claim, now, stores_events).await? else {
                return Ok(None);
            };
            usages.read(&begun.thread.values);
            (begun.base, begun.cancel)
        };
        usages.read(&row.kwargs.input);
        if let Some(command) = &row.kwargs.command {
            usages.read(&command.update);
        }
        Ok(Some(Beginning {
            base,
            cancel,
            usages,
        }))
    }

    /// Returns where the events of the run go.
    fn out(&self) -> Out {
        let live = &self.live;
        if live.feed.has_end() {
            return Out::AlreadyPublished;
        }
        if !live.feed.is_stored {
            return Out::Unstored(Arc::clone(&live.feed));
        }
        let stopped = Arc::clone(live);
        Out::stored(Storing {
            rows: Arc::clone(&self.app.rows),
            claim: live.claim.clone(),
            feed: Arc::clone(&live.feed),
            stop: Box::new(move |stored| match stored {
                Stored::Revoked => stopped.revoke(),
                _ => stopped.token.cancel(),
            }),
            patience: PATIENCE,
        })
    }

    /// Returns the metadata of its messages; null if its stream shows none.
    fn metadata(&self) -> Value {
        let modes = &self.row.kwargs.stream_mode;
        if !modes.iter().any(|mode| mode.shows_messages()) {
            return Value::Null;
        }
        let mut metadata = self.row.metadata.clone();
        let own = json!({"run_id": self.row.run_id, "thread_id": self.row.thread_id});
        merge(&mut metadata, &own);
        metadata
    }

    /// Runs the graph, from where an earlier attempt has stopped.
    async fn attempt(
        &self,
        graph: &dyn ErasedGraph,
        publishing: &mut Publishing<'_>,
        place: Place,
        base: &Base,
    ) -> ApiResult<Result<Finished, AgentError>> {
        let Self { app, live, row } = self;
        let token: CancelToken = live.token.clone();
        let mut invocation = invocation(row, token, &app.limits)?;
        if let Some(head) = place.head
            && (head.run.as_ref() == Some(&row.run_id) || is_behind(base, &place.base))
        {
            // An earlier attempt has begun: its input, and its command, are in the thread.
            invocation.start = Start::Recover;
            invocation.update = None;
            invocation.goto = None;
            invocation.at = None;
            invocation.inner = None;
            if head.is_done {
                let state = graph.state(&row.thread_id, None, false).await?;
                return Ok(Ok(Finished {
                    values: state.unwrap_or_default()["values"].clone(),
                    ..Finished::default()
                }));
            }
        }
        let mut result = graph.run(invocation, publishing).await;
        if let Ok(finished) = &mut result {
            publishing.publisher.usages.write(&mut finished.values);
        }
        Ok(result)
    }
}

/// Where a thread is.
#[derive(Default)]
struct Place {
    head: Option<Head>,
    /// The same, as it is noted before a run.
    base: Base,
}

/// What is known of a run that begins.
struct Beginning {
    /// Where the thread was before the run.
    base: Base,
    /// A request to cancel it.
    cancel: Option<Cancel>,
    /// What the messages of the thread have cost so far.
    usages: Usages,
}

/// Returns true if something was stored behind the checkpoint at which a run began.
fn is_behind(base: &Base, now: &Base) -> bool {
    base.checkpoint == now.checkpoint && base.version.is_some_and(|_| base.version < now.version)
}
