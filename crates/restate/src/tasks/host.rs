//! The service that runs tasks.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use langgraph::State;
use langgraph::error::NodeError;
use langgraph::executor::{Reported, Reporter, TaskHost, TaskOrder, TaskReply, TaskReport};
use langgraph::run::CancelToken;
use restate_sdk::context::{
    Context, ContextAwakeables as _, ContextClient as _, ContextSideEffects as _, RunFuture as _,
};
use restate_sdk::endpoint::{ContextInternal, InputMetadata};
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use serde_json::{Value, json};
use tokio::sync::{OnceCell, Semaphore};
use tracing::Instrument as _;

use super::STOPPED;
use super::wire::{SnapshotSent, TaskAnswer, TaskRequest};
use crate::cancellable::{Work, unless_cancelled};
use crate::service::{Handler, Handlers, no_handler, read, write};
use crate::{Restate, RestateError};

/// How many snapshots a process keeps.
const KEPT: usize = 8;

pub(crate) const HANDLERS: [Handler; 2] = [
    Handler {
        name: "run",
        shared: true,
        documentation: "Runs a task",
    },
    Handler {
        name: "stop",
        shared: true,
        documentation: "Cancels the invocation of that id",
    },
];

/// A snapshot, once it is fetched.
type Cell<S> = Arc<OnceCell<Arc<S>>>;

/// Runs the tasks of a graph.
pub(crate) struct TaskService<S: State> {
    shared: Arc<Shared<S>>,
}

struct Shared<S: State> {
    host: TaskHost<S>,
    restate: Restate,
    notes: String,
    slots: Semaphore,
    snapshots: Mutex<VecDeque<(String, Cell<S>)>>,
}

impl<S: State> TaskService<S> {
    pub(crate) fn new(host: TaskHost<S>, restate: Restate, notes: String, slots: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                host,
                restate,
                notes,
                slots: Semaphore::new(slots),
                snapshots: Mutex::default(),
            }),
        }
    }

    async fn run(&self, cx: &Context<'_>, body: &Bytes) -> HandlerResult<Bytes> {
        let request: TaskRequest = read(body)?;
        // The journal knows whether this is the first attempt: only then the closure runs.
        let first = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&first);
        cx.run(move || async move {
            mark.store(true, Ordering::Relaxed);
            Ok(())
        })
        .name("take")
        .await?;
        let again = request.again || !first.load(Ordering::Relaxed);
        let cancel = CancelToken::new();
        let (shared, token) = (Arc::clone(&self.shared), cancel.clone());
        let (_, cancelled) = cx.awakeable::<()>();
        let mut cancelled = std::pin::pin!(cancelled);
        let work = Work::default();
        let answer = cx.run({
            let run = async move { Ok(Json(shared.run(request, again, token).await?)) };
            let work = work.clone();
            || work.run(run)
        });
        let mut answer = std::pin::pin!(answer.name("run"));
        if let Some(answer) = unless_cancelled(answer.as_mut(), cancelled.as_mut(), &work).await {
            return write(&answer?.0);
        }
        // Dropping the task stops it.
        cancel.cancel();
        Err(TerminalError::new_with_code(STOPPED, "the driver has stopped the task").into())
    }
}

#[async_trait]
impl<S: State> Handlers for TaskService<S> {
    async fn handle(
        &self,
        context: &ContextInternal,
        input: InputMetadata,
        body: Bytes,
    ) -> HandlerResult<Bytes> {
        let cx = Context::from((context, input));
        match context.handler_name() {
            "run" => self.run(&cx, &body).await,
            "stop" => {
                let id: String = read(&body)?;
                cx.invocation_handle(id).cancel();
                write(&())
            }
            other => no_handler(other),
        }
    }
}

impl<S: State> Shared<S> {
    async fn run(
        &self,
        request: TaskRequest,
        again: bool,
        cancel: CancelToken,
    ) -> Result<TaskAnswer, HandlerError> {
        let TaskRequest {
            mut order,
            snapshot,
            ..
        } = request;
        let key = order.identity.clone();
        let mut known = Vec::new();
        if again {
            known = self.note(&key).await?;
            order = with_once(order, &known)?;
        }
        let state = match snapshot {
            SnapshotSent::Text(text) => self.host.snapshot(&text),
            SnapshotSent::Stored(id) => self.stored(&id).await,
        };
        let state = match state {
            Ok(state) => state,
            Err(error) => {
                return Ok(TaskAnswer {
                    reply: TaskReply::failed(error),
                    reports: Vec::new(),
                });
            }
        };
        // Never closed, so a permit always comes.
        let _permit = self.slots.acquire().await;
        let home = Arc::new(Home {
            restate: self.restate.clone(),
            path: [self.notes.clone(), key],
            reports: Mutex::default(),
            once: tokio::sync::Mutex::new(known),
        });
        let topology = self.host.graph().topology();
        let span = tracing::info_span!(
            "task",
            graph = &*topology.name,
            worker = std::process::id(),
            node = %order.node,
            task = order.identity,
        );
        let way = Arc::clone(&home) as Arc<dyn Reporter>;
        let run = self.host.run(&order, &state, way, cancel);
        let reply = run.instrument(span).await;
        // What an earlier attempt has done is news to the driver too.
        let once = home.once.lock().await.clone();
        let mut reports = std::mem::take(&mut *home.reports());
        for record in once {
            reports.push(serde_json::from_value(json!({"once": record}))?);
        }
        Ok(TaskAnswer { reply, reports })
    }

