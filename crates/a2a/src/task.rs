//! One task: what was asked, what came of it, and who follows it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::{
    Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState,
    TaskStatus, TaskStatusUpdateEvent,
};
use futures_util::stream::{self, BoxStream};
use langgraph_remote::{
    AgentEnvelope, AgentId, Amounts, EnvelopeBody, ErrorCode, OpenInterrupt, StreamContent,
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::totals::Totals;
use crate::wire;

/// The approximate bytes of one task's events.
const TASK_BYTES: usize = 16 << 20;

/// A task. Its events are kept in one list: a follower has a position in it, so that nobody misses
/// an event and nobody has to wait for a slow one.
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) context: String,
    pub(crate) owner: AgentId,
    inner: Mutex<Inner>,
    /// The number of events.
    changed: watch::Sender<usize>,
}

struct Inner {
    status: TaskStatus,
    history: Vec<Message>,
    events: Vec<StreamResponse>,
    /// The streams of the reply, and whether a chunk of each was written.
    streams: HashMap<String, (Value, bool)>,
    answered: bool,
    interrupts: Vec<OpenInterrupt>,
    work: Option<AbortHandle>,
    bytes: usize,
    /// What it counts for, as long as it is kept.
    totals: Option<Arc<Totals>>,
    /// What the present run has spent, and whether an event has said so.
    spent: Option<Amounts>,
    told: bool,
}

