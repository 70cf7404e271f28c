//! One run, from its claim to its end.

use std::sync::Arc;
use std::time::Duration;

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
use super::temporary::leave_thread;
use crate::app::App;
use crate::error::ApiResult;
use crate::graph::{ErasedGraph, Finished, Head, Start};
use crate::queue::{Claim, RunEnd, RunQueue};
use crate::rows::{Base, Run, Thread, Writer, merge};
use crate::stream::{
    OrderedSaver, Out, Publisher, Publishing, Spending, Spent, Stored, Storing, StreamEvent,
    StreamEventKind,
};
use crate::wire::usage::Usages;

/// How long a thread is held without a renewal. The queue, and not this, says which run is next.
const TERM: Duration = Duration::from_secs(600);

/// How long the database may be away before a run that publishes events is put back.
const PATIENCE: Duration = Duration::from_secs(10);

/// Carries out a run that was claimed.
pub(super) async fn execute(app: &Arc<App>, mut claim: Claim) {
    let began = environment::steady();
    // It is not needed again.
    let payload = std::mem::take(&mut claim.payload);
    let row: Arc<Run> = match serde_json::from_str(&payload) {
        Ok(row) => Arc::new(row),
        Err(error) => {
            tracing::error!(%error, run = claim.run, "failed to read a run");
            let _ = app.rows.finish(&claim, RunEnd::Status("error"), None).await;
            return;
        }
    };
    drop(payload);
    let live = match open(app, claim.clone(), &row).await {
        Ok(live) => live,
        Err(error) => {
            tracing::error!(?error, run = claim.run, "failed to begin a run");
            return requeue(app, &claim).await;
        }
    };
    let session = tokio::spawn({
        let session = Session {
            app: Arc::clone(app),
            live: Arc::clone(&live),
            row: Arc::clone(&row),
        };
        async move { session.run().await }
    });
    let outcome = match session.await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) if error.is_storage() => {
            tracing::error!(?error, run = row.run_id, "the storage of a run failed");
            requeue(app, &live.claim).await;
            Outcome::Requeued
        }
        Ok(Err(error)) => {
            tracing::error!(?error, run = row.run_id, "failed to carry out a run");
            fail_run(app, &live, &row).await
        }
        Err(error) => {
            tracing::error!(%error, run = row.run_id, "the task of a run panicked");
            fail_run(app, &live, &row).await
        }
    };
    live.feed.set_local(false);
    app.runs.live.remove(&live);
    if let Outcome::Ended { result } = outcome {
        app.metrics.run_ended(&result, environment::since(began));
        live.feed.end(Some(result));
        app.runs.deliveries.notify_one();
        leave_thread(app, &row);
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
        let (thread, holder) = (&self.row.thread_id, self.live.holder());
        let saver = &self.app.saver;
        saver.seize(thread, &holder, TERM).await?;
        // A claim that was lost before the thread was taken has taken it from its rightful holder,
        // who then takes it again.
        let claim = &self.live.claim;
        let held = self.app.rows.held(&claim.run, claim.fence).await?;
        // It may have been cancelled after it was claimed, and before this process could know.
        if let Some(action) = held.as_ref().and_then(|held| held.cancel) {
            self.live.cancel(action);
        }
        let outcome = if held.is_some() {
            let mut carried = std::pin::pin!(self.carry_out());
            loop {
                tokio::select! {
                    biased;
                    outcome = &mut carried => break outcome,
                    () = tokio::time::sleep(TERM / 3) => {
                        if let Err(error) = saver.renew(thread, &holder, TERM).await {
                            tracing::warn!(%error, "failed to renew the lease of a thread");
                        }
                    }
                }
            }
        } else {
            self.live.revoke();
            Ok(Outcome::Requeued)
        };
        if let Err(error) = saver.release(thread, &holder).await {
            // The next run of the thread takes it.
            tracing::warn!(%error, "failed to release the lease of a thread");
        }
        outcome
    }

    async fn carry_out(&self) -> ApiResult<Outcome> {
        let Self { app, live, row } = self;
        let holder: Arc<str> = live.holder().into();
        let saver = app.saver.held_by(&holder);
        let graph_id = row.metadata["graph_id"].as_str().unwrap_or_default();
        let graph = app.graph(graph_id)?.with_saver(Arc::clone(&saver));
        self.begin_events().await?;
        let Some(mut usages) = self.begin_thread().await? else {
            live.revoke();
            return Ok(Outcome::Requeued);
        };
        let mut out = self.out();
        let started = StreamEventKind::Started {
            run_id: row.run_id.clone(),
            attempt: live.claim.attempt,
        };
        out.push(StreamEvent::new(started)).await;
        let (ordered, barriers) = OrderedSaver::new(saver);
        let saver: Arc<dyn Checkpointer> = Arc::clone(&ordered) as _;
        let mut publishing = Publishing {
            publisher: Publisher::new(
                row.kwargs.stream_mode.clone(),
                self.metadata(),
                std::mem::take(&mut usages),
                Spending::new(
                    app.prices.clone(),
                    Spent::from_wire(&row.metadata["usage_metadata"]),
                ),
            ),
            out: &mut out,
            barriers,
        };
        let held = graph.with_saver(saver);
        let attempted = self.attempt(&*held, &mut publishing).await;
        ordered.close().await;
        let (result, base) = attempted?;
        let attempt = Attempt {
            spent: publishing.publisher.spent(),
            usages: publishing.publisher.usages,
            result,
            base,
        };
        finish(app, live, row, &*graph, out, attempt).await
    }

    /// Reads what an earlier attempt has published, so that the numbers of this one follow.
    async fn begin_events(&self) -> ApiResult<()> {
        let feed = &self.live.feed;
        if feed.is_stored {
            let _one = feed.reading().await;
            load(&self.app, feed).await?;
            feed.set_local(true);
            let (run, thread) = (&self.row.run_id, &self.row.thread_id);
            self.app.rows.begin_numbers(run, thread).await?;
        } else {
            feed.set_local(true);
        }
        Ok(())
    }

    /// Marks the thread as busy. Returns what its messages have cost so far; `None` if another
    /// process has the run.
    async fn begin_thread(&self) -> ApiResult<Option<Usages>> {
        let busy = |thread: &mut Thread| {
            "busy".clone_into(&mut thread.status);
            thread.error = Value::Null;
        };
        let writer = Writer::Run(&self.live.claim);
        let thread = &self.row.thread_id;
        let known = self.app.rows.change_thread_as(writer, thread, busy).await?;
        let Some(known) = known else {
            return Ok(None);
        };
        let mut usages = Usages::default();
        usages.read(&known.values);
        let spec = &self.row.kwargs;
        usages.read(&spec.input);
        if let Some(command) = &spec.command {
            usages.read(&command.update);
        }
        Ok(Some(usages))
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

    /// Returns the metadata of its messages.
    fn metadata(&self) -> Value {
        let mut metadata = self.row.metadata.clone();
        let own = json!({"run_id": self.row.run_id, "thread_id": self.row.thread_id});
        merge(&mut metadata, &own);
        metadata
    }

    /// Runs the graph, from where an earlier attempt has stopped. Also returns where the thread was before
    /// the run.
    async fn attempt(
        &self,
        graph: &dyn ErasedGraph,
        publishing: &mut Publishing<'_>,
    ) -> ApiResult<(Result<Finished, AgentError>, Base)> {
        let Self { app, live, row } = self;
        let token: CancelToken = live.token.clone();
        let mut invocation = invocation(row, token, &app.limits)?;
        let head = match graph.head(&row.thread_id).await {
            Ok(head) => head,
            // The thread of another graph, say.
            Err(error) => return Ok((Err(error), Base::default())),
        };
        let now = self.base_at(head.as_ref()).await?;
        let base = app.rows.base(&row.run_id, &now).await?;
        if let Some(head) = head
            && (head.run.as_ref() == Some(&row.run_id) || is_behind(&base, &now))
        {
            // An earlier attempt has begun: its input, and its command, are in the thread.
            invocation.start = Start::Recover;
            invocation.update = None;
            invocation.goto = None;
            invocation.at = None;
            invocation.inner = None;
            if head.is_done {
                let state = graph.state(&row.thread_id, None, false).await?;
                let finished = Finished {
                    values: state.unwrap_or_default()["values"].clone(),
                    ..Finished::default()
                };
                return Ok((Ok(finished), base));
            }
        }
        let mut result = graph.run(invocation, publishing).await;
        if let Ok(finished) = &mut result {
            publishing.publisher.usages.write(&mut finished.values);
        }
        Ok((result, base))
    }

    /// Returns where the thread is now.
    async fn base_at(&self, head: Option<&Head>) -> ApiResult<Base> {
        let mut now = Base::default();
        if let Some(head) = head {
            now.checkpoint = head.id.to_string();
        }
        // Answers, and a command, are stored with the checkpoint that waits for them: no new one says that an
        // earlier attempt has stored them, but the log is longer.
        if self.row.kwargs.command.is_some() {
            let log = ThreadKey::root(&self.row.thread_id);
            let head = self.app.saver.plain().head(&log).await?;
            now.version = head.and_then(|head| i64::try_from(head.version).ok());
        }
        Ok(now)
    }
}

/// Returns true if something was stored behind the checkpoint at which a run began.
fn is_behind(base: &Base, now: &Base) -> bool {
    base.checkpoint == now.checkpoint && base.version.is_some_and(|_| base.version < now.version)
}
