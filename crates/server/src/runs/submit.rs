//! Runs are put in the queue, and cancelled.

use std::sync::Arc;

use serde_json::json;

use super::attach::catch_up;
use super::claim::Vacancy;
use super::new_run::{NewRun, ThreadOfRun};
use super::temporary::leave_thread;
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::queue::{Cancel, Cancelled, Pushed, RunQueue};
use crate::rows::{RowsError, Run, Submitted, Worker};
use crate::saver::TERM;
use crate::threads::too_many;

/// Why a run is refused that does not want to wait.
pub(super) const BUSY: &str = "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.";

/// Puts a run in the queue, and changes its thread with it. The other runs of the thread are treated as its strategy
/// says. Returns `Known` if the run is there already, and `Changed` if the row of the thread has changed since it was
/// read.
pub(crate) async fn submit(
    app: &Arc<App>,
    new: &Arc<NewRun>,
    thread: ThreadOfRun,
) -> ApiResult<Pushed> {
    let (app, new) = (Arc::clone(app), Arc::clone(new));
    // A client that leaves drops its request. A run that is in the queue then is carried out all the same, and the
    // others are stopped.
    let submitted = tokio::spawn(async move { push_and_stop(&app, &new, thread).await });
    submitted.await.map_err(RowsError::from)?
}

async fn push_and_stop(
    app: &Arc<App>,
    new: &Arc<NewRun>,
    thread: ThreadOfRun,
) -> ApiResult<Pushed> {
    let row = &new.row;
    let pushed = match push(app, new, thread).await? {
        // Another run of a thread that was at rest has come first.
        Pushed::Busy if new.expected_doc.is_some() => Pushed::Changed,
        pushed => accepted(app, pushed, &row.thread_id)?,
    };
    if pushed != Pushed::Queued {
        return Ok(pushed);
    }
    if new.delay.is_some() {
        // A run whose time has not come stops the others when it has.
        app.runs.clock.notify_one();
    } else {
        stop_before(app, row).await?;
    }
    Ok(pushed)
}

/// Stops the runs that come before a run of their thread, if its strategy says so. Those whose time has not come stay.
pub(super) async fn stop_before(app: &Arc<App>, row: &Run) -> ApiResult<()> {
    let Some(action) = row.multitask_strategy.stops() else {
        return Ok(());
    };
    let active = app.rows.active(&row.thread_id).await?;
    // Looked at in the queue itself: of two runs that come at once, the later one stops the earlier one.
    let own = active.iter().position(|run| *run == row.run_id);
    let before = active.get(..own.unwrap_or(0));
    stop(app, before.unwrap_or_default(), action).await
}

/// Puts runs on new threads in the queue: all of them, or none. Returns `Known` if one of them is there already.
pub(super) async fn submit_all(
    app: &Arc<App>,
    new: Vec<(Arc<NewRun>, ThreadOfRun)>,
) -> ApiResult<Pushed> {
    let is_delayed = new.iter().any(|(new, _)| new.delay.is_some());
    let app_of_task = Arc::clone(app);
    // A client that leaves drops its request.
    let pushed = tokio::spawn(async move {
        let app = app_of_task;
        let submissions = new.iter();
        let submissions =
            submissions.map(|(new, thread)| new.submission(thread, &app.limits, None));
        let submissions = submissions.collect::<Result<_, _>>()?;
        pushed(&app, app.rows.submit_together(submissions).await?)
    });
    let pushed = pushed.await.map_err(RowsError::from)??;
    let pushed = accepted(app, pushed, "")?;
    if is_delayed {
        app.runs.clock.notify_one();
    }
    Ok(pushed)
}

/// Returns the error for a run that is not accepted.
fn accepted(app: &App, pushed: Pushed, thread: &str) -> ApiResult<Pushed> {
    match pushed {
        Pushed::Queued | Pushed::Known | Pushed::Changed => Ok(pushed),
        Pushed::Busy => Err(ApiError::conflict(BUSY)),
        Pushed::Gone => Err(ApiError::no_thread(thread)),
        Pushed::TooMany => Err(ApiError::too_many(format!(
            "{} runs wait already, which is the limit",
            app.limits.queued_runs
        ))),
    }
}

fn pushed(app: &App, submitted: Submitted) -> ApiResult<Pushed> {
    match submitted {
        Submitted::Pushed(pushed) => Ok(pushed),
        Submitted::TooManyThreads => Err(too_many(app)),
        // A run is claimed at once only for a worker, which these submissions do not name.
        Submitted::Claimed(_) => Ok(Pushed::Queued),
    }
}