#[cfg(test)]
thread_local! {
    /// How often a task of this thread was looked at.
    static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
pub(crate) fn looks() -> usize {
    LOOKS.with(std::cell::Cell::get)
}

/// True if nothing more comes until somebody sends another message, or ever.
pub(crate) fn rests(state: &TaskState) -> bool {
    state.is_terminal() || *state == TaskState::InputRequired
}

impl Entry {
    pub(crate) fn new(id: String, context: String, owner: AgentId) -> Arc<Self> {
        Arc::new(Self {
            id,
            context,
            owner,
            inner: Mutex::new(Inner {
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
                told: true,
            }),
            changed: watch::Sender::new(0),
        })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
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

    /// Counts for the totals from now on.
    pub(crate) fn enter(&self, totals: &Arc<Totals>) {
        let mut inner = self.inner();
        totals.work(false, !rests(&inner.status.state));
        totals.grow(inner.bytes);
        inner.totals = Some(Arc::clone(totals));
    }

    /// Counts for nothing from now on.
    pub(crate) fn leave(&self) {
        let mut inner = self.inner();
        if let Some(totals) = inner.totals.take() {
            totals.work(!rests(&inner.status.state), false);
            totals.shrink(inner.bytes);
        }
    }

    pub(crate) fn interrupts(&self) -> Vec<OpenInterrupt> {
        self.inner().interrupts.clone()
    }

    /// A message of the client starts the work, or continues it. Returns false if another message
    /// was faster.
    pub(crate) fn begin(&self, message: Message) -> bool {
        let mut inner = self.inner();
        let state = &inner.status.state;
        if !matches!(state, TaskState::Submitted | TaskState::InputRequired) {
            return false;
        }
        inner.history.push(message);
        inner.interrupts.clear();
        inner.answered = false;
        // A question cuts the streams of its run off.
        inner.streams.clear();
        // The client charges each message on its own.
        inner.spent = None;
        self.tell(&mut inner, status(TaskState::Working, None));
        true
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
        self.tell(&mut inner, status(TaskState::Canceled, None));
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
            inner.told = false;
        }
        match part.body {
            EnvelopeBody::Complete(reply) => {
                inner.answered = true;
                let mut artifact = artifact(wire::REPLY, vec![wire::part(&reply)]);
                artifact.name = Some(wire::REPLY.to_owned());
                artifact.metadata = Some(wire::metadata(json!({ "reply": true })));
                self.artifact(&mut inner, artifact, false, true);
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
                self.tell(&mut inner, status(TaskState::InputRequired, Some(question)));
            }
            _ => {}
        }
    }

    /// Adds a chunk of a stream, or its end.
    fn chunk(&self, inner: &mut Inner, id: &str, chunk: Option<&Value>) {
        let Some((metadata, started)) = inner.streams.get_mut(id) else {
            let text = format!("stream `{id}`: expected its start");
            let error = wire::error(&ErrorCode::Failed, &text);
            return self.tell(inner, status(TaskState::Failed, Some(error)));
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
        self.artifact(inner, artifact, append, chunk.is_none());
    }

    /// The reply has ended.
    pub(crate) fn end(&self) {
        let mut inner = self.inner();
        if rests(&inner.status.state) {
            return;
        }
        if inner.answered && inner.streams.is_empty() {
            self.tell(&mut inner, status(TaskState::Completed, None));
        } else {
            drop(inner);
            self.fail(&ErrorCode::Failed, "the reply ended before it was whole");
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
        self.tell(&mut inner, status(state, Some(wire::error(code, text))));
    }

    fn artifact(&self, inner: &mut Inner, artifact: Artifact, append: bool, last: bool) {
        let weight = weight(&artifact);
        inner.bytes += weight;
        if let Some(totals) = &inner.totals {
            totals.grow(weight);
        }
        if inner.bytes > TASK_BYTES {
            if let Some(work) = inner.work.take() {
                work.abort();
            }
            let text = format!("the reply has more than {TASK_BYTES} bytes");
            let error = wire::error(&ErrorCode::Failed, &text);
            return self.tell(inner, status(TaskState::Failed, Some(error)));
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

    fn tell(&self, inner: &mut Inner, mut status: TaskStatus) {
        if let Some(message) = &mut status.message {
            message.task_id = Some(self.id.clone());
            message.context_id = Some(self.context.clone());
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

    /// Follows the task until it rests: the task as it is now, then its events.
    pub(crate) fn follow(self: &Arc<Self>) -> BoxStream<'static, StreamResponse> {
        let (task, position) = self.position(None, true);
        let ended = task.status.state.is_terminal();
        let events = self.events(position, ended);
        Box::pin(futures_util::StreamExt::chain(
            stream::iter([StreamResponse::Task(task)]),
            events,
        ))
    }

    /// Follows the task from an event on, until it rests.
    fn events(
        self: &Arc<Self>,
        position: usize,
        ended: bool,
    ) -> BoxStream<'static, StreamResponse> {
        let state = (Arc::clone(self), self.changed.subscribe(), position, ended);
        Box::pin(stream::unfold(
            state,
            |(entry, mut changed, position, ended)| async move {
                if ended {
                    return None;
                }
                // The entry holds the sender, so this waits as long as it must.
                changed.wait_for(|events| *events > position).await.ok()?;
                let event = entry.inner().events.get(position).cloned()?;
                let ended = matches!(&event, StreamResponse::StatusUpdate(update)
                if rests(&update.status.state));
                Some((event, (entry, changed, position + 1, ended)))
            },
        ))
    }

    /// Waits until the task rests.
    pub(crate) async fn rest(&self) {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            if rests(&self.state()) {
                return;
            }
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Returns the next event of a follower who stays until the very end: a webhook.
    pub(crate) async fn event(&self, position: usize) -> Option<StreamResponse> {
        let mut changed = self.changed.subscribe();
        loop {
            changed.borrow_and_update();
            {
                let inner = self.inner();
                if let Some(event) = inner.events.get(position) {
                    return Some(event.clone());
                }
                if inner.status.state.is_terminal() {
                    return None;
                }
            }
            changed.changed().await.ok()?;
        }
    }
}

impl Inner {
    /// Returns what an event says of the cost, if it is news.
    fn bill(&mut self) -> Option<HashMap<String, Value>> {
        let told = std::mem::replace(&mut self.told, true);
        self.spent.filter(|_| !told).map(spent)
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

fn artifact(id: &str, parts: Vec<Part>) -> Artifact {
    Artifact {
        artifact_id: id.to_owned(),
        name: None,
        description: None,
        parts,
        metadata: None,
        extensions: None,
    }
}

/// Writes a chunk: that of a message as its text, beside the whole of it for those who know it.
fn chunk_part(content: Option<StreamContent>, chunk: &Value) -> Part {
    if content != Some(StreamContent::Messages) {
        return wire::part(chunk);
    }
    let text = chunk.get("text").and_then(Value::as_str);
    let mut part = Part::text(text.unwrap_or_default());
    part.metadata = Some(wire::metadata(json!({ "chunk": chunk.to_string() })));
    part
}

fn weight(artifact: &Artifact) -> usize {
    let parts = artifact.parts.iter().map(|part| match &part.content {
        a2a::PartContent::Text(text) => text.len(),
        a2a::PartContent::Data(data) => data.to_string().len(),
        _ => 0,
    });
    parts.sum::<usize>() + 256
}

/// Puts the updates of artifacts together.
fn fold(events: &[StreamResponse]) -> Vec<Artifact> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut artifacts: Vec<Artifact> = Vec::new();
    for event in events {
        let StreamResponse::ArtifactUpdate(update) = event else {
            continue;
        };
        let id = update.artifact.artifact_id.as_str();
        let known = places.get(id).and_then(|place| artifacts.get_mut(*place));
        match known {
            Some(artifact) if update.append == Some(true) => {
                artifact.parts.extend(update.artifact.parts.iter().cloned());
            }
            Some(artifact) => *artifact = update.artifact.clone(),
            None => {
                places.insert(id, artifacts.len());
                artifacts.push(update.artifact.clone());
            }
        }
    }
    artifacts
}
