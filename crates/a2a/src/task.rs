//! One task: its messages and its events.

mod follow;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use langgraph_remote::{
    AgentEnvelope, AgentId, Amounts, EnvelopeBody, ErrorCode, OpenInterrupt, StreamContent,
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::artifacts::{artifact, artifact_bytes, chunk_part, fold, message_bytes};
use crate::totals::Counted;
use crate::wire;

/// The approximate bytes of one task: its messages and its events.
pub(crate) const TASK_BYTES: usize = 16 << 20;

/// A task. Its events are kept in one list, and each follower has a position in it: none misses an event, and
/// none waits for a slow one.
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) context: String,
    pub(crate) owner: AgentId,
    inner: Mutex<TaskData>,
    /// The number of events.
    changed: watch::Sender<usize>,
}

struct TaskData {
    status: TaskStatus,
    history: Vec<Message>,
    events: Vec<StreamResponse>,
    /// The streams of the reply, and whether a chunk of each was written.
    streams: HashMap<String, (Value, bool)>,
    answered: bool,
    interrupts: Vec<OpenInterrupt>,
    work: Option<AbortHandle>,
    bytes: usize,
    /// The sums that include it, as long as it is kept.
    totals: Option<Counted>,
    /// What the present run has spent.
    spent: Option<Amounts>,
    /// True once an event has reported the present amount.
    is_spent_reported: bool,
}

#[cfg(test)]
thread_local! {
    /// How many times a task was locked by this thread.
    static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
pub(crate) fn looks() -> usize {
    LOOKS.with(std::cell::Cell::get)
}

/// Why a message does not continue a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Busy,
    TooLarge,
}

/// Returns true if the task has ended, or waits for another message.
pub(crate) fn rests(state: &TaskState) -> bool {
    state.is_terminal() || *state == TaskState::InputRequired
}

impl Entry {
    pub(crate) fn new(id: String, context: String, owner: AgentId) -> Arc<Self> {
        Arc::new(Self {
            id,
            context,
            owner,
            inner: Mutex::new(TaskData {
                status: status(TaskState::Submitted, None),
                history: Vec::new(),
                events: Vec::new(),
                streams: HashMap::new(),
                answered: false,
                interrupts: Vec::new(),
                work: None,
                bytes: 0,
                totals: None,
                spent: None,
                is_spent_reported: true,
            }),
            changed: watch::Sender::new(0),
        })
    }

    fn inner(&self) -> MutexGuard<'_, TaskData> {
        #[cfg(test)]
        LOOKS.with(|looks| looks.set(looks.get() + 1));
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn state(&self) -> TaskState {
        self.inner().status.state.clone()
    }

    pub(crate) fn status(&self) -> TaskStatus {
        self.inner().status.clone()
    }

    /// Adds the task to sums, which then follow it.
    pub(crate) fn enter(&self, totals: Counted) {
        let mut inner = self.inner();
        totals.work(false, !rests(&inner.status.state));
        totals.grow(inner.bytes);
        inner.totals = Some(totals);
    }

    /// Removes the task from its sums.
    pub(crate) fn leave(&self) {
        let mut inner = self.inner();
        if let Some(totals) = inner.totals.take() {
            totals.work(!rests(&inner.status.state), false);
            totals.shrink(inner.bytes);
        }
    }

    /// Returns the approximate bytes of the task.
    pub(crate) fn bytes(&self) -> usize {
        self.inner().bytes
    }

    pub(crate) fn interrupts(&self) -> Vec<OpenInterrupt> {
        self.inner().interrupts.clone()
    }

