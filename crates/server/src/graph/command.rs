//! The commands of a request.

use langgraph::State;
use langgraph::error::AgentError;
use langgraph::node::{Command, Send};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::json::update_in;

/// Returns the update and the targets of a request as a command, or `None` if it has neither.
pub(super) fn command<S>(
    initial: Option<&S>,
    update: Option<Value>,
    goto: Option<Value>,
) -> Result<Option<Command<S>>, AgentError>
where
    S: State,
    S::Update: serde::Serialize + DeserializeOwned,
{
    let mut command: Option<Command<S>> = None;
    if let Some(update) = update {
        command = Some(Command::update(update_in::<S>(update)?));
    }
    for target in listed(goto) {
        let so_far = command.take();
        let next = match target {
            Value::String(node) => match so_far {
                Some(command) => command.and_goto(node),
                None => Command::goto(node),
            },
            Value::Object(send) if send.get("node").is_some_and(Value::is_string) => {
                let node = send.get("node").and_then(Value::as_str).unwrap_or_default();
                let given = send.get("input").cloned().unwrap_or_default();
                let state = initial.cloned().ok_or_else(|| {
                    invalid("`goto` with an input needs a thread that has a state already")
                })?;
                let state = state
                    .merge(update_in::<S>(given)?)
                    .map_err(|error| invalid(error.to_string()))?;
                let send = Send::state(node, state);
                match so_far {
                    Some(command) => command.and_goto(send),
                    None => Command::goto(send),
                }
            }
            other => {
                return Err(invalid(format!(
                    "`goto` takes names of nodes, or objects with `node` and `input`, found {other}"
                )));
            }
        };
        command = Some(next);
    }
    Ok(command)
}

fn listed(goto: Option<Value>) -> Vec<Value> {
    match goto {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(targets)) => targets,
        Some(target) => vec![target],
    }
}

pub(super) fn invalid(text: impl Into<String>) -> AgentError {
    AgentError::InvalidInput(text.into())
}
