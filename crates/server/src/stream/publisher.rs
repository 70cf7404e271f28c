//! Makes the stream of a run out of the events of its graph.

use std::collections::{HashMap, HashSet};

use langgraph::graph::NodeName;
use langgraph::interrupt::Interrupt;
use langgraph::message::{Message, MessageAccumulator, MessageChunk};
use serde_json::{Value, json};

use super::{OpenInterrupt, StreamEvent, StreamEventKind};
use super::{Spending, Spent};
use crate::graph::{RunEvent, RunEventKind};
use crate::rows::merge;
use crate::spec::Mode;
use crate::wire::message;
use crate::wire::usage::Usages;

/// Makes the stream events of one run: those that a mode of the run shows. It gives messages their
/// ids.
pub(crate) struct Publisher {
    modes: Vec<Mode>,
    metadata: Value,
    /// Those of the metadata that tasks have.
    task_metadata: Value,
    /// Messages that come in chunks, by the ids of their tasks.
    partial: HashMap<String, Partial>,
    /// The ids of messages that were published.
    published: HashSet<String>,
    values: Option<Value>,
    /// What messages have cost.
    pub(crate) usages: Usages,
    /// What tasks have cost.
    spending: Spending,
}

struct Partial {
    id: String,
    so_far: MessageAccumulator,
}

/// Where an event comes from.
struct Origin {
    namespace: Vec<String>,
    /// The id of its task.
    task: String,
    step: usize,
}

impl Origin {
    /// Returns the id of the task that its graph belongs to, if that is a subgraph.
    fn around(&self) -> Option<&str> {
        let (_, task) = self.namespace.last()?.rsplit_once(':')?;
        Some(task)
    }
}

/// Metadata that say where a task is, which its event says by itself.
const OF_PLACE: [&str; 9] = [
    "thread_id",
    "checkpoint_id",
    "checkpoint_ns",
    "checkpoint_map",
    "langgraph_step",
    "langgraph_node",
    "langgraph_triggers",
    "langgraph_path",
    "langgraph_checkpoint_ns",
];

/// Returns the metadata of a run as its tasks show them; null without any.
fn of_tasks(metadata: &Value) -> Value {
    let mut kept = metadata.as_object().cloned().unwrap_or_default();
    kept.retain(|name, _| !OF_PLACE.contains(&&**name));
    if kept.is_empty() {
        return Value::Null;
    }
    Value::Object(kept)
}

impl Publisher {
    pub(crate) fn new(
        modes: Vec<Mode>,
        metadata: Value,
        usages: Usages,
        spending: Spending,
    ) -> Self {
        Self {
            modes,
            task_metadata: of_tasks(&metadata),
            metadata,
            partial: HashMap::new(),
            published: HashSet::new(),
            values: None,
            usages,
            spending,
        }
    }

    /// Returns what the models of the run have used; `None` if none of them says so.
    pub(crate) fn spent(&self) -> Option<Spent> {
        self.spending.total()
    }

    fn shows(&self, modes: &[Mode]) -> bool {
        self.modes.iter().any(|mode| modes.contains(mode))
    }

    /// Returns the stream events of an event of the graph, in order.
    pub(crate) fn publish(&mut self, event: RunEvent) -> Vec<StreamEvent> {
        let RunEvent {
            namespace,
            task,
            step,
            mut kind,
        } = event;
        if let Some(value) = kind.value_mut() {
            self.usages.write(value);
        }
        let origin = Origin {
            namespace,
            task: task.unwrap_or_default(),
            step,
        };
        match kind {
            RunEventKind::Interrupts(open) => self.interrupts(&origin, &open),
            kind => self.one(&origin, kind).into_iter().collect(),
        }
    }

    fn event(origin: &Origin, kind: StreamEventKind) -> StreamEvent {
        StreamEvent::new(kind).at(origin.namespace.clone(), origin.step)
    }

