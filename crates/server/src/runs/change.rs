//! A change of a thread from outside, which holds the thread as a run does.

use std::sync::Arc;
use std::time::Duration;

use langgraph::error::{AgentError, CheckpointError};
use langgraph_core::new_id;
use serde_json::Value;

use super::thread_row::{ThreadStatusUpdate, write_thread};
use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::graph::{Change, ErasedGraph, StateQuery};
use crate::queue::RunQueue;
use crate::rows::Thread;
use crate::threads::is_paused;
use crate::wire::usage::Usages;

/// How long a change holds its thread. The next one waits for that long if the process of this one is lost.
const TERM: Duration = Duration::from_secs(10);

/// What the name of a holder begins with that changes a thread.
const CHANGE: &str = "change/";

/// Changes the state of a thread, and its row. Returns what names the new checkpoint.
pub(crate) async fn change_state(
    app: &Arc<App>,
    thread: &Thread,
    change: Change,
) -> ApiResult<Value> {
    change_if(app, thread, change, |_| true).await
}

/// As [`change_state`], unless the row of the thread is not as it should be.
async fn change_if(
    app: &Arc<App>,
    thread: &Thread,
    change: Change,
    fits: impl Fn(&Thread) -> bool + Send + 'static,
) -> ApiResult<Value> {
    let graph = app.graph_of_thread(&thread.metadata)?;
    let graph = graph.ok_or_else(|| {
        ApiError::invalid(
            "the thread has no graph yet: create it with a `graph_id`, or run an assistant on it",
        )
    })?;
    let made = while_held(app, thread, graph, async move |app, graph, id| {
        // A removal that has marked the row before will take the lease, or has had it.
        let row = app.rows.thread(&id).await?;
        if !fits(&row.ok_or_else(|| ApiError::no_thread(&id))?) {
            return Err(ApiError::conflict("the thread has gone on meanwhile"));
        }
        change_held(&app, &*graph, &id, change).await
    });
    made.await?.ok_or_else(|| {
        ApiError::conflict(
            "Thread is running a task. Wait for it to finish before its state is changed.",
        )
    })
}

/// Ends a thread that a run has paused, as it was read: its interrupts get no answer any more. The run is interrupted,
/// and its result has no interrupts.
pub(crate) async fn give_up(app: &Arc<App>, thread: &Thread, run: &str) -> ApiResult<()> {
    let left_by = thread.left_by.clone();
    let is_same_pause = move |row: &Thread| is_paused(row) && row.left_by == left_by;
    change_if(app, thread, Change::end(), is_same_pause).await?;
    // A copy of a thread leaves the run that has paused the other one alone.
    let own = app.rows.run_of_id(run).await?;
    if own.is_none_or(|own| own.thread_id != thread.thread_id) {
        return Ok(());
    }
    let mut result = app.rows.result(run).await?;
    if let Some(Value::Object(fields)) = &mut result {
        fields.remove("__interrupt__");
    }
    let marked = app.rows.mark_interrupted(run, result.as_ref());
    Ok(marked.await?)
}

/// Removes all checkpoints of a thread but the newest. Returns false if a run has the thread: one that begins later
/// finds it pruned, and one that has begun meanwhile keeps the checkpoint to which it may be rolled back.
pub(super) async fn keep_latest(app: &Arc<App>, thread: &Thread) -> ApiResult<bool> {
    let Some(graph) = app.graph_of_thread(&thread.metadata)? else {
        return Ok(app.rows.active(&thread.thread_id).await?.is_empty());
    };
    let pruned = while_held(app, thread, graph, async move |_, graph, id| {
        match graph.prune(&id).await {
            Err(AgentError::Checkpoint(CheckpointError::LeaseLost { .. })) => Ok(false),
            pruned => Ok(pruned.map(|()| true)?),
        }
    });
    Ok(pruned.await?.unwrap_or(false))
}