/// Puts a run in the queue. If no other one comes first, this process carries it out at once.
async fn push(app: &Arc<App>, new: &NewRun, thread: ThreadOfRun) -> ApiResult<Pushed> {
    let vacancy = Vacancy::of(app).filter(|vacancy| vacancy.admits(&new.owner));
    let worker = vacancy.as_ref().map(|_| Worker {
        name: &app.runs.worker,
        lease: app.runs.lease,
        term: TERM,
        stores_events: app.stores_events(&new.row),
    });
    let submission = new.submission(&thread, &app.limits, worker)?;
    match (app.rows.submit(submission).await?, vacancy) {
        (Submitted::Claimed(claim), Some(vacancy)) => {
            vacancy.carry_out(app, claim);
            Ok(Pushed::Queued)
        }
        (submitted, _) => pushed(app, submitted),
    }
}

/// Cancels runs of a thread that come before another one.
pub(super) async fn stop(app: &Arc<App>, others: &[String], action: Cancel) -> ApiResult<()> {
    // Those that wait first: none of them may start meanwhile.
    for other in others.iter().rev() {
        cancel(app, other, action).await?;
    }
    Ok(())
}

/// Cancels a run. One that waits ends at once, another one as soon as it can. Returns false if it
/// has ended before.
pub(crate) async fn cancel(app: &Arc<App>, run: &str, action: Cancel) -> ApiResult<bool> {
    let Some(row) = app.rows.run_of_id(run).await? else {
        return Ok(false);
    };
    if row.kwargs.by_clock && action == Cancel::Interrupt {
        // If it waits, its thread still sleeps: it ends with that, or the clock would start it again.
        let done = app.rows.request_cancel(run, action).await?;
        return Ok(cancel_live(app, run, action, done));
    }
    withdraw(app, &row, action).await
}

/// As [`cancel`], for a run whose thread may stay as it is.
pub(super) async fn withdraw(app: &Arc<App>, row: &Run, action: Cancel) -> ApiResult<bool> {
    let run = &row.run_id;
    let result = json!({});
    let notice = app.webhooks.notice(row, "interrupted", &result);
    let done = app.rows.cancel(run, action, notice).await?;
    if done == Cancelled::Withdrawn {
        ended_before_it_began(app, row).await?;
    }
    Ok(cancel_live(app, run, action, done))
}

/// Cancels a run that this process has, if that is requested. Returns false if it has ended before.
fn cancel_live(app: &App, run: &str, action: Cancel, done: Cancelled) -> bool {
    if let (Cancelled::Requested, Some(live)) = (done, app.runs.live.get(run)) {
        live.cancel(action);
    }
    done != Cancelled::Ended
}

/// Tells those who wait for a run that it has ended in the queue.
pub(super) async fn ended_before_it_began(app: &Arc<App>, row: &Run) -> ApiResult<()> {
    app.runs.deliveries.notify_one();
    if let Some(feed) = app.runs.feeds.get(&row.run_id) {
        catch_up(app, &feed).await?;
    }
    leave_thread(app, row, None);
    Ok(())
}

/// Cancels a run when its client leaves before the end.
pub(crate) struct Disconnect {
    run: Option<(Arc<App>, String)>,
    can_return: bool,
}

impl Disconnect {
    pub(crate) fn new(app: &Arc<App>, run: &str, cancels: bool) -> Self {
        Self {
            run: cancels.then(|| (Arc::clone(app), run.to_owned())),
            can_return: true,
        }
    }

    /// The client has no way to read the rest of a run whose connection has ended.
    pub(crate) fn without_return(mut self) -> Self {
        self.can_return = false;
        self
    }

    /// Returns true if the client can read the rest of its run after a connection has ended.
    pub(crate) fn can_return(&self) -> bool {
        self.can_return
    }

    /// The server stops while the client reads. The run of a client that can come back goes on in
    /// another process; that of another client is cancelled, as it will be asked for again.
    pub(crate) async fn broken_off(&mut self) {
        if let Some((app, run)) = self.run.take()
            && !self.can_return
            && let Err(error) = cancel(&app, &run, Cancel::Interrupt).await
        {
            tracing::error!(
                ?error,
                "failed to cancel the run of a client that cannot return"
            );
        }
    }

    /// The run has ended, or its client no longer matters.
    pub(crate) fn disarm(&mut self) {
        self.run = None;
    }
}

impl Drop for Disconnect {
    fn drop(&mut self) {
        if let Some((app, run)) = self.run.take()
            // It is the server that leaves: a client that did not read sees the end of its connection only.
            && !(self.can_return && app.runs.is_draining())
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if let Err(error) = cancel(&app, &run, Cancel::Interrupt).await {
                    tracing::error!(?error, "failed to cancel the run of a client that left");
                }
            });
        }
    }
}