    fn one(&mut self, origin: &Origin, kind: RunEventKind) -> Option<StreamEvent> {
        let modes: &[Mode] = match &kind {
            RunEventKind::Values(_) => &[Mode::Values],
            RunEventKind::Update { .. } => &[Mode::Updates],
            RunEventKind::Custom(_) => &[Mode::Custom],
            RunEventKind::Checkpoint(_) => &[Mode::Checkpoints, Mode::Debug],
            RunEventKind::TaskStarted { .. } | RunEventKind::TaskFinished { .. } => {
                &[Mode::Tasks, Mode::Debug]
            }
            RunEventKind::Chunk { .. } | RunEventKind::Message { .. } => {
                &[Mode::Messages, Mode::MessagesTuple]
            }
            RunEventKind::Interrupts(_) => &[Mode::Updates, Mode::Values],
        };
        let shown = self.shows(modes);
        let kind = match kind {
            RunEventKind::Values(values) => {
                if origin.namespace.is_empty() && shown {
                    self.values = Some(values.clone());
                }
                StreamEventKind::Values(values)
            }
            RunEventKind::Update {
                node,
                update,
                cached,
            } => StreamEventKind::Update {
                node: node.to_string(),
                update,
                cached,
            },
            RunEventKind::Custom(value) => StreamEventKind::Custom(value),
            RunEventKind::Checkpoint(snapshot) => StreamEventKind::Checkpoint(snapshot),
            RunEventKind::TaskStarted { node, input } => StreamEventKind::TaskStarted {
                id: origin.task.clone(),
                node: node.to_string(),
                input,
                metadata: self.task_metadata.clone(),
            },
            RunEventKind::TaskFinished {
                node,
                result,
                error,
                interrupts,
            } => StreamEventKind::TaskFinished {
                id: Some(origin.task.clone()).filter(|id| !id.is_empty()),
                node: node.to_string(),
                result: if result.is_null() { json!({}) } else { result },
                error,
                interrupts: interrupts.iter().map(OpenInterrupt::new).collect(),
                spent: self.spending.ended(&origin.task, origin.around()),
            },
            RunEventKind::Chunk { node, chunk } => self.chunk(origin, &node, chunk),
            RunEventKind::Message { node, message } => self.message(origin, &node, &message)?,
            RunEventKind::Interrupts(_) => return None,
        };
        shown.then(|| Self::event(origin, kind))
    }

    fn interrupts(&self, origin: &Origin, open: &[Interrupt]) -> Vec<StreamEvent> {
        if !self.shows(&[Mode::Updates, Mode::Values]) {
            return Vec::new();
        }
        if open.is_empty() {
            let shown = origin.namespace.is_empty() && self.shows(&[Mode::Updates]);
            let paused = shown.then(|| Self::event(origin, StreamEventKind::Breakpoint));
            return paused.into_iter().collect();
        }
        let values = self.shows(&[Mode::Values]);
        let values = values.then(|| self.values.clone().unwrap_or_else(|| json!({})));
        let kinds = open.iter().map(|interrupt| StreamEventKind::Interrupt {
            interrupt: OpenInterrupt::new(interrupt),
            values: values.clone(),
        });
        kinds.map(|kind| Self::event(origin, kind)).collect()
    }

    fn metadata(&self, origin: &Origin, node: &NodeName) -> Value {
        let own = format!("{node}:{}", origin.task);
        let mut path: Vec<&str> = origin.namespace.iter().map(String::as_str).collect();
        path.push(&own);
        let namespace = path.join("|");
        let mut metadata = self.metadata.clone();
        let own = json!({
            "langgraph_step": origin.step, "langgraph_node": node,
            "langgraph_triggers": [format!("branch:to:{node}")],
            "langgraph_path": ["__pregel_pull", node],
            "langgraph_checkpoint_ns": namespace, "checkpoint_ns": namespace,
        });
        merge(&mut metadata, &own);
        metadata
    }

    fn chunk(
        &mut self,
        origin: &Origin,
        node: &NodeName,
        mut chunk: MessageChunk,
    ) -> StreamEventKind {
        let metadata = self.metadata(origin, node);
        let known = self.partial.get(&origin.task);
        let is_new = known.is_none_or(|known| chunk.id.as_ref().is_some_and(|id| known.id != *id));
        if is_new {
            let id = chunk.id.clone();
            let id = id.unwrap_or_else(|| format!("run--{}", langgraph_core::new_id()));
            self.published.insert(id.clone());
            let so_far = MessageAccumulator::new();
            self.partial
                .insert(origin.task.clone(), Partial { id, so_far });
        }
        let mut id = String::new();
        if let Some(partial) = self.partial.get_mut(&origin.task) {
            // Clients put the metadata of chunks together: they need them once.
            let is_named = partial.so_far.metadata().model.is_some();
            partial.so_far.push(chunk.clone());
            chunk.metadata.take_if(|_| is_named);
            id.clone_from(&partial.id);
            let spent = self.spending.answer(&origin.task, &id, &partial.so_far);
            if let Some(spent) = spent {
                let model = partial.so_far.metadata();
                self.usages.set(&id, spent.to_wire(), model);
            }
        }
        StreamEventKind::MessageChunk {
            id,
            chunk,
            metadata,
        }
    }

    /// A whole message, unless its chunks were published before.
    fn message(
        &mut self,
        origin: &Origin,
        node: &NodeName,
        message: &Message,
    ) -> Option<StreamEventKind> {
        if message.is_removal() {
            return None;
        }
        let id = message.id.as_deref();
        let streamed = message.is_assistant()
            && self.partial.remove(&origin.task).is_some_and(|partial| {
                id.is_none_or(|id| id == partial.id) || partial.so_far.id().is_none()
            });
        let known = id.is_some_and(|id| !self.published.insert(id.to_owned()));
        if streamed || known {
            return None;
        }
        let mut wire = message::to_wire(message);
        if wire["id"].is_null() {
            wire["id"] = json!(langgraph_core::new_id().to_string());
        }
        self.usages.write(&mut wire);
        Some(StreamEventKind::Message {
            message: wire,
            metadata: self.metadata(origin, node),
        })
    }
}
