//! What models and tools answered in a stored thread.

use std::collections::HashMap;
use std::sync::Arc;

use langgraph::checkpoint::{CheckpointId, Formats, Payload};
use langgraph::error::CheckpointError;
use langgraph::message::{Message, ToolResult};
use langgraph_core::checkpoint::{AnyValue, TaskFold, fold_tasks};
use serde_json::Value;

use super::Options;
use super::log::Logs;

/// The answers in a task.
#[derive(Default)]
pub(super) struct TaskAnswers {
    /// What models said, in order.
    pub(super) models: Vec<Message>,
    pub(super) tools: Vec<ToolResult>,
}

/// The answers of all tasks of a thread.
pub(super) type Answers = Arc<HashMap<(CheckpointId, usize), TaskAnswers>>;

pub(super) fn all(logs: &Logs, formats: &Formats) -> Result<Answers, CheckpointError> {
    let mut answers = HashMap::new();
    for log in logs.values() {
        let mut earlier = HashMap::new();
        for stored in &log.records {
            let mut written = Vec::new();
            for (task, fold) in fold_tasks(stored).iter().enumerate() {
                let mut found = TaskAnswers::default();
                if let Some(written) = fold.written() {
                    collect(&json(written, formats)?, &mut found);
                }
                // A summary, for instance, writes the messages again that it keeps: no model says them there.
                let is_new = |message: &Message| {
                    let id = message.id.as_deref();
                    id.and_then(|id| earlier.get(id)) != Some(message)
                };
                found.models.retain(is_new);
                written.extend(found.models.iter().cloned());
                answers.insert((stored.checkpoint.id, task), found);
            }
            let by_id = written.into_iter().filter_map(|message| {
                let id = message.id.as_deref().map(str::to_owned);
                Some((id?, message))
            });
            earlier.extend(by_id);
        }
    }
    Ok(Arc::new(answers))
}

/// Returns true if a task called tools that answered with commands, and are not to run.
pub(super) fn is_command(
    fold: &TaskFold<'_>,
    formats: &Formats,
    options: &Options,
) -> Result<bool, CheckpointError> {
    let Some(written) = fold.written() else {
        return Ok(false);
    };
    let wire = json(written, formats)?;
    let mut found = TaskAnswers::default();
    collect(&wire, &mut found);
    let writes = wire["writes"].as_array().map_or(0, Vec::len);
    let all = found.tools.iter().all(|result| runs(result, options));
    Ok(!all && (writes > 1 || !wire["jump"].is_null()))
}

/// Returns true if a task called tools, and none of them runs again: a graph that one of them ran does not.
pub(super) fn is_answered_tool(
    fold: &TaskFold<'_>,
    formats: &Formats,
    options: &Options,
) -> Result<bool, CheckpointError> {
    let Some(written) = fold.written() else {
        return Ok(false);
    };
    let mut found = TaskAnswers::default();
    collect(&json(written, formats)?, &mut found);
    // A graph with a model and tools writes what both say.
    let is_tools = found.models.is_empty() && !found.tools.is_empty();
    Ok(is_tools && !found.tools.iter().any(|result| runs(result, options)))
}

fn runs(result: &ToolResult, options: &Options) -> bool {
    let name = result.name.as_deref().unwrap_or_default();
    options.run_tools.contains(name)
}

/// Returns a payload as JSON.
pub(super) fn json(payload: &Payload, formats: &Formats) -> Result<Value, CheckpointError> {
    let encoded = payload.clone().encode(formats);
    let value = encoded.and_then(|encoded| formats.decode::<AnyValue>(&encoded));
    value
        .map(|AnyValue(value)| value)
        .map_err(CheckpointError::storage)
}

/// Collects the messages in a value, in order.
fn collect(value: &Value, found: &mut TaskAnswers) {
    match value {
        Value::Object(object) if object.get("role").is_some_and(Value::is_string) => {
            let Ok(message) = serde_json::from_value::<Message>(value.clone()) else {
                return;
            };
            if let Some(result) = message.tool_result() {
                found.tools.push(result.clone());
            } else if message.is_assistant() {
                found.models.push(message);
            }
        }
        Value::Object(object) => object.values().for_each(|value| collect(value, found)),
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}
