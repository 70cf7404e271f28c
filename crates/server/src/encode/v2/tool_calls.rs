//! The tool calls of a run, and which of their tools have started.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Follows tool calls from the messages that have them to the start of their tools.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    /// Those whose tools have not started, by the namespace of their message.
    expected: BTreeMap<Vec<String>, Vec<Value>>,
    started: BTreeSet<String>,
}

impl ToolCalls {
    /// Adds the calls of a message.
    pub(super) fn expect(&mut self, namespace: &[String], calls: Vec<Value>) {
        let expected = self.expected.entry(namespace.to_vec()).or_default();
        expected.extend(calls);
    }

    /// Returns the start of the tool whose call is the item of a task, which has begun. Its message may have come in
    /// an earlier run.
    pub(super) fn task_starts(&mut self, item: &Value) -> Option<Value> {
        let is_call = item.as_object().is_some_and(|fields| fields.len() == 3)
            && item["id"].is_string()
            && item["name"].is_string();
        let input = item.get("arguments").filter(|_| is_call)?;
        self.start(&item["id"], &item["name"], input)
    }

    /// Returns the starts of the tools that the last message calls, before the first of their answers: of those that
    /// all run in one task.
    pub(super) fn answer_comes(&mut self, namespace: &[String]) -> Vec<Value> {
        let calls = self.expected.remove(namespace).unwrap_or_default();
        calls
            .iter()
            .filter_map(|call| self.start(&call["id"], &call["name"], &call["args"]))
            .collect()
    }

    fn start(&mut self, id: &Value, name: &Value, input: &Value) -> Option<Value> {
        let is_new = self.started.insert(id.as_str()?.to_owned());
        is_new.then(|| {
            json!({"event": "tool-started", "tool_call_id": id, "tool_name": name, "input": input})
        })
    }
}
