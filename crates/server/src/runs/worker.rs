//! What a process does in the background: it carries out runs, and looks after them.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use langgraph_queue::{EventLog, RunQueue, Signal};
use langgraph_sql::this_process;
use serde_json::json;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use super::execute::{execute, forget, lost};
use super::feed::Feeds;
use super::live::LiveRuns;
use super::remove::expire;
use super::submit::catch_up;
use super::wake::wake;
use crate::app::App;
use crate::error::ApiResult;

/// How long the events of a run can be replayed.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// How often a run is attempted whose process is lost.
const ATTEMPTS: i64 = 3;

/// How long a process waits without a signal before it looks by itself.
const LOOK: Duration = Duration::from_secs(1);

/// After how many seconds the thread of a run without one is removed, if its process did not.
const LEFT_BEHIND: i64 = 600;

/// The runs of this process.
pub(crate) struct Runs {
    pub(crate) feeds: Feeds,
    pub(crate) live: LiveRuns,
    /// The name of this process in the queue.
    worker: String,
    slots: Arc<Semaphore>,
    pub(super) lease: Duration,
    draining: watch::Sender<bool>,
}

impl Runs {
    pub(crate) fn new(limit: usize, lease: Duration) -> Self {
        Self {
            feeds: Feeds::default(),
            live: LiveRuns::default(),
            worker: format!("{}/{}", this_process(), Uuid::new_v4()),
            slots: Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS))),
            lease,
            draining: watch::Sender::new(false),
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }
}

/// Starts what a process does in the background. It ends with the app.
pub(crate) fn start(app: &Arc<App>) {
    tokio::spawn(work(Arc::downgrade(app)));
    tokio::spawn(follow(Arc::downgrade(app)));
    tokio::spawn(tend(Arc::downgrade(app)));
    tokio::spawn(clear(Arc::downgrade(app)));
}

