//! One run, from its claim to its end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use langgraph::environment;

use super::attach::last_event;
use super::begin::{Next, Prepared};
use super::failure::{fail_run, requeue};
use super::finish::{Attempt, finish};
use super::live::Live;
use super::outcome::Outcome;
use super::session::Session;
use super::temporary::{Marked, leave_thread};
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::{Claim, ClaimedWith, RunEnd, RunQueue};
use crate::rows::Run;
use crate::saver::TERM;
use crate::stream::StreamEvent;

/// Carries out a run that was claimed.
///
/// What this future holds while the graph runs is memory of each open stream. A future is as large as the largest one
/// that it awaits, so what is awaited before and after the graph is boxed, and the row is read again after the graph.
pub(super) async fn execute(app: &Arc<App>, claim: Box<Claim>) {
    let began = environment::steady();
    let Some((live, row)) = Box::pin(take_up(app, *claim)).await else {
        return;
    };
    let app = Arc::clone(app);
    let session = Session { app, live };
    // Nothing of it is used again after a panic.
    let carried = AssertUnwindSafe(session.run(row)).catch_unwind().await;
    Box::pin(session.close(began, carried)).await;
}

/// Reads a run that was claimed, and lists it among those of this process.
async fn take_up(app: &Arc<App>, claim: Claim) -> Option<(Arc<Live>, Arc<Run>)> {
    let row: Arc<Run> = match serde_json::from_str(&claim.payload) {
        Ok(row) => Arc::new(row),
        Err(error) => {
            tracing::error!(%error, run = claim.run, "failed to read a run");
            let _ = app.rows.finish(&claim, RunEnd::Status("error"), None).await;
            return None;
        }
    };
    let stores = app.stores_events(&row);
    let last = if stores && claim.with == ClaimedWith::Nothing {
        last_event(app, &claim.run).await
    } else {
        Ok(None)
    };
    match last {
        Ok(last) => Some((open(app, claim, stores, last.as_ref()), row)),
        Err(error) => {
            tracing::error!(?error, run = claim.run, "failed to begin a run");
            requeue(app, &claim).await;
            None
        }
    }
}

/// Opens the feed of a run after its last stored event, and lists the run among those of this process.
fn open(app: &App, claim: Claim, stores: bool, last: Option<&StreamEvent>) -> Arc<Live> {
    let feed = app.runs.feeds.of(&claim.run, stores, last);
    feed.see();
    let live = Arc::new(Live::new(claim, feed));
    if let Some(action) = live.claim.cancel {
        live.cancel(action);
    }
    app.runs.live.add(&live);
    if app.runs.is_draining() {
        live.token.drain();
    }
    live
}

/// What became of a run, and its row.
type Carried = (Outcome, Arc<Run>);

impl Session {
    /// Holds the thread while the run is carried out. No other run writes to it meanwhile, and
    /// this one writes nothing once another process has it.
    async fn run(&self, row: Arc<Run>) -> ApiResult<Carried> {
        let (thread, holder) = (&self.live.claim.thread, self.live.claim.holder());
        let saver = &self.app.saver;
        if !self.live.claim.has_lease && !Box::pin(self.seize(&holder)).await? {
            self.live.revoke();
            return Ok((Outcome::NotEnded, row));
        }
        let mut carried = std::pin::pin!(self.carry_out(row));
        let carried = loop {
            tokio::select! {
                biased;
                carried = &mut carried => break carried,
                () = tokio::time::sleep(TERM / 3) => {
                    // If another holder has it, the next record fails.
                    if let Err(error) = Box::pin(saver.lease(thread, &holder, TERM)).await {
                        tracing::warn!(%error, "failed to renew the lease of a thread");
                    }
                }
            }
        };
        let removal = match &carried {
            Ok((Outcome::Ended { removal, .. }, _)) => removal.as_ref(),
            _ => None,
        };
        if removal.is_none()
            && let Err(error) = Box::pin(saver.release(thread, &holder)).await
        {
            // The next run of the thread takes it.
            tracing::warn!(%error, "failed to release the lease of a thread");
        }
        carried
    }

    /// Takes the thread from whoever had it before this claim; returns false if the claim is not valid any more.
    async fn seize(&self, holder: &str) -> ApiResult<bool> {
        let Self { app, live } = self;
        let claim = &live.claim;
        let is_valid = || {
            let is_valid = async { Ok(app.rows.is_valid(&claim.run, claim.fence).await?) };
            is_valid.boxed()
        };
        app.saver.seize(&claim.thread, holder, is_valid).await
    }

    async fn carry_out(&self, row: Arc<Run>) -> ApiResult<Carried> {
        let Prepared {
            graph,
            ordered,
            mut publishing,
            base,
            next,
        } = match Box::pin(self.begin(&row)).await? {
            Some(begun) => *begun,
            None => return Ok((Outcome::NotEnded, row)),
        };
        drop(row);
        let result = match next {
            Ok(Next::Run(invocation)) => {
                let mut result = graph.run(invocation, &mut publishing).await;
                if let Ok(finished) = &mut result {
                    publishing.publisher.usages.write(&mut finished.values);
                }
                result
            }
            Ok(Next::Nothing(finished)) => Ok(finished),
            Err(error) => Err(error),
        };
        ordered.close().await;
        let row = Arc::new(self.live.row()?);
        let attempt = Attempt {
            spent: publishing.publisher.spent(),
            usages: publishing.publisher.usages,
            result,
            base,
        };
        let out = publishing.out;
        let graph = self.graph(&row)?;
        let finished = finish(&self.app, &self.live, &row, &*graph, out, attempt);
        Ok((Box::pin(finished).await?, row))
    }

    /// Ends what this process has of the run, and leaves its thread.
    async fn close(&self, began: Instant, carried: std::thread::Result<ApiResult<Carried>>) {
        let Self { app, live } = self;
        let run = &live.claim.run;
        let (outcome, row) = match carried {
            Ok(Ok((outcome, row))) => (outcome, Some(row)),
            Ok(Err(error)) if error.is_storage() => {
                tracing::error!(?error, run, "the storage of a run failed");
                requeue(app, &live.claim).await;
                (Outcome::NotEnded, None)
            }
            Ok(Err(error)) => {
                tracing::error!(?error, run, "failed to carry out a run");
                self.fail().await
            }
            Err(_) => {
                tracing::error!(run, "the task of a run panicked");
                self.fail().await
            }
        };
        app.runs.live.remove(live);
        if let Outcome::Ended { result, removal } = outcome {
            let end = live.feed.end_status();
            app.metrics
                .run_ended(end, &result, environment::since(began));
            live.feed.end(Some(result));
            app.runs.deliveries.notify_one();
            let marked = removal.map(|mark| Marked {
                mark,
                holder: live.claim.holder().into(),
            });
            if let Some(row) = &row {
                leave_thread(app, row, marked);
            }
        }
    }

    /// Ends a run that could not be carried out.
    async fn fail(&self) -> (Outcome, Option<Arc<Run>>) {
        let Self { app, live } = self;
        match live.row() {
            Ok(row) => (fail_run(app, live, &row).await, Some(Arc::new(row))),
            // It could be read before.
            Err(error) => {
                tracing::error!(%error, run = live.claim.run, "failed to read a run");
                requeue(app, &live.claim).await;
                (Outcome::NotEnded, None)
            }
        }
    }
}
