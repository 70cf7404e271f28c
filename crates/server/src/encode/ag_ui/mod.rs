//! AG-UI: the events of a run as those that its front ends read.

mod interrupts;

use std::collections::{BTreeMap, BTreeSet};

use langgraph_http::Frame;
use serde_json::{Map, Value, json};

use self::interrupts::waits_for;
use super::{Encoder, add_open};
use crate::stream::{EndStatus, OpenInterrupt, RunError, StreamEvent, StreamEventKind};
use crate::wire::ag_ui::{message_out, text};
use crate::wire::chunk;
use crate::wire::sleep::all_sleep_until;
use crate::wire::time::iso;

/// Encodes the events of one run.
pub(crate) struct AgUi {
    thread: String,
    run: String,
    /// The run of the server that the client's run is.
    run_id: String,
    started: bool,
    /// How many tasks of a node run: a step has a name, and is open once.
    steps: BTreeMap<String, usize>,
    /// Messages whose text is not complete.
    texts: BTreeSet<String>,
    /// Tool calls that are not complete: their message, their index, and their id.
    calls: Vec<(String, u64, String)>,
    /// The ids of messages that were sent.
    sent: BTreeSet<String>,
    /// The values of the root graph.
    values: Value,
    /// Those without messages, as they were sent.
    state: Option<Map<String, Value>>,
    interrupts: Vec<OpenInterrupt>,
}

impl AgUi {
    /// `values` are those of the thread before the run.
    pub(crate) fn new(thread: &str, run: &str, values: Value) -> Self {
        let messages = values["messages"].as_array().into_iter().flatten();
        let ids = messages.filter_map(|message| message["id"].as_str());
        Self {
            thread: thread.to_owned(),
            run: run.to_owned(),
            run_id: String::new(),
            started: false,
            steps: BTreeMap::new(),
            texts: BTreeSet::new(),
            calls: Vec::new(),
            sent: ids.map(str::to_owned).collect(),
            values,
            state: None,
            interrupts: Vec::new(),
        }
    }

    fn start(&mut self) -> Option<Value> {
        let first = !std::mem::replace(&mut self.started, true);
        first.then(|| json!({"type": "RUN_STARTED", "threadId": self.thread, "runId": self.run}))
    }

    fn add(&mut self, event: &StreamEvent, out: &mut Vec<Value>) {
        let is_root = event.namespace.is_empty();
        match &event.kind {
            StreamEventKind::Started { run_id, .. } => self.run_id.clone_from(run_id),
            StreamEventKind::TaskStarted { node, .. } if is_root => {
                out.extend(self.task(node, true));
            }
            StreamEventKind::TaskFinished { node, .. } if is_root => {
                out.extend(self.task(node, false));
            }
            StreamEventKind::MessageChunk { id, chunk, .. } => {
                self.message(&chunk::to_wire(chunk, id), out);
            }
            StreamEventKind::Message { message, .. } => self.message(message, out),
            StreamEventKind::Values(values) if is_root => {
                self.values = values.clone();
                out.extend(self.state());
            }
            StreamEventKind::Interrupt { interrupt, .. } if is_root => {
                add_open(&mut self.interrupts, interrupt);
            }
            StreamEventKind::Custom(value) => {
                let name = value["name"].as_str().or_else(|| value["type"].as_str());
                let name = name.unwrap_or("custom");
                out.push(json!({"type": "CUSTOM", "name": name, "value": value}));
            }
            StreamEventKind::Ended { status, error } => self.end(*status, error.as_ref(), out),
            _ => {}
        }
    }

    fn task(&mut self, node: &str, starts: bool) -> Option<Value> {
        let running = self.steps.entry(node.to_owned()).or_default();
        let kind = if starts {
            *running += 1;
            (*running == 1).then_some("STEP_STARTED")
        } else {
            *running = running.saturating_sub(1);
            (*running == 0).then_some("STEP_FINISHED")
        };
        kind.map(|kind| json!({"type": kind, "stepName": node}))
    }

    fn message(&mut self, message: &Value, out: &mut Vec<Value>) {
        let Some(id) = message["id"].as_str() else {
            return;
        };
        match message["type"].as_str() {
            Some("AIMessageChunk") => {
                self.sent.insert(id.to_owned());
                self.text(id, &text(&message["content"]), out);
                for call in message["tool_call_chunks"].as_array().into_iter().flatten() {
                    self.call(id, call, out);
                }
                if message["chunk_position"] == "last" {
                    self.finish(Some(id), out);
                }
            }
            _ => self.whole(message, out),
        }
    }

    /// A message that comes in one piece, unless it is known.
    fn whole(&mut self, message: &Value, out: &mut Vec<Value>) {
        let Some(id) = message["id"].as_str() else {
            return;
        };
        let is_ours = matches!(message["type"].as_str(), Some("ai" | "tool"));
        if !is_ours || !self.sent.insert(id.to_owned()) {
            return;
        }
        let text = text(&message["content"]);
        if message["type"] == "tool" {
            out.push(json!({
                "type": "TOOL_CALL_RESULT", "messageId": id, "content": text, "role": "tool",
                "toolCallId": message["tool_call_id"],
            }));
            return;
        }
        self.text(id, &text, out);
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        for (index, call) in calls.enumerate() {
            let chunk = json!({
                "index": index, "id": call["id"], "name": call["name"],
                "args": call["args"].to_string(),
            });
            self.call(id, &chunk, out);
        }
        self.finish(Some(id), out);
    }

