//! The events of a run as those of AG-UI.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::super::events::Told;
use super::input::RunAgentInput;
use super::messages::{message_out, text};

/// Turns the events of one run.
pub(super) struct Output {
    thread: String,
    run: String,
    started: bool,
    /// How many tasks of a node run: a step has a name, and is open once.
    steps: BTreeMap<String, usize>,
    /// Messages whose text is under way.
    texts: BTreeSet<String>,
    /// Calls that are under way: their message, and their id.
    calls: Vec<(String, u64, String)>,
    /// What was told, so that nothing is told twice.
    told: BTreeSet<String>,
    state: Option<Map<String, Value>>,
    error: Option<Value>,
}

impl Output {
    pub(super) fn new(input: &RunAgentInput, state: &Value) -> Self {
        let messages = state["values"]["messages"].as_array().into_iter().flatten();
        let ids = messages.filter_map(|message| message["id"].as_str());
        Self {
            thread: input.thread_id.clone(),
            run: input.run_id.clone(),
            started: false,
            steps: BTreeMap::new(),
            texts: BTreeSet::new(),
            calls: Vec::new(),
            told: ids.map(str::to_owned).collect(),
            state: None,
            error: None,
        }
    }

    fn start(&mut self) -> Option<Value> {
        let first = !std::mem::replace(&mut self.started, true);
        first.then(|| json!({"type": "RUN_STARTED", "threadId": self.thread, "runId": self.run}))
    }

    /// Returns the events for one of ours.
    pub(super) fn event(&mut self, told: Told) -> Vec<Value> {
        let mut out: Vec<Value> = self.start().into_iter().collect();
        let Told {
            mode,
            is_root,
            data,
        } = told;
        match mode.as_str() {
            "tasks" if is_root => out.extend(self.task(&data)),
            "messages" => self.message(&data[0], &mut out),
            "values" if is_root => out.extend(self.values(&data)),
            "custom" => {
                let name = data["name"].as_str().or_else(|| data["type"].as_str());
                let name = name.unwrap_or("custom").to_owned();
                out.push(json!({"type": "CUSTOM", "name": name, "value": data}));
            }
            "error" => self.error = Some(data),
            _ => {}
        }
        out
    }

    fn task(&mut self, data: &Value) -> Option<Value> {
        let name = data["name"].as_str()?;
        let running = self.steps.entry(name.to_owned()).or_default();
        let kind = if data.get("input").is_some() {
            *running += 1;
            (*running == 1).then_some("STEP_STARTED")
        } else {
            *running = running.saturating_sub(1);
            (*running == 0).then_some("STEP_FINISHED")
        };
        kind.map(|kind| json!({"type": kind, "stepName": name}))
    }

    fn message(&mut self, message: &Value, out: &mut Vec<Value>) {
        let Some(id) = message["id"].as_str() else {
            return;
        };
        match message["type"].as_str() {
            Some("AIMessageChunk") => {
                self.told.insert(id.to_owned());
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
        if !is_ours || !self.told.insert(id.to_owned()) {
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
    fn values(&mut self, values: &Value) -> Option<Value> {
        let mut now = values.as_object()?.clone();
        now.remove("messages");
        now.remove("__interrupt__");
        let before = self.state.replace(now.clone());
        let Some(before) = before else {
            return Some(json!({"type": "STATE_SNAPSHOT", "snapshot": now}));
        };
        let mut delta: Vec<Value> = Vec::new();
        for (key, value) in &now {
            if before.get(key) != Some(value) {
                let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
                delta.push(json!({"op": "add", "path": path, "value": value}));
            }
        }
        for key in before.keys().filter(|key| !now.contains_key(*key)) {
            let path = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            delta.push(json!({"op": "remove", "path": path}));
        }
        (!delta.is_empty()).then(|| json!({"type": "STATE_DELTA", "delta": delta}))
    }

    /// Returns the last events: open ends, where the thread stands, and how the run ended.
    pub(super) fn end(&mut self, state: &Value) -> Vec<Value> {
        let mut out: Vec<Value> = self.start().into_iter().collect();
        self.finish(None, &mut out);
        if let Some(error) = self.error.take() {
            out.push(json!({
                "type": "RUN_ERROR", "message": error["message"].as_str().unwrap_or("the run failed"),
                "code": error["error"],
            }));
            return out;
        }
        for (name, running) in std::mem::take(&mut self.steps) {
            if running > 0 {
                out.push(json!({"type": "STEP_FINISHED", "stepName": name}));
            }
        }
        out.extend(self.values(&state["values"]));
        if let Some(messages) = state["values"]["messages"].as_array() {
            let messages: Vec<Value> = messages.iter().filter_map(message_out).collect();
            out.push(json!({"type": "MESSAGES_SNAPSHOT", "messages": messages}));
        }
        let open = state["interrupts"].as_array().into_iter().flatten();
        let interrupts: Vec<Value> = open.map(interrupt).collect();
        let outcome = if interrupts.is_empty() {
            json!({"type": "success"})
        } else {
            json!({"type": "interrupt", "interrupts": interrupts})
        };
        out.push(json!({
            "type": "RUN_FINISHED", "threadId": self.thread, "runId": self.run,
            "outcome": outcome,
        }));
        out
    }
}

fn interrupt(open: &Value) -> Value {
    let value = &open["value"];
    let is_approval = value["type"] == "tool_approval";
    let said = ["question", "message", "description"].map(|key| value[key].as_str());
    let said = value.as_str().or_else(|| said.into_iter().flatten().next());
    let mut out = json!({
        "id": open["id"], "metadata": {"value": value},
        "reason": if is_approval { "tool_call" } else { "input_required" },
    });
    if let Some(said) = said {
        out["message"] = json!(said);
    }
    if is_approval {
        out["toolCallId"] = value["call"]["id"].clone();
    }
    if value["response_schema"].is_object() {
        out["responseSchema"] = value["response_schema"].clone();
    }
    out
}
