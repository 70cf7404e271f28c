//! Threads, as the user of a request sees them.

use std::time::SystemTime;

use serde_json::Value;

use crate::app::App;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::ids::thread_id;
use crate::rows::{Creation, Thread, Ttl};
use crate::runs::finish_removal;
use crate::wire::sleep::{all_sleep_until, asks, sleeps};

/// Returns true if the user sees the thread.
pub(crate) fn sees(app: &Access, thread: &Thread) -> bool {
    app.sees(&thread.owner) && app.filters.threads.fits(&thread.metadata)
}

/// Returns the open interrupts of a thread. Those of one that is busy are being answered, and those
/// beside a failure or a cancellation, which is the error of the thread, were shown to no client.
fn open(thread: &Thread) -> impl Iterator<Item = &Value> {
    let is_shown = thread.status != "busy" && thread.error.is_null();
    let tasks = thread.interrupts.as_object().filter(|_| is_shown);
    let open = tasks.into_iter().flat_map(|tasks| tasks.values());
    open.filter_map(Value::as_array).flatten()
}

/// Returns the payloads of the open interrupts of a thread.
fn payloads(thread: &Thread) -> impl Iterator<Item = &Value> {
    open(thread).map(|interrupt| &interrupt["value"])
}

/// Keeps those of the interrupts with which a run has ended that its thread still has: a change of the state closes them.
pub(crate) fn retain_open(thread: &Thread, result: &mut Value) {
    let listed = result
        .get_mut("__interrupt__")
        .and_then(Value::as_array_mut);
    if let Some(listed) = listed {
        listed.retain(|ended| open(thread).any(|open| open["id"] == ended["id"]));
    }
}

/// Returns true if a thread waits for answers.
pub(crate) fn is_waiting(thread: &Thread) -> bool {
    payloads(thread).any(asks)
}

/// Returns when a thread goes on by itself that waits for nothing else: its run is work in progress.
pub(crate) fn sleeps_until(thread: &Thread) -> Option<SystemTime> {
    all_sleep_until(payloads(thread))
}

/// Refuses an input for a thread that sleeps: it would end the sleep, and what was to come after it.
pub(crate) fn refuse_asleep(thread: &Thread) -> ApiResult<()> {
    match sleeps_until(thread) {
        Some(until) => Err(ApiError::conflict(format!("the thread {}", sleeps(until)))),
        None => Ok(()),
    }
}

/// Returns true if a run has paused a thread, for an answer or at a breakpoint. A thread whose run was cancelled has the
/// error of that run, and one whose state was changed when no run waited there was left by none.
pub(crate) fn is_paused(thread: &Thread) -> bool {
    let is_left_by_run = thread.left_by.as_deref() != Some("");
    thread.status == "interrupted" && thread.error.is_null() && is_left_by_run
}

/// Returns true if a run has paused a thread at a breakpoint.
pub(crate) fn is_at_breakpoint(thread: &Thread) -> bool {
    is_paused(thread) && open(thread).next().is_none()
}

/// Returns a new thread that is removed when the server says so, if it does not say it itself.
pub(crate) fn expiring(app: &App, mut thread: Thread) -> Thread {
    if let Some(time) = app.retention.threads {
        thread.ttl = thread.ttl.or(Some(Ttl::delete_after(time)));
    }
    thread
}

/// Returns the error for an owner who has as many threads as may be.
pub(crate) fn too_many(app: &App) -> ApiError {
    ApiError::too_many(format!(
        "there are {} threads already, which is the limit",
        app.limits.threads.unwrap_or_default()
    ))
}

/// Creates a thread of the user, unless it exists or there are too many. Returns true if it is new.
pub(crate) async fn make(app: &Access, thread: Thread) -> ApiResult<bool> {
    let thread = expiring(app, thread);
    let limit = app.limits.threads;
    match app.rows.create_thread(&thread, limit).await? {
        Creation::Created => Ok(true),
        // One that is being removed is gone before the new one is there.
        Creation::Exists if app.rows.removal(&thread.thread_id).await?.is_some() => {
            finish_removal(app, &thread.thread_id).await?;
            Ok(app.rows.create_thread(&thread, limit).await? == Creation::Created)
        }
        Creation::Exists => Ok(false),
        Creation::TooMany => Err(too_many(app)),
    }
}

/// Returns the row of a thread of the user, if there is one.
pub(crate) async fn seen(app: &Access, id: &str) -> ApiResult<Option<Thread>> {
    let row = app.rows.thread(&thread_id(id)?).await?;
    Ok(row.filter(|thread| sees(app, thread)))
}

/// Returns the row of a thread of the user.
pub(crate) async fn find(app: &Access, id: &str) -> ApiResult<Thread> {
    let row = seen(app, id).await?;
    row.ok_or_else(|| ApiError::no_thread(id))
}