    /// Starts or continues the work with a message of the client. Returns an error if another message was
    /// faster, or if the messages of the task become too large.
    pub(crate) fn begin(&self, message: Message) -> Result<(), Refusal> {
        let mut inner = self.inner();
        let state = &inner.status.state;
        if !matches!(state, TaskState::Submitted | TaskState::InputRequired) {
            return Err(Refusal::Busy);
        }
        let bytes = message_bytes(&message);
        if inner.bytes.saturating_add(bytes) > TASK_BYTES {
            return Err(Refusal::TooLarge);
        }
        inner.grow(bytes);
        inner.history.push(message);
        inner.interrupts.clear();
        inner.answered = false;
        // An interrupt ends the streams of its run.
        inner.streams.clear();
        // The client charges each message on its own.
        inner.spent = None;
        self.set_status(&mut inner, status(TaskState::Working, None));
        Ok(())
    }

    pub(crate) fn working(&self, work: AbortHandle) {
        let mut inner = self.inner();
        if !rests(&inner.status.state) {
            inner.work = Some(work);
        }
    }

    /// Stops the work; returns false if there was nothing to stop.
    pub(crate) fn cancel(&self) -> bool {
        let mut inner = self.inner();
        if inner.status.state.is_terminal() {
            return false;
        }
        if let Some(work) = inner.work.take() {
            work.abort();
        }
        self.set_status(&mut inner, status(TaskState::Canceled, None));
        true
    }

    /// Adds a part of the agent's reply.
    pub(crate) fn add(&self, part: AgentEnvelope) {
        let mut inner = self.inner();
        if rests(&inner.status.state) {
            return;
        }
        if part.spent.is_some() {
            inner.spent = part.spent;
            inner.is_spent_reported = false;
        }
        match part.body {
            EnvelopeBody::Complete(reply) => {
                inner.answered = true;
                let mut artifact = artifact(wire::REPLY, vec![wire::part(&reply)]);
                artifact.name = Some(wire::REPLY.to_owned());
                artifact.metadata = Some(wire::metadata(json!({ "reply": true })));
                self.add_artifact(&mut inner, artifact, false, true);
            }
            EnvelopeBody::StreamStart {
                stream_id,
                metadata,
            } => {
                inner
                    .streams
                    .insert(stream_id.to_string(), (metadata, false));
            }
            EnvelopeBody::StreamChunk { stream_id, chunk } => {
                self.chunk(&mut inner, stream_id.as_str(), Some(&chunk));
            }
            EnvelopeBody::StreamEnd { stream_id } => {
                inner.answered = true;
                self.chunk(&mut inner, stream_id.as_str(), None);
            }
            EnvelopeBody::Error { code, message } => {
                drop(inner);
                self.fail(&code, &message);
            }
            EnvelopeBody::Interrupt(interrupts) => {
                let parts = interrupts.iter().map(wire::interrupt).collect();
                inner.interrupts = interrupts;
                let question = Message::new(Role::Agent, parts);
                self.set_status(&mut inner, status(TaskState::InputRequired, Some(question)));
            }
            _ => {}
        }
    }

    /// Adds a chunk of a stream, or its end.
    fn chunk(&self, inner: &mut TaskData, id: &str, chunk: Option<&Value>) {
        let Some((metadata, started)) = inner.streams.get_mut(id) else {
            let text = format!("stream `{id}`: expected its start");
            let error = wire::error(&ErrorCode::Failed, &text);
            return self.set_status(inner, status(TaskState::Failed, Some(error)));
        };
        let append = std::mem::replace(started, true);
        let content = StreamContent::of(metadata);
        let metadata = metadata.clone();
        // The end has no content, and a part is required.
        let part = chunk.map_or_else(|| Part::text(""), |chunk| chunk_part(content, chunk));
        let mut artifact = artifact(id, vec![part]);
        artifact.metadata = Some(wire::metadata(json!({ "stream": metadata })));
        if chunk.is_none() {
            inner.streams.remove(id);
        }
        self.add_artifact(inner, artifact, append, chunk.is_none());
    }

    /// The reply has ended.
    pub(crate) fn end(&self) {
        let mut inner = self.inner();
        if rests(&inner.status.state) {
            return;
        }
        if inner.answered && inner.streams.is_empty() {
            self.set_status(&mut inner, status(TaskState::Completed, None));
        } else {
            drop(inner);
            self.fail(&ErrorCode::Failed, "the reply ended before it was complete");
        }
    }

