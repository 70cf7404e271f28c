//! Turns the events of a run into those of the wire.

use std::collections::{HashMap, HashSet, VecDeque};

use langgraph::graph::NodeName;
use langgraph::message::{Message, MessageAccumulator, MessageChunk};
use langgraph::node::Interrupt;
use serde_json::{Value, json};
use uuid::Uuid;

use super::frame::Frame;
use crate::graph::{Payload, RunEvent};
use crate::wire::approval::payload_out;
use crate::wire::time::now;
use crate::wire::usage::Usages;
use crate::wire::{chunk, message};

/// The place of an event: the nodes around it, and its own.
type Place = Vec<NodeName>;

/// Makes the frames of one run.
pub(crate) struct Frames {
    modes: Vec<String>,
    run: Uuid,
    metadata: Value,
    /// The ids of the tasks that run, by place, the oldest first.
    tasks: HashMap<Place, VecDeque<String>>,
    started: u64,
    /// Messages that come in chunks.
    partial: HashMap<Place, Partial>,
    /// Messages that were sent.
    seen: HashSet<String>,
    values: Option<Value>,
    /// What messages have cost.
    pub(super) usages: Usages,
}

struct Partial {
    id: String,
    so_far: MessageAccumulator,
}

impl Frames {
    pub(crate) fn new(modes: Vec<String>, run: &str, metadata: Value, usages: Usages) -> Self {
        Self {
            modes,
            run: run.parse().unwrap_or_default(),
            metadata,
            tasks: HashMap::new(),
            started: 0,
            partial: HashMap::new(),
            seen: HashSet::new(),
            values: None,
            usages,
        }
    }

    fn wants(&self, mode: &str) -> bool {
        self.modes.iter().any(|wanted| wanted == mode)
    }

    /// Returns `node:task|node:task` for a place.
    fn namespace(&self, place: &[NodeName]) -> String {
        let parts: Vec<String> = (1..=place.len())
            .filter_map(|length| {
                let inner = place.get(..length)?;
                let task = self.tasks.get(inner).and_then(|tasks| tasks.back())?;
                Some(format!("{}:{task}", inner.last()?))
            })
            .collect();
        parts.join("|")
    }

    fn name(&self, mode: &str, place: &[NodeName]) -> String {
        match self.namespace(place) {
            namespace if namespace.is_empty() => mode.to_owned(),
            namespace => format!("{mode}|{namespace}"),
        }
    }

    /// Returns the frames of an event, in order.
    pub(crate) fn frames(&mut self, event: RunEvent) -> Vec<Frame> {
        let mut out = Vec::new();
        let RunEvent {
            namespace: place,
            step,
            mut payload,
        } = event;
        if let Some(value) = payload.value_mut() {
            self.usages.write(value);
        }
        let mut push = |this: &Self, mode: &str, data: &Value| {
            if this.wants(mode) {
                out.push(Frame::new(mode, this.name(mode, &place), data));
            }
        };
        match payload {
            Payload::Values(values) => {
                push(self, "values", &values);
                if place.is_empty() {
                    self.values = Some(values);
                }
            }
            Payload::Update {
                node,
                update,
                cached,
            } => {
                let mut data = json!({&*node: update});
                if cached {
                    data["__metadata__"] = json!({"cached": true});
                }
                push(self, "updates", &data);
            }
            Payload::Custom(value) => push(self, "custom", &value),
            Payload::Checkpoint(snapshot) => {
                push(self, "checkpoints", &snapshot);
                push(self, "debug", &debug(step, "checkpoint", &snapshot));
            }
            Payload::TaskStarted { node, input } => {
                let id = self.start_task(&place, &node);
                let data = json!({
                    "id": id, "name": node, "input": input,
                    "triggers": [format!("branch:to:{node}")],
                });
                push(self, "tasks", &data);
                push(self, "debug", &debug(step, "task", &data));
            }
            Payload::TaskFinished {
                node,
                result,
                error,
                interrupts,
            } => {
                let error = error.map(|text| json!({"error": "NodeError", "message": text}));
                let data = json!({
                    "id": self.end_task(&place, &node), "name": node, "error": error,
                    "result": if result.is_null() { json!({}) } else { result },
                    "interrupts": interrupts.iter().map(waiting).collect::<Value>(),
                });
                push(self, "tasks", &data);
                push(self, "debug", &debug(step, "task_result", &data));
            }
            Payload::Interrupts(interrupts) => {
                for interrupt in &interrupts {
                    let open = json!([waiting(interrupt)]);
                    push(self, "updates", &json!({"__interrupt__": open}));
                    let mut values = self.values.clone().unwrap_or_else(|| json!({}));
                    if values.is_object() {
                        values["__interrupt__"] = open;
                    }
                    push(self, "values", &values);
                }
            }
            Payload::Chunk { node, chunk } => return self.chunk(&place, step, &node, &chunk),
            Payload::Message { node, message } => {
                return self.message(&place, step, &node, &message);
            }
        }
        out
    }

