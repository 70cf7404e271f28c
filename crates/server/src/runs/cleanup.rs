//! Threads are removed: on request, and when their time is over.

use std::sync::Arc;

use super::attach::attach;
use super::submit::cancel;
use crate::app::App;
use crate::error::ApiResult;
use crate::queue::{Cancel, RunQueue};
use crate::rows::{Pruning, Thread};

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
    let owner = Some(thread.owner.as_str());
    for cron in app.rows.crons(owner).await? {
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

/// Prunes the threads whose time is over. One process does so for each of them.
pub(super) async fn expire(app: &Arc<App>) -> ApiResult<()> {
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