    /// Returns a snapshot from the notes.
    async fn stored(&self, id: &str) -> Result<Arc<S>, NodeError> {
        let cell = self.cell(id);
        let fetch = || async {
            let text: Option<String> = self.note(id).await?;
            let gone = || NodeError::msg("the snapshot of the superstep is gone");
            self.host.snapshot(&text.ok_or_else(gone)?)
        };
        Ok(Arc::clone(cell.get_or_try_init(fetch).await?))
    }

    /// Reads a note.
    async fn note<T: serde::de::DeserializeOwned + Default>(
        &self,
        key: &str,
    ) -> Result<T, RestateError> {
        let path = [&*self.notes, key, "get"];
        let found: Option<T> = self.restate.call(&path, "", Bytes::new()).await?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the place of a snapshot.
    fn cell(&self, id: &str) -> Cell<S> {
        let mut kept = self
            .snapshots
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|(known, _)| known == id)
            && let Some(found) = kept.remove(at)
        {
            let cell = Arc::clone(&found.1);
            kept.push_back(found);
            return cell;
        }
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        let cell = Arc::default();
        kept.push_back((id.to_owned(), Arc::clone(&cell)));
        cell
    }
}

/// Gives a task the results of work that an earlier attempt has done.
fn with_once(order: TaskOrder, known: &[Value]) -> Result<TaskOrder, serde_json::Error> {
    if known.is_empty() {
        return Ok(order);
    }
    let mut order = serde_json::to_value(order)?;
    let mut all: Vec<Value> = match order.get_mut("once") {
        Some(once) => serde_json::from_value(once.take())?,
        None => Vec::new(),
    };
    for record in known {
        keep(&mut all, record.clone());
    }
    order["once"] = Value::Array(all);
    serde_json::from_value(order)
}

/// Adds a record, in place of the one of its key.
fn keep(all: &mut Vec<Value>, record: Value) {
    all.retain(|old| old.get("key") != record.get("key"));
    all.push(record);
}

/// The way home of a task: what must not be lost is noted, and all goes with the answer.
struct Home {
    restate: Restate,
    /// The notes of the task.
    path: [String; 2],
    reports: Mutex<Vec<TaskReport>>,
    once: tokio::sync::Mutex<Vec<Value>>,
}

impl Home {
    fn reports(&self) -> std::sync::MutexGuard<'_, Vec<TaskReport>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn keep(&self, record: Value) -> Result<(), NodeError> {
        let mut once = self.once.lock().await;
        let mut all = once.clone();
        keep(&mut all, record);
        let text = serde_json::to_vec(&all)?;
        let [notes, key] = &self.path;
        let attempt = uuid::Uuid::new_v4().to_string();
        self.restate
            .post(&[notes, key, "put"], &attempt, text.into())
            .await?;
        *once = all;
        Ok(())
    }
}

impl Reporter for Home {
    fn report(&self, report: TaskReport) -> Reported<'_> {
        Box::pin(async move {
            match report {
                TaskReport::Once(record) => {
                    return self.keep(serde_json::to_value(&record)?).await;
                }
                TaskReport::Heartbeat => {}
                report => self.reports().push(report),
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_attempt_knows_what_the_first_has_done() {
        let order = json!({
            "node": "pay", "identity": "t", "run": "r", "step": 1, "remaining": 9,
            "once": [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}],
        });
        let order = serde_json::from_value(order).unwrap();
        let known = [
            json!({"key": "b", "value": "3"}),
            json!({"key": "c", "value": "4"}),
        ];
        let order = serde_json::to_value(with_once(order, &known).unwrap()).unwrap();
        let values: Vec<_> = order["once"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| &r["value"])
            .collect();
        assert_eq!(values, ["1", "3", "4"]);
    }
}