    fn start_task(&mut self, place: &[NodeName], node: &NodeName) -> String {
        self.started += 1;
        let name = format!("{}:{node}", self.started);
        let id = Uuid::new_v5(&self.run, name.as_bytes()).to_string();
        let tasks = self.tasks.entry(inside(place, node)).or_default();
        tasks.push_back(id.clone());
        id
    }

    fn end_task(&mut self, place: &[NodeName], node: &NodeName) -> Option<String> {
        self.tasks.get_mut(&inside(place, node))?.pop_front()
    }

    fn metadata(&self, place: &[NodeName], step: usize, node: &NodeName) -> Value {
        let namespace = self.namespace(&inside(place, node));
        let mut metadata = self.metadata.clone();
        crate::rows::merge(
            &mut metadata,
            &json!({
                "langgraph_step": step, "langgraph_node": node,
                "langgraph_triggers": [format!("branch:to:{node}")],
                "langgraph_path": ["__pregel_pull", node],
                "langgraph_checkpoint_ns": namespace, "checkpoint_ns": namespace,
            }),
        );
        metadata
    }

    fn chunk(
        &mut self,
        place: &[NodeName],
        step: usize,
        node: &NodeName,
        chunk: &MessageChunk,
    ) -> Vec<Frame> {
        let key = inside(place, node);
        let known = self.partial.get(&key);
        let other = chunk
            .id
            .as_ref()
            .is_some_and(|id| known.is_some_and(|known| known.id != *id));
        let is_new = known.is_none() || other;
        if is_new {
            let id = chunk.id.clone();
            let id = id.unwrap_or_else(|| format!("run--{}", Uuid::now_v7()));
            self.seen.insert(id.clone());
            let so_far = MessageAccumulator::new();
            self.partial.insert(key.clone(), Partial { id, so_far });
        }
        let metadata = self.metadata(place, step, node);
        let Some(partial) = self.partial.get_mut(&key) else {
            return Vec::new();
        };
        partial.so_far.push(chunk.clone());
        let id = partial.id.clone();
        if let Some(usage) = partial.so_far.usage() {
            self.usages.set(&id, &usage);
        }
        let mut whole = message::to_wire(&partial.so_far.message());
        whole["id"] = json!(id);
        self.usages.write(&mut whole);
        let mut out = Vec::new();
        if self.wants("messages-tuple") {
            let data = json!([chunk::to_wire(chunk, &id), metadata]);
            out.push(Frame::new(
                "messages-tuple",
                self.name("messages", place),
                &data,
            ));
        }
        // Their metadata say where they come from; the names of the events do not.
        if self.wants("messages") {
            if is_new {
                let data = json!({&*id: {"metadata": metadata}});
                out.push(Frame::new("messages", "messages/metadata", &data));
            }
            out.push(Frame::new("messages", "messages/partial", &json!([whole])));
        }
        out
    }

    /// A whole message: of a node, or of chunks that were sent before.
    fn message(
        &mut self,
        place: &[NodeName],
        step: usize,
        node: &NodeName,
        message: &Message,
    ) -> Vec<Frame> {
        let mut wire = message::to_wire(message);
        if message.is_removal() {
            return Vec::new();
        }
        let streamed = message.is_assistant()
            && self
                .partial
                .remove(&inside(place, node))
                .is_some_and(|partial| {
                    wire["id"].as_str().is_none_or(|id| id == partial.id)
                        || partial.so_far.id().is_none()
                });
        let known = message
            .id
            .as_deref()
            .is_some_and(|id| !self.seen.insert(id.to_owned()));
        if streamed || known {
            return Vec::new();
        }
        if wire["id"].is_null() {
            wire["id"] = json!(Uuid::now_v7().to_string());
        }
        self.usages.write(&mut wire);
        let metadata = self.metadata(place, step, node);
        let mut out = Vec::new();
        if self.wants("messages-tuple") {
            let data = json!([wire, metadata]);
            out.push(Frame::new(
                "messages-tuple",
                self.name("messages", place),
                &data,
            ));
        }
        if self.wants("messages") {
            let id = wire["id"].as_str().unwrap_or_default().to_owned();
            let data = json!({id: {"metadata": metadata}});
            out.push(Frame::new("messages", "messages/metadata", &data));
            out.push(Frame::new("messages", "messages/complete", &json!([wire])));
        }
        out
    }
}

fn inside(place: &[NodeName], node: &NodeName) -> Place {
    place.iter().chain([node]).cloned().collect()
}

fn debug(step: usize, kind: &str, payload: &Value) -> Value {
    json!({"step": step, "timestamp": now(), "type": kind, "payload": payload})
}

/// Returns an open interrupt as streams and results show it. A payload may bring the schema of its
/// answer along.
pub(crate) fn waiting(interrupt: &Interrupt) -> Value {
    let schema = &interrupt.payload["response_schema"];
    let value = payload_out(&interrupt.payload);
    json!({"value": value, "id": interrupt.id, "response_schema": schema})
}