    pub(crate) fn fail(&self, code: &ErrorCode, text: &str) {
        let mut inner = self.inner();
        if rests(&inner.status.state) {
            return;
        }
        let state = match code {
            ErrorCode::Cancelled => TaskState::Canceled,
            ErrorCode::BadRequest => TaskState::Rejected,
            _ => TaskState::Failed,
        };
        self.set_status(&mut inner, status(state, Some(wire::error(code, text))));
    }

    fn add_artifact(&self, inner: &mut TaskData, artifact: Artifact, append: bool, last: bool) {
        inner.grow(artifact_bytes(&artifact));
        if inner.bytes > TASK_BYTES {
            if let Some(work) = inner.work.take() {
                work.abort();
            }
            let text = format!("the task has more than {TASK_BYTES} bytes");
            let error = wire::error(&ErrorCode::Failed, &text);
            return self.set_status(inner, status(TaskState::Failed, Some(error)));
        }
        let update = TaskArtifactUpdateEvent {
            task_id: self.id.clone(),
            context_id: self.context.clone(),
            artifact,
            append: Some(append),
            last_chunk: Some(last),
            metadata: inner.bill(),
        };
        inner.events.push(StreamResponse::ArtifactUpdate(update));
        self.changed.send_replace(inner.events.len());
    }

    fn set_status(&self, inner: &mut TaskData, mut status: TaskStatus) {
        if let Some(message) = &mut status.message {
            message.task_id = Some(self.id.clone());
            message.context_id = Some(self.context.clone());
            // The history and the event have it.
            inner.grow(2 * message_bytes(message));
            inner.history.push(message.clone());
        }
        if rests(&status.state) {
            inner.work = None;
        }
        if let Some(totals) = &inner.totals {
            totals.work(!rests(&inner.status.state), !rests(&status.state));
        }
        inner.status = status.clone();
        let update = TaskStatusUpdateEvent {
            task_id: self.id.clone(),
            context_id: self.context.clone(),
            status,
            metadata: inner.bill(),
        };
        inner.events.push(StreamResponse::StatusUpdate(update));
        self.changed.send_replace(inner.events.len());
    }

    /// Returns the task as it is now.
    pub(crate) fn snapshot(&self, history: Option<i32>, artifacts: bool) -> Task {
        self.position(history, artifacts).0
    }

    /// Returns the task as it is now, and the position of the event that comes next.
    fn position(&self, history: Option<i32>, artifacts: bool) -> (Task, usize) {
        let inner = self.inner();
        let messages = match history {
            Some(length) => {
                let length = usize::try_from(length).unwrap_or(0);
                let skipped = inner.history.len().saturating_sub(length);
                inner.history.iter().skip(skipped).cloned().collect()
            }
            None => inner.history.clone(),
        };
        let task = Task {
            id: self.id.clone(),
            context_id: self.context.clone(),
            status: inner.status.clone(),
            artifacts: artifacts
                .then(|| fold(&inner.events))
                .filter(|all| !all.is_empty()),
            history: Some(messages).filter(|messages| !messages.is_empty()),
            metadata: inner.spent.map(spent),
        };
        (task, inner.events.len())
    }
}

impl TaskData {
    fn grow(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(totals) = &self.totals {
            totals.grow(bytes);
        }
    }

    /// Returns what an event reports of the cost, if that has changed.
    fn bill(&mut self) -> Option<HashMap<String, Value>> {
        let is_reported = std::mem::replace(&mut self.is_spent_reported, true);
        self.spent.filter(|_| !is_reported).map(spent)
    }
}

fn spent(amounts: Amounts) -> HashMap<String, Value> {
    wire::metadata(json!({ "spent": amounts }))
}

fn status(state: TaskState, message: Option<Message>) -> TaskStatus {
    TaskStatus {
        state,
        message,
        timestamp: Some(std::time::SystemTime::now().into()),
    }
}
