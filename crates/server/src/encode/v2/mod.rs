//! Version 2 of the streaming protocol: the events of a thread, whatever run they belong to.

mod channels;
mod message;
#[cfg(test)]
mod tests;
mod tool_calls;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use langgraph_http::Frame;
use serde_json::{Value, json};

use self::message::{Growing, whole};
use self::tool_calls::ToolCalls;
use self::values::values_out;
use super::Encoder;
use super::tasks::task_json;
use crate::rows::PER_EVENT;
use crate::stream::{EndStatus, OpenInterrupt, StreamEvent, StreamEventKind};
use crate::wire::chunk;
use crate::wire::sleep::asks;

pub(crate) use channels::Channels;

/// An event of the protocol.
struct ProtocolEvent {
    method: &'static str,
    namespace: Vec<String>,
    name: Option<String>,
    /// Its number in the thread.
    number: i64,
    event_id: String,
    timestamp: i64,
    data: Value,
}

impl ProtocolEvent {
    fn frame(&self) -> Frame {
        let event = json!({
            "type": "event", "event_id": self.event_id, "seq": self.number, "method": self.method,
            "params": {
                "namespace": self.namespace, "timestamp": self.timestamp, "data": self.data,
            },
        });
        Frame::new(self.method, event.to_string()).with_id(self.number.to_string())
    }
}

/// Encodes the events of one run for a client that wants some channels.
pub(crate) struct V2 {
    run: String,
    graph: String,
    /// The number before the first event of the run.
    base: i64,
    channels: Channels,
    /// The number of the last event that the client has seen.
    after: i64,
    /// In an order that is the same each time: what is still open at the end of the run gets its numbers in it.
    growing: BTreeMap<Vec<String>, Growing>,
    calls: ToolCalls,
    /// The subgraphs that have started.
    subgraphs: BTreeSet<Vec<String>>,
    /// Values that wait for their checkpoint, and their namespace.
    held: Option<(Vec<String>, Value)>,
    /// The values of the root graph at its newest interrupt.
    at_interrupt: Option<Value>,
    has_checkpoints: bool,
    has_begun: bool,
    has_ended: bool,
}

/// The protocol's events for one stream event.
struct Output<'a> {
    event: &'a StreamEvent,
    run: &'a str,
    base: i64,
    events: Vec<ProtocolEvent>,
}

impl Output<'_> {
    fn task(&mut self, namespace: &[String], task: &StreamEventKind) {
        self.push("tasks", namespace, task_json(task).unwrap_or_default());
    }

    fn push(&mut self, method: &'static str, namespace: &[String], data: Value) {
        // What is beyond has no number of its own.
        let part = i64::try_from(self.events.len()).unwrap_or(PER_EVENT);
        if part >= PER_EVENT {
            return;
        }
        let name = data["name"].as_str().filter(|_| method == "custom");
        self.events.push(ProtocolEvent {
            method,
            name: name.map(str::to_owned),
            namespace: namespace.to_vec(),
            number: self.base + self.event.number * PER_EVENT + part + 1,
            event_id: format!("{}:{}.{part}", self.run, self.event.number),
            timestamp: self.event.made,
            data,
        });
    }
}

impl Encoder for V2 {
    fn encode(&mut self, event: &StreamEvent) -> Vec<Frame> {
        let run = self.run.clone();
        let mut out = Output {
            event,
            run: &run,
            base: self.base,
            events: Vec::new(),
        };
        self.add(event, &mut out);
        let wanted = out.events.iter().filter(|event| {
            event.number > self.after
                && self
                    .channels
                    .want(event.method, event.name.as_deref(), &event.namespace)
        });
        wanted.map(ProtocolEvent::frame).collect()
    }
}

impl V2 {
    pub(crate) fn new(run: &str, graph: &str, base: i64, channels: Channels, after: i64) -> Self {
        Self {
            run: run.to_owned(),
            graph: graph.to_owned(),
            base,
            channels,
            after,
            growing: BTreeMap::new(),
            calls: ToolCalls::default(),
            subgraphs: BTreeSet::new(),
            held: None,
            at_interrupt: None,
            has_checkpoints: false,
            has_begun: false,
            has_ended: false,
        }
    }