/// Removes what nobody wants any more.
async fn clear(app: Weak<App>) {
    loop {
        {
            let Some(app) = app.upgrade() else { return };
            if app.runs.is_draining() {
                return;
            }
            if let Err(error) = expire(&app).await {
                tracing::error!(?error, "the threads whose time is over cannot be read");
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Claims runs and starts crons, whenever there is something to do.
async fn work(app: Weak<App>) {
    let Some(mut signals) = app.upgrade().map(|app| app.rows.signals()) else {
        return;
    };
    loop {
        // What was said so far is one reason to look.
        while let Some(Some(_)) = signals.next().now_or_never() {}
        let wait = {
            let Some(app) = app.upgrade() else { return };
            if app.runs.is_draining() {
                return;
            }
            if let Err(error) = crate::crons::fire(&app).await {
                tracing::error!(?error, "the crons cannot be read");
            }
            if let Err(error) = wake(&app).await {
                tracing::error!(?error, "the threads that wait cannot be read");
            }
            claim_all(&app).await;
            until_next(&app).await
        };
        let sleep = tokio::time::sleep(wait);
        tokio::pin!(sleep);
        loop {
            tokio::select! {
                () = &mut sleep => break,
                signal = signals.next() => match signal {
                    Some(Signal::Queued | Signal::Ended(_) | Signal::Lost) => break,
                    Some(_) => {}
                    None => return,
                },
            }
        }
    }
}

async fn claim_all(app: &Arc<App>) {
    while !app.runs.is_draining() {
        let Ok(slot) = Arc::clone(&app.runs.slots).try_acquire_owned() else {
            return;
        };
        match app.rows.claim(&app.runs.worker, app.runs.lease).await {
            Ok(Some(claim)) => {
                let app = Arc::clone(app);
                tokio::spawn(async move {
                    execute(&app, claim).await;
                    drop(slot);
                    app.rows.wake();
                });
            }
            Ok(None) => return,
            Err(error) => {
                tracing::error!(%error, "no run can be claimed");
                return;
            }
        }
    }
}

/// Returns the time until something is due.
async fn until_next(app: &App) -> Duration {
    let delayed = app.rows.next_due().await.ok().flatten();
    let cron = app.rows.next_cron().await.ok().flatten();
    let cron = cron.map(|due| SystemTime::UNIX_EPOCH + Duration::from_millis(due.unsigned_abs()));
    let due = delayed.into_iter().chain(cron).min();
    let until = due.map(|due| due.duration_since(SystemTime::now()).unwrap_or_default());
    until.map_or(LOOK, |until| until.min(LOOK)) + Duration::from_millis(1)
}

/// Hears what other processes do: events for streams of this one, cancellations, ends.
async fn follow(app: Weak<App>) {
    let Some(mut signals) = app.upgrade().map(|app| app.rows.signals()) else {
        return;
    };
    loop {
        let signal = tokio::time::timeout(LOOK, signals.next()).await;
        let Some(app) = app.upgrade() else { return };
        let heard = match signal {
            Ok(None) => return,
            Ok(Some(Signal::Events(run) | Signal::Ended(run))) => match app.runs.feeds.get(&run) {
                Some(feed) => catch_up(&app, &feed).await,
                None => Ok(()),
            },
            Ok(Some(Signal::Cancel(run))) if app.runs.live.get(&run).is_none() => Ok(()),
            Ok(Some(Signal::Cancel(_))) => renew(&app).await,
            Ok(Some(Signal::Lost)) => match renew(&app).await {
                Ok(()) => catch_up_all(&app).await,
                error => error,
            },
            // A signal may be lost on its way.
            Err(_) if app.rows.is_shared() => catch_up_all(&app).await,
            _ => Ok(()),
        };
        if let Err(error) = heard {
            tracing::error!(?error, "the runs of other processes cannot be read");
        }
    }
}

async fn catch_up_all(app: &App) -> ApiResult<()> {
    for feed in app.runs.feeds.all() {
        if !feed.is_local() && feed.is_open() {
            catch_up(app, &feed).await?;
        }
    }
    Ok(())
}

/// Renews the leases of this process, and hears of cancellations and of runs that it has lost.
async fn renew(app: &App) -> ApiResult<()> {
    // Those that are claimed meanwhile are not asked about.
    let mine = app.runs.live.all();
    let held = app.rows.renew(&app.runs.worker, app.runs.lease).await?;
    for live in mine {
        let claim = &live.claim;
        let found = held
            .iter()
            .find(|held| held.run == claim.run && held.fence == claim.fence);
        match found {
            Some(held) => {
                if let Some(action) = held.cancel {
                    live.stop(action);
                }
            }
            // It may have been claimed while the database was asked.
            None if app.runs.live.get(&claim.run).is_some()
                && !app.rows.is_valid(&claim.run, claim.fence).await? =>
            {
                live.lose();
            }
            None => {}
        }
    }
    Ok(())
}

/// Renews leases, finds the runs of lost processes, and removes what is old.
async fn tend(app: Weak<App>) {
    let mut rounds = 0_u64;
    loop {
        let pause = {
            let Some(app) = app.upgrade() else { return };
            let tended = async {
                renew(&app).await?;
                app.rows.expire_gone().await?;
                let reaped = app.rows.reap(ATTEMPTS).await?;
                for run in reaped.failed {
                    fail(&app, &run).await?;
                }
                if rounds.is_multiple_of(20) {
                    let before = SystemTime::now().checked_sub(KEPT);
                    app.rows
                        .forget(before.unwrap_or(SystemTime::UNIX_EPOCH))
                        .await?;
                    for thread in app.rows.left_behind(LEFT_BEHIND).await? {
                        forget(&app, &thread.thread_id).await;
                    }
                }
                ApiResult::Ok(())
            };
            if let Err(error) = tended.await {
                tracing::error!(?error, "the runs cannot be looked after");
            }
            app.runs.lease / 3
        };
        rounds += 1;
        tokio::time::sleep(pause).await;
    }
}

/// Writes what is known of a run that was attempted too often.
async fn fail(app: &App, run: &str) -> ApiResult<()> {
    let Some(row) = app.rows.run_of_id(run).await? else {
        return Ok(());
    };
    let problem = lost();
    let change = |thread: &mut crate::rows::Thread| {
        "error".clone_into(&mut thread.status);
        thread.error = problem.clone();
    };
    app.rows.change_thread(&row.thread_id, change).await?;
    app.rows
        .set_result(run, &json!({"__error__": problem}))
        .await?;
    Ok(())
}

/// Stops claiming runs, lets those that run stop at the end of their superstep, and puts them back
/// in the queue. Those that have not stopped after `at_most` are put back as well.
pub(crate) async fn drain(app: &Arc<App>, at_most: Duration) {
    app.runs.draining.send_replace(true);
    for live in app.runs.live.all() {
        live.token.drain();
    }
    let stopped = async {
        while !app.runs.live.all().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(at_most, stopped).await.is_err() {
        for live in app.runs.live.all() {
            live.lose();
            if let Err(error) = app.rows.give_back(&live.claim).await {
                tracing::error!(%error, "a run cannot be put back");
            }
        }
    }
    for feed in app.runs.feeds.all() {
        feed.end(None);
    }
}

#[cfg(test)]
mod tests {
    use langgraph::prelude::*;

    use super::*;
    use crate::guard::Limits;
    use crate::server::Server;

    /// A server whose only slot is taken: it claims nothing by itself.
    #[tokio::test]
    async fn l3_a_run_that_is_cancelled_between_its_claim_and_its_start_ends() {
        let mut graph = StateGraph::<i64>::new();
        let forever = async |_: &i64| std::future::pending::<i64>().await;
        graph.add_node("slow", forever).add_sequence(&["slow"]);
        let server = Server::new().limits(Limits::default().runs(1));
        let server = server.graph("slow", graph.compile().unwrap());
        let serving = server.start().await.unwrap();
        let app = &serving.app;
        let _slot = app.runs.slots.acquire().await.unwrap();

        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = serving.router();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let client = reqwest::Client::new();
        let post = async |path: String, body: serde_json::Value| {
            let answer = client.post(format!("{address}{path}")).json(&body).send();
            let answer = answer.await.unwrap().error_for_status().unwrap();
            answer.bytes().await.unwrap()
        };
        let read = |bytes: &[u8], field: &str| {
            let value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            value[field].as_str().unwrap().to_owned()
        };
        let thread = read(&post("/threads".into(), json!({})).await, "thread_id");
        let body = json!({"assistant_id": "slow", "input": 1});
        let run = read(
            &post(format!("/threads/{thread}/runs"), body).await,
            "run_id",
        );

        let claim = app.rows.claim("another", Duration::from_secs(30)).await;
        let claim = claim.unwrap().unwrap();
        assert_eq!((claim.run.as_str(), claim.cancel), (run.as_str(), None));
        post(format!("/threads/{thread}/runs/{run}/cancel"), json!({})).await;

        let ended = tokio::time::timeout(Duration::from_secs(5), execute(app, claim)).await;
        assert!(ended.is_ok(), "the run goes on");
        let row = app.rows.run_of_id(&run).await.unwrap().unwrap();
        assert_eq!(row.status, "interrupted");
    }
}
