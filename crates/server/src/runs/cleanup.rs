//! Threads are removed: on request, at the end of their run, and when their time is over.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use super::attach::attach;
use super::claim::POLL_INTERVAL;
use super::submit::cancel;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::{Cancel, EventLog, RunQueue};
use crate::rows::{Pruning, Thread};

/// How long the events of a run can be replayed.
const EVENTS_KEPT: Duration = Duration::from_secs(60 * 60);

/// How long the thread of a run without one stays for streams in other processes.
const READERS_LEAVE: Duration = Duration::from_secs(30);

/// After how many seconds the thread of a run without one is removed, if its process did not.
const ORPHAN_AGE: i64 = 600;

/// Removes a thread with all that belongs to it. Its runs are cancelled first.
pub(crate) async fn remove_thread(app: &Arc<App>, thread: &Thread) -> ApiResult<()> {
    let id = &thread.thread_id;
    let open = app.rows.open(id).await?;
    for run in open.iter().rev() {
        let Some(row) = app.rows.run(id, run).await? else {
            continue;
        };
        let feed = attach(app, &row).await?;
        cancel(app, run, Cancel::Interrupt).await?;
        feed.result().await;
    }
    if let Some(graph) = app.graph_of_thread(&thread.metadata)? {
        graph.delete(id).await?;
    }
    for cron in app.rows.crons(None).await? {
        if cron.thread_id.as_ref() == Some(id) {
            app.rows.delete_cron(&cron.cron_id).await?;
        }
    }
    Ok(app.rows.delete_thread(id).await?)
}

/// Removes what the strategy says.
pub(crate) async fn prune_thread(
    app: &Arc<App>,
    thread: &Thread,
    strategy: Pruning,
) -> ApiResult<()> {
    match strategy {
        Pruning::Delete => remove_thread(app, thread).await,
        Pruning::KeepLatest => match app.graph_of_thread(&thread.metadata)? {
            Some(graph) => Ok(graph.prune(&thread.thread_id).await?),
            None => Ok(()),
        },
    }
}

/// Removes the thread of a run that had none. Streams of other processes may still read its events.
pub(super) async fn delete_temporary_thread(app: &Arc<App>, thread: &str) {
    if !app.rows.is_shared() {
        return delete_unused(app, thread).await;
    }
    let (app, thread) = (Arc::clone(app), thread.to_owned());
    tokio::spawn(async move {
        tokio::time::sleep(READERS_LEAVE).await;
        delete_unused(&app, &thread).await;
    });
}

/// Removes a temporary thread.
async fn delete_unused(app: &App, thread: &str) {
    let deleted = async {
        let Some(row) = app.rows.thread(thread).await? else {
            return Ok(());
        };
        if let Some(graph) = app.graph_of_thread(&row.metadata)? {
            graph.delete(thread).await?;
        }
        app.rows.delete_thread(thread).await?;
        ApiResult::Ok(())
    };
    if let Err(error) = deleted.await {
        tracing::warn!(?error, thread, "failed to delete temporary thread");
    }
}

/// Removes the events of ended runs, and temporary threads whose process was lost.
pub(super) async fn remove_old(app: &App) -> ApiResult<()> {
    let before = SystemTime::now().checked_sub(EVENTS_KEPT);
    let before = before.unwrap_or(SystemTime::UNIX_EPOCH);
    app.rows.forget(before).await?;
    for thread in app.rows.orphans(ORPHAN_AGE).await? {
        delete_unused(app, &thread.thread_id).await;
    }
    Ok(())
}

/// Prunes threads whose time is over, until the process ends.
pub(super) async fn expiry_loop(app: Weak<App>) {
    loop {
        {
            let Some(app) = app.upgrade() else { return };
            if app.runs.is_draining() {
                return;
            }
            if let Err(error) = expire(&app).await {
                tracing::error!(?error, "failed to list expired threads");
            }
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Prunes the threads whose time is over. One process does so for each of them.
async fn expire(app: &Arc<App>) -> ApiResult<()> {
    for (thread, mark) in app.rows.expired_threads().await? {
        let Some(ttl) = thread.ttl else { continue };
        let id = &thread.thread_id;
        let pruned = async {
            prune_thread(app, &thread, ttl.strategy).await?;
            app.rows.lives_on(id, mark).await?;
            ApiResult::Ok(())
        };
        if let Err(error) = pruned.await {
            tracing::error!(?error, thread = id, "failed to prune an expired thread");
        }
    }
    Ok(())
}
