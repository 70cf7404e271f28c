//! The executor of tasks on Restate.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use langgraph::error::NodeError;
use langgraph::executor::{Executor, Running, SnapshotText, TaskCall, TaskOrder, TaskReply};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::failures::Failures;
use super::metrics::{Counters, TaskMetrics, count};
use super::wire::{SnapshotSent, TaskAnswer, TaskRequest};
use super::{CANCELLED, STOPPED, notes_name, service_name};
use crate::threads::INVOCATION;
use crate::{Restate, RestateError};

/// A snapshot up to this length is sent with each task.
const SMALL: usize = 4_096;

/// How often a task is begun again that an earlier driver has stopped.
const STOPS: u32 = 100;

/// Gives tasks to Restate: an [`Executor`](langgraph::executor::Executor). [`Restate::tasks`] creates
/// it.
///
/// Each task is a call of a service that an [`Endpoint`](crate::Endpoint) serves. Restate keeps it
/// until it has ended, wherever that is: if the process that drives dies, another one takes up the
/// superstep, and gets the replies of tasks that were in flight.
#[derive(Clone, Debug)]
pub struct Tasks {
    restate: Restate,
    at_once: usize,
    counters: Arc<Counters>,
    /// Snapshots that tasks need now, and whether they are stored.
    stored: Arc<Mutex<HashMap<String, Weak<Snapshot>>>>,
    failures: Arc<Mutex<Failures>>,
}

/// A snapshot in the notes, as long as a task needs it.
#[derive(Debug)]
struct Snapshot {
    restate: Restate,
    path: [String; 2],
    stored: OnceCell<()>,
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if self.stored.get().is_none() {
            return;
        }
        let (restate, [notes, key]) = (self.restate.clone(), self.path.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let path = [&*notes, &*key, "clear", "send"];
                // It is gone after a day in any case.
                let _ = restate.post(&path, "", Bytes::new()).await;
            });
        }
    }
}

impl Tasks {
    pub(crate) fn new(restate: Restate) -> Self {
        Self {
            restate,
            at_once: 256,
            counters: Arc::default(),
            stored: Arc::default(),
            failures: Arc::default(),
        }
    }

    /// Sets how many tasks of a superstep are with Restate at a time, 256 unless set.
    #[must_use]
    pub fn at_once(mut self, tasks: usize) -> Self {
        self.at_once = tasks.max(1);
        self
    }

    /// Returns the counters of this executor and its clones.
    pub fn metrics(&self) -> TaskMetrics {
        self.counters.now()
    }

    /// Calls the service, again under another key when a driver that is gone has stopped the call.
    async fn call_until_done(
        &self,
        service: &str,
        first: String,
        request: &mut TaskRequest,
    ) -> Result<Result<TaskAnswer, RestateError>, NodeError> {
        let mut key = first.clone();
        let mut stopped = 0;
        loop {
            let body: Bytes = serde_json::to_vec(request)?.into();
            let mut guard = Guard {
                restate: &self.restate,
                service,
                key: &key,
                body: body.clone(),
                ended: false,
            };
            let answer = self.restate.call(&[service, "run"], &key, body).await;
            guard.ended = true;
            drop(guard);
            let is_stopped = matches!(
                answer,
                Err(RestateError::Failed {
                    status: STOPPED | CANCELLED,
                    ..
                })
            );
            if !is_stopped || stopped == STOPS {
                return Ok(answer);
            }
            // A driver that Restate has given up stopped it, and this one needs it.
            stopped += 1;
            count(&self.counters.again);
            key = format!("{first}/{stopped}");
            request.again = true;
        }
    }

