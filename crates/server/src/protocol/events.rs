//! Turns the stored events of a run into those of the protocol.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Value, json};

use super::message::{Growing, whole};
use super::values::values_out;
use crate::rows::PER_EVENT;
use crate::runs::Frame;

/// An event of the protocol, before a client has chosen.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(super) method: &'static str,
    pub(super) namespace: Vec<String>,
    pub(super) name: Option<String>,
    pub(super) number: i64,
    pub(super) event_id: String,
    pub(super) timestamp: i64,
    pub(super) data: Value,
}

impl Told {
    /// Returns the event as a server-sent one.
    pub(super) fn text(&self) -> String {
        let event = json!({
            "type": "event", "event_id": self.event_id, "seq": self.number, "method": self.method,
            "params": {
                "namespace": self.namespace, "timestamp": self.timestamp, "data": self.data,
            },
        });
        format!(
            "event: {}\r\ndata: {event}\r\nid: {}\r\n\r\n",
            self.method, self.number
        )
    }
}

/// Makes the events of one run. The same frames make the same events.
#[derive(Debug)]
pub(crate) struct Translator {
    run: String,
    graph: String,
    /// The number before the first event of the run.
    base: i64,
    growing: HashMap<Vec<String>, Growing>,
    /// Tool calls whose tools have not started, by the namespace of their message.
    calls: BTreeMap<Vec<String>, Vec<Value>>,
    started: BTreeSet<String>,
    inside: BTreeSet<Vec<String>>,
    /// Values that wait for their checkpoint, and where they are.
    held: Option<(Vec<String>, Value)>,
    has_checkpoints: bool,
    has_begun: bool,
    pub(super) has_ended: bool,
}

/// The events of one frame.
struct Out<'a> {
    frame: &'a Frame,
    run: &'a str,
    base: i64,
    told: Vec<Told>,
}

impl Out<'_> {
    fn push(&mut self, method: &'static str, namespace: &[String], data: Value) {
        // What is beyond has no number of its own.
        let part = i64::try_from(self.told.len()).unwrap_or(PER_EVENT);
        if part >= PER_EVENT {
            return;
        }
        let name = data["name"].as_str().filter(|_| method == "custom");
        self.told.push(Told {
            method,
            name: name.map(str::to_owned),
            namespace: namespace.to_vec(),
            number: self.base + self.frame.seq * PER_EVENT + part + 1,
            event_id: format!("{}:{}.{part}", self.run, self.frame.seq),
            timestamp: self.frame.ms,
            data,
        });
    }
}

impl Translator {
    pub(crate) fn new(run: &str, graph: &str, base: i64) -> Self {
        Self {
            run: run.to_owned(),
            graph: graph.to_owned(),
            base,
            growing: HashMap::new(),
            calls: BTreeMap::new(),
            started: BTreeSet::new(),
            inside: BTreeSet::new(),
            held: None,
            has_checkpoints: false,
            has_begun: false,
            has_ended: false,
        }
    }

    /// Returns the events of the end of a run that did not tell its end: its process was lost.
    pub(super) fn lost(&mut self, number: i64, status: &str) -> Vec<Told> {
        let event = match status {
            "success" => "completed",
            "interrupted" => "interrupted",
            _ => "failed",
        };
        let mut frame = Frame::new("end", "end", &json!({"event": event}));
        frame.seq = number;
        self.events(&frame)
    }

    /// Returns the events of a frame.
    pub(crate) fn events(&mut self, frame: &Frame) -> Vec<Told> {
        let data: Value = serde_json::from_str(&frame.data).unwrap_or_default();
        let (event, namespace) = match frame.event.split_once('|') {
            Some((event, namespace)) => (event, namespace.split('|').map(str::to_owned).collect()),
            None => (&*frame.event, Vec::new()),
        };
        let run = self.run.clone();
        let mut out = Out {
            frame,
            run: &run,
            base: self.base,
            told: Vec::new(),
        };
        self.release(event, &namespace, &data, &mut out);
        self.enter(&namespace, &mut out);
        match event {
            "metadata" if !self.has_begun => {
                self.has_begun = true;
                let data = json!({"event": "running", "graph_name": self.graph});
                out.push("lifecycle", &[], data);
            }
            "messages" => self.message(&namespace, &data[0], &mut out),
            // Each question is told by itself.
            "values" if !data["__interrupt__"].is_null() => {}
            "values" => {
                self.finish_messages(&namespace, &mut out);
                if self.has_checkpoints {
                    self.held = Some((namespace, values_out(data)));
                } else {
                    out.push("values", &namespace, values_out(data));
                }
            }
            "updates" => self.updates(&namespace, data, &mut out),
            "custom" => out.push(
                "custom",
                &namespace,
                json!({"payload": data, "name": data["name"]}),
            ),
            "tasks" => self.task(&namespace, data, &mut out),
            "end" => self.end(&data, &mut out),
            _ => {}
        }
        out.told
    }

