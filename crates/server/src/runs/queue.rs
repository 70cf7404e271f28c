//! The runs of this process: one at a time on each thread, the others wait in line.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use langgraph::node::CancelToken;
use serde_json::{Value, json};

use super::execute::{execute, lost};
use super::log::EventLog;
use super::request::Planned;
use crate::app::App;
use crate::error::{ApiError, ApiResult};

/// What happens to a run that is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CancelAction {
    /// What it has done is kept.
    Interrupt,
    /// The thread goes back to where it was, and the run is removed.
    Rollback,
}

/// A run that waits or is under way.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) run_id: String,
    pub(crate) thread_id: String,
    pub(crate) owner: String,
    pub(crate) cancel: CancelToken,
    action: Mutex<Option<CancelAction>>,
    pub(crate) log: EventLog,
    pub(crate) resumable: bool,
    result: Mutex<Value>,
}

impl Live {
    pub(crate) fn action(&self) -> Option<CancelAction> {
        *self.action.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self, action: CancelAction) {
        *self.action.lock().unwrap_or_else(PoisonError::into_inner) = Some(action);
        self.cancel.cancel();
    }

    /// Sets the result, and ends the streams of the run.
    pub(crate) fn end(&self, result: Value) {
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = result;
        self.log.close();
    }

    /// Waits for the end, and returns the result.
    pub(crate) async fn result(&self) -> Value {
        self.log.closed().await;
        self.result
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

struct Job {
    live: Arc<Live>,
    planned: Planned,
}

#[derive(Default)]
struct Line {
    current: Option<Arc<Live>>,
    waiting: VecDeque<Job>,
}

/// The lines of the threads that have runs.
#[derive(Default)]
pub(crate) struct Runs(Mutex<HashMap<String, Line>>);

impl Runs {
    fn lines(&self) -> MutexGuard<'_, HashMap<String, Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the run, if it has not ended.
    pub(crate) fn live(&self, thread: &str, run: &str) -> Option<Arc<Live>> {
        self.of_thread(thread)
            .into_iter()
            .find(|live| live.run_id == run)
    }

    /// Returns the runs of a thread that have not ended, the current one first.
    pub(crate) fn of_thread(&self, thread: &str) -> Vec<Arc<Live>> {
        let lines = self.lines();
        let line = lines.get(thread);
        let runs = line.iter().flat_map(|line| {
            let waiting = line.waiting.iter().map(|job| &job.live);
            line.current.iter().chain(waiting).cloned()
        });
        runs.collect()
    }

    /// Returns the thread and the run of that id.
    pub(crate) fn find(&self, run: &str) -> Option<Arc<Live>> {
        let lines = self.lines();
        let all = lines.values().flat_map(|line| {
            let waiting = line.waiting.iter().map(|job| &job.live);
            line.current.iter().chain(waiting)
        });
        all.into_iter().find(|live| live.run_id == run).cloned()
    }

    /// Takes the next job of a thread. Without one, the line is gone.
    fn next(&self, thread: &str) -> Option<Job> {
        let mut lines = self.lines();
        let line = lines.get_mut(thread)?;
        let job = line.waiting.pop_front();
        match &job {
            Some(job) => line.current = Some(Arc::clone(&job.live)),
            None => {
                lines.remove(thread);
            }
        }
        job
    }

    /// Takes a run that waits out of its line.
    fn withdraw(&self, live: &Live) -> bool {
        let mut lines = self.lines();
        let Some(line) = lines.get_mut(&live.thread_id) else {
            return false;
        };
        let before = line.waiting.len();
        line.waiting.retain(|job| job.live.run_id != live.run_id);
        line.waiting.len() < before
    }
}

/// Puts a run in line; what runs on its thread already is treated as the run's strategy says.
pub(crate) fn submit(app: &Arc<App>, planned: Planned) -> ApiResult<Arc<Live>> {
    let live = Arc::new(Live {
        run_id: planned.row.run_id.clone(),
        thread_id: planned.row.thread_id.clone(),
        owner: planned.owner.clone(),
        cancel: planned.spec.cancel.clone(),
        action: Mutex::new(None),
        log: EventLog::default(),
        resumable: planned.resumable,
        result: Mutex::new(Value::Null),
    });
    let thread = live.thread_id.clone();
    let strategy = planned.row.multitask_strategy.clone();
    let (mut others, starts) = {
        let mut lines = app.runs.lines();
        let busy = lines.contains_key(&thread);
        if busy && strategy == "reject" {
            return Err(ApiError::conflict(
                "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.",
            ));
        }
        app.rows.create_run(&planned.row)?;
        let line = lines.entry(thread.clone()).or_default();
        let waiting = line.waiting.iter().map(|job| &job.live);
        let others: Vec<Arc<Live>> = line.current.iter().chain(waiting).cloned().collect();
        line.waiting.push_back(Job {
            live: Arc::clone(&live),
            planned,
        });
        (others, !busy)
    };
    let action = match strategy.as_str() {
        "interrupt" => Some(CancelAction::Interrupt),
        "rollback" => Some(CancelAction::Rollback),
        _ => None,
    };
    if let Some(action) = action {
        // Those that wait first: none of them may start meanwhile.
        others.reverse();
        for other in others {
            cancel(app, &other, action)?;
        }
    }
    if starts {
        tokio::spawn(work(Arc::clone(app), thread));
    }
    Ok(live)
}

/// Cancels a run. One that waits ends at once, another one as soon as it can.
pub(crate) fn cancel(app: &App, live: &Live, action: CancelAction) -> ApiResult<()> {
    live.stop(action);
    if app.runs.withdraw(live) {
        match action {
            CancelAction::Interrupt => app.rows.set_run_status(&live.run_id, "interrupted")?,
            CancelAction::Rollback => app.rows.delete_run(&live.run_id)?,
        }
        live.end(json!({}));
    }
    Ok(())
}

/// Runs the line of a thread until it is empty.
async fn work(app: Arc<App>, thread: String) {
    let mut next = app.runs.next(&thread);
    while let Some(Job { live, planned }) = next {
        let run = tokio::spawn(execute(Arc::clone(&app), Arc::clone(&live), planned));
        let result = run.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a run broke off");
            if let Err(error) = app.rows.set_run_status(&live.run_id, "error") {
                tracing::error!(%error, "the status of a run cannot be written");
            }
            json!({"__error__": lost()})
        });
        // The thread is free before anyone hears of the end.
        next = app.runs.next(&thread);
        live.end(result);
    }
}
