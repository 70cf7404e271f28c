//! Threads whose nodes wait for a time are woken when it has come.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use langgraph::environment;
use serde_json::{Map, Value};

use super::accept::accept;
use super::new_run::{NewRun, ThreadOfRun};
use super::request::RunRequest;
use super::submit::submit;
use super::waits::waits;
use crate::app::App;
use crate::error::ApiResult;
use crate::guard::{Access, User};
use crate::rows::{Run, Thread};
use crate::spec::{RunCommand, Strategy};
use crate::wire::time::now;

/// Starts a run for each thread with waits that are due. One process does so for each of them.
pub(super) async fn wake(app: &Arc<App>) -> ApiResult<()> {
    for thread in app.rows.due_threads().await? {
        if let Err(error) = start(app, &thread).await {
            let thread = &thread.thread_id;
            tracing::error!(?error, thread, "a thread cannot be woken");
        }
    }
    Ok(())
}

async fn start(app: &Arc<App>, thread: &Thread) -> ApiResult<()> {
    let id = thread.thread_id.as_str();
    // The clock of the database says that one is due; that of this process may be slow.
    let due = Duration::from_millis(thread.wakes.unwrap_or_default().unsigned_abs());
    let now_or_due = environment::now().max(UNIX_EPOCH + due);
    let answers: Map<String, Value> = waits(id, &thread.interrupts)
        .filter(|wait| wait.is_due(now_or_due))
        .map(|wait| (wait.interrupt.clone(), wait.answer()))
        .collect();
    if answers.is_empty() {
        return Ok(());
    }
    let command = RunCommand::resume(Value::Object(answers));
    if let Some(paused) = app.rows.pausing_run(thread).await? {
        let new = NewRun {
            priority: paused.priority,
            concurrency_key: paused.concurrency_key,
            ..NewRun::of(next(paused.run, command), &thread.owner)
        };
        // One that is refused now is tried again: the wait stays due.
        let unchanged = ThreadOfRun::Unchanged;
        return submit(app, &Arc::new(new), unchanged).await.map(|_| ());
    }
    // An older row, whose run was deleted: its owner asks for another one.
    let user = app.authenticate.is_some();
    let user = user.then(|| User::new(&*thread.owner).owner(&*thread.owner));
    let access = Access::of(app, user);
    let assistant = access.assistant_of_thread(&thread.metadata).await?;
    let request = RunRequest {
        assistant_id: assistant.assistant_id,
        command: Some(command),
        strict_resume: true,
        by_clock: true,
        ..RunRequest::default()
    };
    accept(&access, Some(id), request).await?;
    Ok(())
}

/// Returns the run that continues a paused one: with what its client has asked for. If the
/// interrupt was answered meanwhile, it changes nothing.
fn next(mut row: Run, command: RunCommand) -> Run {
    let paused = std::mem::replace(&mut row.run_id, langgraph_core::new_id().to_string());
    row.kwargs.continues.get_or_insert(paused);
    "pending".clone_into(&mut row.status);
    row.multitask_strategy = Strategy::Enqueue;
    row.created_at = now();
    row.updated_at.clone_from(&row.created_at);
    row.kwargs.command = Some(command);
    row.kwargs.strict_resume = true;
    row.kwargs.by_clock = true;
    row
}