    async fn run_task(&self, call: TaskCall<'_>) -> Result<TaskReply, NodeError> {
        count(&self.counters.begun);
        let order = call.order();
        let task = format!("{}/{}", order.identity, order.run);
        let failed = self.failures().of(&task);
        let first = key_of(&order, failed)?;
        let service = service_name(call.graph(), call.fingerprint());
        let notes = notes_name(call.graph());
        let snapshot = call.snapshot()?;
        let mut held = None;
        let sent = if snapshot.text.len() <= SMALL {
            SnapshotSent::Text(snapshot.text.clone())
        } else {
            held = Some(self.store(&notes, &snapshot).await?);
            SnapshotSent::Stored(snapshot.id.clone())
        };
        let mut request = TaskRequest {
            order,
            snapshot: sent,
            again: false,
        };
        let answer = self.call_until_done(&service, first, &mut request).await?;
        drop(held);
        let ended = if answer.is_ok() {
            &self.counters.done
        } else {
            &self.counters.failed
        };
        count(ended);
        let is_failure = match &answer {
            Ok(TaskAnswer { reply, .. }) => reply.failure().is_some(),
            Err(error) => matches!(error, RestateError::Failed { .. }),
        };
        if is_failure {
            self.failures().count(task);
        }
        let TaskAnswer { reply, reports } = answer.map_err(|error| unserved(error, &call))?;
        for report in reports {
            call.report(report).await?;
        }
        Ok(reply)
    }

    fn failures(&self) -> MutexGuard<'_, Failures> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a snapshot, once for all tasks of the superstep.
    async fn store(
        &self,
        notes: &str,
        snapshot: &SnapshotText,
    ) -> Result<Arc<Snapshot>, NodeError> {
        let held = {
            let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
            stored.retain(|_, held| held.strong_count() > 0);
            let known = stored.get(&snapshot.id).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let held = Arc::new(Snapshot {
                    restate: self.restate.clone(),
                    path: [notes.to_owned(), snapshot.id.clone()],
                    stored: OnceCell::new(),
                });
                stored.insert(snapshot.id.clone(), Arc::downgrade(&held));
                held
            })
        };
        let store = || async {
            let text = serde_json::to_vec(&snapshot.text)?;
            let path = [notes, &*snapshot.id, "put"];
            self.restate.post(&path, &snapshot.id, text.into()).await?;
            count(&self.counters.snapshots);
            Ok::<_, NodeError>(())
        };
        held.stored.get_or_try_init(store).await?;
        Ok(held)
    }
}

/// Returns the name of the task's invocation. A driver that takes up a superstep of a thread on
/// Restate gets the same one; a later call of the thread another one, and so does a task that has failed and runs
/// again.
fn key_of(order: &TaskOrder, failed: u32) -> Result<String, NodeError> {
    let data = serde_json::to_value(order)?;
    let invocation = data
        .get("metadata")
        .and_then(|metadata| metadata.get(INVOCATION))
        .and_then(Value::as_str)
        .unwrap_or(&order.run);
    let key = format!("{}/{invocation}", order.identity);
    Ok(match failed {
        0 => key,
        failed => format!("{key}/failed-{failed}"),
    })
}

/// Says what is missing if no endpoint serves the tasks.
fn unserved(error: RestateError, call: &TaskCall<'_>) -> NodeError {
    match error {
        RestateError::Failed {
            target,
            status: 404,
            message,
        } => NodeError::msg(format!(
            "no endpoint serves tasks of graph `{}` with the fingerprint {:016x}, as service `{target}`: {message}; register an endpoint with `.tasks(&graph)` of the same version",
            call.graph(),
            call.fingerprint(),
        )),
        error => error.into(),
    }
}

/// Stops the task when its future is dropped.
struct Guard<'a> {
    restate: &'a Restate,
    service: &'a str,
    key: &'a str,
    body: Bytes,
    ended: bool,
}

/// What Restate says of a call that it has taken.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Taken {
    invocation_id: String,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if self.ended {
            return;
        }
        let (restate, service) = (self.restate.clone(), self.service.to_owned());
        let (key, body) = (self.key.to_owned(), self.body.clone());
        runtime.spawn(async move {
            // The same call again names the one that is under way.
            let path = [&*service, "run", "send"];
            if let Ok(Taken { invocation_id }) = restate.call(&path, &key, body).await
                && let Ok(id) = serde_json::to_vec(&invocation_id)
            {
                let path = [&*service, "stop", "send"];
                let _ = restate.post(&path, "", id.into()).await;
            }
        });
    }
}

impl Executor for Tasks {
    fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
        Box::pin(self.run_task(task))
    }

    fn at_once(&self) -> Option<usize> {
        Some(self.at_once)
    }
}
