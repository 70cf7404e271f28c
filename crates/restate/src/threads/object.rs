//! The virtual object of a thread.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use langgraph::error::{AgentError, ErrorKind};
use langgraph::run::CancelToken;
use langgraph_wait::Wait;
use restate_sdk::context::{
    ContextAwakeables as _, ContextClient as _, ContextReadState as _, ContextSideEffects as _,
    ContextWriteState as _, ObjectContext, RequestTarget, RunFuture as _,
};
use restate_sdk::endpoint::{ContextInternal, InputMetadata};
use restate_sdk::errors::{HandlerError, HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;

use super::answers::Given;
use super::served::{Begin, ErasedThreads, Step, Steps};
use crate::ThreadState;
use crate::cancellable::{Work, unless_cancelled};
use crate::service::{Handler, Handlers, no_handler, read, write};

/// The invocation that is under way.
const RUNNING: &str = "running";

/// What a query of Restate's tables shows of the thread.
const STANDS: &str = "stands";

/// The time for which the thread is to be woken.
const TIMER: &str = "timer";

const fn handler(name: &'static str, shared: bool, documentation: &'static str) -> Handler {
    Handler {
        name,
        shared,
        documentation,
    }
}

/// The handlers of a thread.
pub(crate) const HANDLERS: [Handler; 8] = [
    handler("start", false, "Runs the graph on an input"),
    handler("proceed", false, "Goes on where the thread stands"),
    handler("answer", false, "Answers the only open interrupt"),
    handler("resume", false, "Answers interrupts by key or id"),
    handler("signal", false, "Reports an `event` with its `payload`"),
    handler("wake", false, "Wakes what is due; timers call it"),
    handler("state", true, "Returns how the thread stands"),
    handler("cancel", true, "Cancels the run that is under way"),
];

/// The status of a thread, in Restate's tables.
#[derive(Serialize)]
struct ThreadStatus {
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    waits_for: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Signal {
    event: String,
    #[serde(default)]
    payload: Value,
}

/// A time, as a timer has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Timer {
    /// In milliseconds since 1970.
    until: u64,
}

/// The threads of a graph.
pub(crate) struct ThreadObject {
    pub(crate) service: String,
    pub(crate) threads: Arc<dyn ErasedThreads>,
}

#[async_trait]
impl Handlers for ThreadObject {
    async fn handle(
        &self,
        context: &ContextInternal,
        input: InputMetadata,
        body: Bytes,
    ) -> HandlerResult<Bytes> {
        let invocation = input.invocation_id.clone();
        let cx = ObjectContext::from((context, input));
        let call = Call {
            object: self,
            thread: cx.key().to_owned(),
            invocation,
            cx: &cx,
        };
        match context.handler_name() {
            "start" => call.run(Begin::Input(read(&body)?)).await,
            "proceed" => call.run(Begin::Proceed).await,
            "answer" => call.give(Given::Answer(read(&body)?)).await,
            "resume" => {
                let answers: BTreeMap<String, Value> = read(&body)?;
                call.give(Given::Answers(answers.into_iter().collect()))
                    .await
            }
            "signal" => {
                let Signal { event, payload } = read(&body)?;
                call.give(Given::Signal { event, payload }).await
            }
            "wake" => call.wake(read(&body)?).await,
            "state" => write(&self.threads.state(&call.thread).await.map_err(failed)?),
            "cancel" => call.cancel().await,
            other => no_handler(other),
        }
    }
}

struct Call<'a> {
    object: &'a ThreadObject,
    thread: String,
    invocation: String,
    cx: &'a ObjectContext<'a>,
}