    fn text(&mut self, id: &str, delta: &str, out: &mut Vec<Value>) {
        if delta.is_empty() {
            return;
        }
        if self.texts.insert(id.to_owned()) {
            let start = json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"});
            out.push(start);
        }
        out.push(json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": delta}));
    }

    fn call(&mut self, message: &str, chunk: &Value, out: &mut Vec<Value>) {
        let index = chunk["index"].as_u64().unwrap_or_default();
        let mut known = self.calls.iter();
        let known = known.find(|(of, at, _)| of == message && *at == index);
        let id = if let Some((_, _, id)) = known {
            id.clone()
        } else {
            let Some(id) = chunk["id"].as_str() else {
                return;
            };
            self.calls.push((message.to_owned(), index, id.to_owned()));
            out.push(json!({
                "type": "TOOL_CALL_START", "toolCallId": id, "toolCallName": chunk["name"],
                "parentMessageId": message,
            }));
            id.to_owned()
        };
        if let Some(delta) = chunk["args"].as_str().filter(|delta| !delta.is_empty()) {
            out.push(json!({"type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": delta}));
        }
    }

    /// Ends what is under way of a message, or of all.
    fn finish(&mut self, message: Option<&str>, out: &mut Vec<Value>) {
        let of = |id: &str| message.is_none_or(|message| message == id);
        let ended = |id: &String| of(id).then(|| id.clone());
        for id in self.texts.iter().filter_map(ended).collect::<Vec<_>>() {
            self.texts.remove(&id);
            out.push(json!({"type": "TEXT_MESSAGE_END", "messageId": id}));
        }
        self.calls.retain(|(owner, _, id)| {
            if of(owner) {
                out.push(json!({"type": "TOOL_CALL_END", "toolCallId": id}));
            }
            !of(owner)
        });
    }

    /// The state without its messages: whole at first, then what changes.
    fn state(&mut self) -> Option<Value> {
        let mut now = self.values.as_object()?.clone();
        now.remove("messages");
        now.remove("__interrupt__");
        let before = self.state.replace(now.clone());
        let Some(before) = before else {
            return Some(json!({"type": "STATE_SNAPSHOT", "snapshot": now}));
        };
        let mut delta: Vec<Value> = Vec::new();
        for (key, value) in &now {
            if before.get(key) != Some(value) {
                delta.push(json!({"op": "add", "path": pointer(key), "value": value}));
            }
        }
        for key in before.keys().filter(|key| !now.contains_key(*key)) {
            delta.push(json!({"op": "remove", "path": pointer(key)}));
        }
        (!delta.is_empty()).then(|| json!({"type": "STATE_DELTA", "delta": delta}))
    }

    /// Adds the last events: open ends, the state, and how the run ended.
    fn end(&mut self, status: EndStatus, error: Option<&RunError>, out: &mut Vec<Value>) {
        self.finish(None, out);
        let cancelled = RunError::new("UserInterrupt", "the run was cancelled");
        let failed = RunError::new("RuntimeError", "the run failed");
        let error = match status {
            EndStatus::Cancelled => Some(error.unwrap_or(&cancelled)),
            EndStatus::Failed => Some(error.unwrap_or(&failed)),
            EndStatus::Completed | EndStatus::Interrupted => None,
        };
        if let Some(error) = error {
            out.push(json!({
                "type": "RUN_ERROR", "message": error.message, "code": error.error,
            }));
            return;
        }
        for (name, running) in std::mem::take(&mut self.steps) {
            if running > 0 {
                out.push(json!({"type": "STEP_FINISHED", "stepName": name}));
            }
        }
        out.extend(self.state());
        if let Some(messages) = self.values["messages"].as_array() {
            let messages: Vec<Value> = messages.iter().filter_map(message_out).collect();
            out.push(json!({"type": "MESSAGES_SNAPSHOT", "messages": messages}));
        }
        let payloads = self.interrupts.iter().map(|open| &open.value);
        let outcome = match all_sleep_until(payloads) {
            Some(until) => {
                out.push(json!({
                    "type": "CUSTOM", "name": "sleep", "value": {"until": iso(until)},
                }));
                json!({"type": "success"})
            }
            None if status == EndStatus::Interrupted => {
                let interrupts = waits_for(&self.interrupts, &self.run_id);
                json!({"type": "interrupt", "interrupts": interrupts})
            }
            None => json!({"type": "success"}),
        };
        out.push(json!({
            "type": "RUN_FINISHED", "threadId": self.thread, "runId": self.run,
            "outcome": outcome,
        }));
    }
}

fn pointer(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl Encoder for AgUi {
    fn encode(&mut self, event: &StreamEvent) -> Vec<Frame> {
        let mut out: Vec<Value> = self.start().into_iter().collect();
        self.add(event, &mut out);
        let frames = out.iter().map(|event| Frame::data_only(event.to_string()));
        frames.collect()
    }
}
