//! Threads are removed: on request, and when their time is over.

use std::sync::Arc;

use super::attach::attach;
use super::change::keep_latest;
use super::removal::finish_removal;
use super::submit::withdraw;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::{Cancel, RunQueue};
use crate::rows::{Pruning, Thread};

/// Removes a thread with all that belongs to it. Its runs are cancelled first; from then on it takes no others, and
/// what is stored on it by an act that has seen it before is removed, too.
pub(crate) async fn remove_thread(app: &Arc<App>, thread: &Thread) -> ApiResult<()> {
    let id = &thread.thread_id;
    // Its states cannot be deleted without its graph: it is refused before anything is done to it.
    app.graph_of_thread(&thread.metadata)?;
    loop {
        let open = app.rows.open(id).await?;
        for run in open.iter().rev() {
            let Some(row) = app.rows.run(id, run).await? else {
                continue;
            };
            let feed = attach(app, &row).await?;
            withdraw(app, &row, Cancel::Interrupt).await?;
            feed.result().await;
        }
        if app.rows.begin_removal(id).await? {
            return finish_removal(app, id).await;
        }
        if app.rows.thread(id).await?.is_none() {
            return Ok(());
        }
    }
}

/// Removes what the strategy says. Returns false if a run needs it: the checkpoint to which it may be rolled back.
pub(crate) async fn prune_thread(
    app: &Arc<App>,
    thread: &Thread,
    strategy: Pruning,
) -> ApiResult<bool> {
    match strategy {
        Pruning::Delete => remove_thread(app, thread).await.map(|()| true),
        Pruning::KeepLatest => keep_latest(app, thread).await,
    }
}

/// Prunes the threads whose time is over. One process does so for each of them.
pub(super) async fn expire(app: &Arc<App>) -> ApiResult<()> {
    for (thread, mark) in app.rows.expired_threads().await? {
        if let Err(error) = prune_expired(app, &thread, mark).await {
            let thread = thread.thread_id;
            tracing::error!(?error, thread, "failed to prune an expired thread");
        }
    }
    Ok(())
}

/// Prunes a thread whose time is over, unless it was changed, or a run has come, since it was found.
pub(super) async fn prune_expired(app: &Arc<App>, thread: &Thread, mark: i64) -> ApiResult<()> {
    let id = &thread.thread_id;
    // Its process was lost before the removal had ended.
    if app.rows.removal(id).await?.is_some() {
        return finish_removal(app, id).await;
    }
    let Some(ttl) = thread.ttl else {
        return Ok(());
    };
    match ttl.strategy {
        Pruning::Delete => {
            // Its states cannot be deleted without its graph.
            app.graph_of_thread(&thread.metadata)?;
            if app.rows.begin_removal_of_expired(id, mark).await? {
                finish_removal(app, id).await?;
            }
        }
        Pruning::KeepLatest => {
            if app.rows.is_expired(id, mark).await? && keep_latest(app, thread).await? {
                app.rows.lives_on(id, mark).await?;
            }
        }
    }
    Ok(())
}