    fn add(&mut self, event: &StreamEvent, out: &mut Output<'_>) {
        let namespace = &event.namespace;
        self.release(event, out);
        self.enter(namespace, out);
        match &event.kind {
            StreamEventKind::Started { .. } if !self.has_begun => {
                self.has_begun = true;
                let data = json!({"event": "running", "graph_name": self.graph});
                out.push("lifecycle", &[], data);
            }
            StreamEventKind::MessageChunk { id, chunk, .. } => {
                self.message(namespace, &chunk::to_wire(chunk, id), out);
            }
            StreamEventKind::Message { message, .. } => self.message(namespace, message, out),
            // Each interrupt is an event of its own.
            StreamEventKind::Values(values) if !values["__interrupt__"].is_null() => {}
            StreamEventKind::Values(values) => {
                self.finish_messages(namespace, out);
                let values = values_out(values.clone());
                if self.has_checkpoints {
                    self.held = Some((namespace.clone(), values));
                } else {
                    out.push("values", namespace, values);
                }
            }
            StreamEventKind::Update {
                node,
                update,
                cached,
            } => {
                self.finish_messages(namespace, out);
                let mut data = json!({node.as_str(): values_out(update.clone())});
                if *cached {
                    data["__metadata__"] = json!({"cached": true});
                }
                out.push("updates", namespace, data);
            }
            StreamEventKind::Interrupt { interrupt, values } => {
                self.finish_messages(namespace, out);
                if asks(&interrupt.value) {
                    out.push("input.requested", namespace, requested(interrupt));
                }
                self.at_interrupt.clone_from(values);
            }
            StreamEventKind::Custom(value) => out.push("custom", namespace, custom(value)),
            StreamEventKind::TaskStarted { input, .. } => {
                self.finish_messages(namespace, out);
                if let Some(start) = self.calls.task_starts(input) {
                    out.push("tools", namespace, start);
                }
                out.task(namespace, &event.kind);
            }
            StreamEventKind::TaskFinished { id, node, .. } => {
                let mut subgraph = namespace.clone();
                subgraph.push(format!("{node}:{}", id.as_deref().unwrap_or_default()));
                if self.subgraphs.contains(&subgraph) {
                    self.leave(&subgraph, &event.kind, out);
                }
                out.task(namespace, &event.kind);
            }
            StreamEventKind::Ended { status, error } => {
                let error = error.as_ref().map(|error| error.message.as_str());
                self.end(*status, error, out);
            }
            _ => {}
        }
    }

    /// Adds a checkpoint, and then the values that came right before it: clients expect the
    /// checkpoint first. Without checkpoints in the stream, no values wait.
    fn release(&mut self, event: &StreamEvent, out: &mut Output<'_>) {
        let namespace = &event.namespace;
        let mut held = self.held.take();
        if let StreamEventKind::Checkpoint(snapshot) = &event.kind {
            if let Some((at, values)) = held.take_if(|(at, _)| at != namespace) {
                out.push("values", &at, values);
            }
            self.enter(namespace, out);
            self.checkpoint(namespace, snapshot, out);
        }
        if let Some((at, values)) = held {
            out.push("values", &at, values);
        }
    }

    fn checkpoint(&mut self, namespace: &[String], data: &Value, out: &mut Output<'_>) {
        self.has_checkpoints = true;
        let data = json!({
            "id": data["checkpoint_id"], "parent_id": data["parent_checkpoint_id"],
            "step": data["metadata"]["step"], "source": data["metadata"]["source"],
        });
        out.push("checkpoints", namespace, data);
    }

    /// Adds the start of each subgraph that has not started yet.
    fn enter(&mut self, namespace: &[String], out: &mut Output<'_>) {
        for length in 1..=namespace.len() {
            let Some(inner) = namespace.get(..length) else {
                return;
            };
            if !self.subgraphs.insert(inner.to_vec()) {
                continue;
            }
            let last = inner.last().map(String::as_str).unwrap_or_default();
            let (node, task) = last.split_once(':').unwrap_or((last, ""));
            let data = json!({
                "event": "started", "namespace": inner, "graph_name": node,
                "trigger_call_id": task,
            });
            out.push("lifecycle", inner, data);
        }
    }