    /// Tells of a checkpoint, and then of the values that came right before it: clients expect the
    /// checkpoint first. Without checkpoints in the stream, no values wait.
    fn release(&mut self, event: &str, namespace: &[String], data: &Value, out: &mut Out<'_>) {
        let held = self.held.take();
        let pair = event == "checkpoints" && held.as_ref().is_some_and(|(at, _)| at == namespace);
        let values = |out: &mut Out<'_>| {
            if let Some((at, values)) = held {
                out.push("values", &at, values);
            }
        };
        if pair {
            self.checkpoint(namespace, data, out);
            values(out);
        } else {
            values(out);
            if event == "checkpoints" {
                self.enter(namespace, out);
                self.checkpoint(namespace, data, out);
            }
        }
    }

    fn checkpoint(&mut self, namespace: &[String], data: &Value, out: &mut Out<'_>) {
        self.has_checkpoints = true;
        let data = json!({
            "id": data["checkpoint_id"], "parent_id": data["parent_checkpoint_id"],
            "step": data["metadata"]["step"], "source": data["metadata"]["source"],
        });
        out.push("checkpoints", namespace, data);
    }

    /// Tells of subgraphs that have not been heard of.
    fn enter(&mut self, namespace: &[String], out: &mut Out<'_>) {
        for length in 1..=namespace.len() {
            let Some(inner) = namespace.get(..length) else {
                return;
            };
            if !self.inside.insert(inner.to_vec()) {
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

    fn updates(&mut self, namespace: &[String], data: Value, out: &mut Out<'_>) {
        self.finish_messages(namespace, out);
        let Value::Array(open) = &data["__interrupt__"] else {
            out.push("updates", namespace, values_in_updates(data));
            return;
        };
        for interrupt in open {
            let data = json!({
                "interrupt_id": interrupt["id"], "payload": interrupt["value"],
                // What the Python client reads.
                "value": interrupt["value"],
            });
            out.push("input.requested", namespace, data);
        }
    }

    fn message(&mut self, namespace: &[String], message: &Value, out: &mut Out<'_>) {
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
            Some("ai") => {
                let (said, calls) = whole(message);
                for said in said {
                    out.push("messages", namespace, said);
                }
                self.expect(namespace, calls);
            }
            Some("tool") => {
                self.tools_start(namespace, out);
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

    fn expect(&mut self, namespace: &[String], calls: Vec<Value>) {
        let expected = self.calls.entry(namespace.to_vec()).or_default();
        expected.extend(calls);
    }

    fn finish_messages(&mut self, namespace: &[String], out: &mut Out<'_>) {
        if let Some(growing) = self.growing.remove(namespace) {
            let (said, calls) = growing.finish();
            for said in said {
                out.push("messages", namespace, said);
            }
            self.expect(namespace, calls);
        }
    }

    /// Tells of the tools that the last message calls.
    fn tools_start(&mut self, namespace: &[String], out: &mut Out<'_>) {
        for call in self.calls.remove(namespace).into_iter().flatten() {
            let id = call["id"].as_str().unwrap_or_default();
            if self.started.insert(id.to_owned()) {
                let data = json!({
                    "event": "tool-started", "tool_call_id": call["id"],
                    "tool_name": call["name"], "input": call["args"],
                });
                out.push("tools", namespace, data);
            }
        }
    }

    fn task(&mut self, namespace: &[String], data: Value, out: &mut Out<'_>) {
        let is_start = data["triggers"].is_array();
        if is_start {
            self.finish_messages(namespace, out);
        } else {
            let mut inner = namespace.to_vec();
            let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
            inner.push(format!("{}:{}", text("name"), text("id")));
            if self.inside.contains(&inner) {
                self.leave(&inner, &data, out);
            }
        }
        out.push("tasks", namespace, data);
    }

    fn leave(&mut self, inner: &[String], task: &Value, out: &mut Out<'_>) {
        self.finish_messages(inner, out);
        let node = inner.last().and_then(|last| last.split(':').next());
        let interrupted = task["interrupts"]
            .as_array()
            .is_some_and(|open| !open.is_empty());
        let mut data = json!({"event": "completed", "graph_name": node});
        if interrupted {
            data["event"] = json!("interrupted");
        } else if !task["error"].is_null() {
            data["event"] = json!("failed");
            data["error"] = task["error"]["message"].clone();
        }
        out.push("lifecycle", inner, data);
    }

    fn end(&mut self, data: &Value, out: &mut Out<'_>) {
        let open: Vec<Vec<String>> = self.growing.keys().cloned().collect();
        for namespace in open {
            self.finish_messages(&namespace, out);
        }
        self.has_ended = true;
        let mut end = json!({"event": data["event"], "graph_name": self.graph});
        if !data["error"].is_null() {
            end["error"] = data["error"].clone();
        }
        out.push("lifecycle", &[], end);
    }
}

fn values_in_updates(data: Value) -> Value {
    match data {
        Value::Object(nodes) => nodes
            .into_iter()
            .map(|(node, update)| (node, values_out(update)))
            .collect(),
        data => data,
    }
}