/// Does `act` with the graph of a thread, over the saver of a holder that has the thread; `None` if a run has it
/// instead.
///
/// It goes on when the client has gone: the thread does not stay held.
async fn while_held<T, F>(
    app: &Arc<App>,
    thread: &Thread,
    graph: Arc<dyn ErasedGraph>,
    act: impl FnOnce(Arc<App>, Arc<dyn ErasedGraph>, String) -> F + Send + 'static,
) -> ApiResult<Option<T>>
where
    T: Send + 'static,
    F: Future<Output = ApiResult<T>> + Send,
{
    let (app, id) = (Arc::clone(app), thread.thread_id.clone());
    let done = tokio::spawn(async move {
        let holder: Arc<str> = format!("{CHANGE}{}", new_id()).into();
        if !take(&app, &id, &holder).await? {
            return Ok(None);
        }
        let graph = graph.with_saver(app.saver.held_by(&holder));
        let done = act(Arc::clone(&app), graph, id.clone()).await;
        if let Err(error) = app.saver.release(&id, &holder).await {
            // The next change waits until the lease ends.
            tracing::warn!(%error, thread = id, "failed to release the lease of a thread");
        }
        done.map(Some)
    });
    done.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a change of a thread panicked");
        Err(ApiError::broken())
    })
}

/// Waits until no other change holds the thread, and takes it. Returns false if a run that waits or runs has it instead.
async fn take(app: &App, thread: &str, holder: &str) -> ApiResult<bool> {
    if is_active(app, thread).await? {
        return Ok(false);
    }
    let mut pause = Duration::from_millis(5);
    while let Some(held) = app.saver.lease(thread, holder, TERM).await? {
        if held.holder.starts_with(CHANGE) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(250));
        } else if !free_from(app, thread, &held.holder).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes a thread from a run that has ended, or from a removal, which takes it again. Returns false for a run that has
/// not ended.
pub(super) async fn free_from(app: &App, thread: &str, holder: &str) -> ApiResult<bool> {
    // It held the thread before this look: a run that has not ended is seen.
    if is_active(app, thread).await? {
        return Ok(false);
    }
    app.saver.release(thread, holder).await?;
    Ok(true)
}

async fn is_active(app: &App, thread: &str) -> ApiResult<bool> {
    Ok(!app.rows.active(thread).await?.is_empty())
}

/// Changes a thread whose lease the saver of the graph has.
async fn change_held(
    app: &App,
    graph: &dyn ErasedGraph,
    thread: &str,
    change: Change,
) -> ApiResult<Value> {
    let namespace = change.namespace.clone();
    let mut usages = Usages::default();
    for update in &change.updates {
        usages.read(&update.values);
    }
    let made = match graph.update(thread, change).await {
        Err(AgentError::Checkpoint(CheckpointError::LeaseLost { .. }))
            if app.rows.thread(thread).await?.is_none() =>
        {
            return Err(ApiError::no_thread(thread));
        }
        made => made.map_err(|error| ApiError::of_graph(error, app.shows_errors))?,
    };
    let made = made.ok_or_else(|| {
        let namespace = namespace.map(|namespace| namespace.to_string());
        let namespace = namespace.unwrap_or_default();
        ApiError::not_found(format!("Thread {thread} has no subgraph `{namespace}`"))
    })?;
    if write_changed(app, graph, thread, usages).await? {
        Ok(made)
    } else {
        Err(ApiError::no_thread(thread))
    }
}

/// Writes what the row of a thread says of its state, if no run has left it so. Returns false if the thread was removed
/// meanwhile.
pub(crate) async fn write_changed(
    app: &App,
    graph: &dyn ErasedGraph,
    thread: &str,
    usages: Usages,
) -> ApiResult<bool> {
    let state = graph.state(thread, &StateQuery::default()).await?;
    let waits = state.is_some_and(|state| {
        state["next"]
            .as_array()
            .is_some_and(|next| !next.is_empty())
    });
    let status = if waits { "interrupted" } else { "idle" };
    let update = ThreadStatusUpdate {
        usages,
        is_from_outside: true,
        ..ThreadStatusUpdate::new(status)
    };
    write_thread(app, graph, thread, update).await
}