    fn message(&mut self, namespace: &[String], message: &Value, out: &mut Output<'_>) {
        let id = message["id"].as_str().unwrap_or_default();
        match message["type"].as_str() {
            Some("AIMessageChunk") => {
                let other = self
                    .growing
                    .get(namespace)
                    .is_some_and(|known| known.id != id);
                if other {
                    self.finish_messages(namespace, out);
                }
                let known = self.growing.remove(namespace);
                let mut growing = known.unwrap_or_else(|| {
                    let (growing, start) = Growing::start(id);
                    out.push("messages", namespace, start);
                    growing
                });
                for said in growing.add(message) {
                    out.push("messages", namespace, said);
                }
                self.growing.insert(namespace.to_vec(), growing);
                if message["chunk_position"] == "last" {
                    self.finish_messages(namespace, out);
                }
            }
            // No model has streamed it: it is in the values, and only its calls are followed.
            Some("ai") => self.calls.expect(namespace, whole(message).1),
            Some("tool") => {
                for start in self.calls.answer_comes(namespace) {
                    out.push("tools", namespace, start);
                }
                let call = message["tool_call_id"].clone();
                let data = if message["status"] == "error" {
                    json!({
                        "event": "tool-error", "tool_call_id": call, "message": message["content"],
                    })
                } else {
                    json!({"event": "tool-finished", "tool_call_id": call, "output": message})
                };
                out.push("tools", namespace, data);
                let mut inside = namespace.to_vec();
                inside.push(format!("tools:{}", call.as_str().unwrap_or_default()));
                for said in whole(message).0 {
                    out.push("messages", &inside, said);
                }
            }
            _ => {}
        }
    }

    fn finish_messages(&mut self, namespace: &[String], out: &mut Output<'_>) {
        if let Some(growing) = self.growing.remove(namespace) {
            let (said, calls) = growing.finish();
            for said in said {
                out.push("messages", namespace, said);
            }
            self.calls.expect(namespace, calls);
        }
    }

    fn leave(&mut self, subgraph: &[String], task: &StreamEventKind, out: &mut Output<'_>) {
        let StreamEventKind::TaskFinished {
            node,
            error,
            interrupts,
            ..
        } = task
        else {
            return;
        };
        self.finish_messages(subgraph, out);
        let mut data = json!({"event": "completed", "graph_name": node});
        if !interrupts.is_empty() {
            data["event"] = json!("interrupted");
        } else if let Some(error) = error {
            data["event"] = json!("failed");
            data["error"] = json!(error);
        }
        out.push("lifecycle", subgraph, data);
    }

    fn end(&mut self, status: EndStatus, error: Option<&str>, out: &mut Output<'_>) {
        let open: Vec<Vec<String>> = self.growing.keys().cloned().collect();
        for namespace in open {
            self.finish_messages(&namespace, out);
        }
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        let event = match status {
            EndStatus::Completed => "completed",
            EndStatus::Interrupted | EndStatus::Cancelled => "interrupted",
            EndStatus::Failed => "failed",
        };
        let mut end = json!({"event": event, "graph_name": self.graph});
        if let Some(error) = error {
            end["error"] = json!(error);
        }
        out.push("lifecycle", &[], end);
        // Clients that leave the loop over the values at an interrupt read them once more.
        let values = self.at_interrupt.take();
        if let (EndStatus::Interrupted, Some(values)) = (status, values) {
            out.push("values", &[], values_out(values));
        }
    }
}

/// Returns a custom event in a form that holds the value itself, which the Python client gives to
/// its program, and `payload`, which the JavaScript client does.
fn custom(value: &Value) -> Value {
    let mut data = json!({"payload": value, "name": value["name"]});
    if let (Value::Object(data), Value::Object(own)) = (&mut data, value) {
        for (name, value) in own {
            data.entry(name.as_str()).or_insert_with(|| value.clone());
        }
    }
    data
}

fn requested(interrupt: &OpenInterrupt) -> Value {
    json!({
        "interrupt_id": interrupt.id, "payload": interrupt.value,
        // What the Python client reads.
        "value": interrupt.value,
    })
}