impl Call<'_> {
    /// Finds what is answered, and goes on.
    async fn give(&self, given: Given) -> HandlerResult<Bytes> {
        let answers = self.accept(given).await?;
        self.run(Begin::Answers(answers)).await
    }

    /// Settles which interrupts are meant, once for all attempts.
    async fn accept(&self, given: Given) -> HandlerResult<Vec<(String, Value)>> {
        let (threads, thread) = (Arc::clone(&self.object.threads), self.thread.clone());
        let accepted =
            self.cx
                .run(move || async move {
                    Ok(Json(threads.accept(&thread, &given).await.map_err(failed)?))
                })
                .name("accept");
        let Json(answers) = accepted.await?;
        Ok(answers)
    }

    /// Wakes what is due.
    async fn wake(&self, timer: Timer) -> HandlerResult<Bytes> {
        let armed: Option<Json<Timer>> = self.cx.get(TIMER).await?;
        if armed.is_none_or(|Json(armed)| armed != timer) {
            // The thread has gone on since.
            return write(&());
        }
        self.cx.clear(TIMER);
        let Ok(answers) = self.accept(Given::Time(SystemTime::now())).await else {
            // The thread was deleted.
            return write(&());
        };
        if !answers.is_empty() {
            return self.run(Begin::Answers(answers)).await;
        }
        // The clock of Restate is ahead of this one's, or an answer has come.
        let (threads, thread) = (Arc::clone(&self.object.threads), self.thread.clone());
        let state = self
            .cx
            .run(move || async move { Ok(Json(threads.state(&thread).await.map_err(failed)?)) })
            .name("look");
        if let Json(Some(state)) = state.await? {
            self.arm(&state);
        }
        write(&())
    }

    async fn cancel(&self) -> HandlerResult<Bytes> {
        let running: Option<String> = self.cx.get(RUNNING).await?;
        if let Some(invocation) = &running {
            self.cx.invocation_handle(invocation.clone()).cancel();
        }
        write(&running.is_some())
    }

    /// Runs superstep after superstep, each an entry of the journal.
    async fn run(&self, begin: Begin) -> HandlerResult<Bytes> {
        self.cx.set(RUNNING, self.invocation.clone());
        let ended = self.supersteps(begin).await;
        self.cx.clear(RUNNING);
        let status = match &ended {
            Ok(state) => {
                self.arm(state);
                let key = |asked: &langgraph::interrupt::Interrupt| asked.key.clone();
                ThreadStatus {
                    status: if state.is_done() { "done" } else { "waits" },
                    waits_for: state.interrupts.iter().map(key).collect(),
                    error: None,
                }
            }
            Err(error) => ThreadStatus {
                status: "failed",
                waits_for: Vec::new(),
                error: Some(error.message().to_owned()),
            },
        };
        self.cx.set(STANDS, Json(status));
        write(&ended?)
    }

    async fn supersteps(&self, begin: Begin) -> Result<ThreadState, TerminalError> {
        let attempt = Arc::new(Mutex::new(Attempt {
            threads: Arc::clone(&self.object.threads),
            thread: self.thread.clone(),
            invocation: self.invocation.clone(),
            begin,
            cancel: CancelToken::new(),
            steps: None,
        }));
        let cancel = attempt.lock().await.cancel.clone();
        // It never resolves: it is cancelled with the invocation.
        let (_, cancelled) = self.cx.awakeable::<()>();
        let mut cancelled = std::pin::pin!(cancelled);
        let mut is_cancelled = false;
        let mut name = "begin".to_owned();
        loop {
            let (here, work) = (Arc::clone(&attempt), Work::default());
            let step = self.cx.run({
                let next = async move {
                    let step = here.lock().await.next().await;
                    Ok(Json(step.map_err(failed)?))
                };
                let work = work.clone();
                || work.run(next)
            });
            let mut step = std::pin::pin!(step.name(name));
            let mut ended = None;
            if !is_cancelled {
                ended = unless_cancelled(step.as_mut(), cancelled.as_mut(), &work).await;
            }
            let Json(step) = if let Some(step) = ended {
                step?
            } else {
                is_cancelled = true;
                cancel.cancel();
                step.await?
            };
            match step {
                Step::More(next) => name = next.join(", "),
                Step::Ended(state) => return Ok(state),
            }
        }
    }

    /// Has the thread woken when the next of its waits is due.
    fn arm(&self, state: &ThreadState) {
        let waits = state.interrupts.iter();
        let waits = waits.filter_map(|asked| Wait::of(&self.thread, asked));
        let Some(until) = waits.filter_map(|wait| wait.until).min() else {
            return;
        };
        let since = until.duration_since(SystemTime::UNIX_EPOCH);
        let millis = since.unwrap_or_default().as_millis();
        let timer = Timer {
            // A wait is due after its time, and not a part of a millisecond before.
            until: u64::try_from(millis).unwrap_or(u64::MAX).saturating_add(1),
        };
        self.cx.set(TIMER, Json(timer));
        let due = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(timer.until));
        let delay = due.and_then(|due| due.duration_since(SystemTime::now()).ok());
        let target = RequestTarget::object(&self.object.service, &self.thread, "wake");
        self.cx
            .request::<_, ()>(target, Json(timer))
            .send_after(delay.unwrap_or_default());
    }
}

/// What one attempt of an invocation knows.
struct Attempt {
    threads: Arc<dyn ErasedThreads>,
    thread: String,
    invocation: String,
    begin: Begin,
    cancel: CancelToken,
    steps: Option<Box<dyn Steps>>,
}

impl Attempt {
    /// Runs the next superstep. The first one of an attempt takes up the thread where it stands.
    async fn next(&mut self) -> Result<Step, AgentError> {
        if let Some(steps) = &mut self.steps {
            return steps.next().await;
        }
        let begun = self.threads.begin(
            &self.thread,
            &self.begin,
            &self.invocation,
            self.cancel.clone(),
        );
        self.steps.insert(begun.await?).next().await
    }
}

/// Returns the error of a run as Restate takes it: what may be better later is tried again.
fn failed(error: AgentError) -> HandlerError {
    match error.kind() {
        ErrorKind::Storage | ErrorKind::Conflict => error.into(),
        kind => TerminalError::new_with_code(kind.http_status(), text(&error)).into(),
    }
}

/// Returns an error with its causes.
fn text(error: &AgentError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
