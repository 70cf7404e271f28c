//! What a client of AG-UI sends.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::runs::{IfNotExists, Modes, OnDisconnect, RunRequest};
use crate::spec::{Mode, RunCommand};
use crate::threads::seen;
use crate::wire::ag_ui::message_in;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::routes) struct RunAgentInput {
    pub(super) thread_id: String,
    pub(super) run_id: String,
    #[serde(default)]
    state: Value,
    #[serde(default)]
    messages: Vec<Value>,
    #[serde(default)]
    tools: Value,
    #[serde(default)]
    context: Value,
    #[serde(default)]
    forwarded_props: Value,
    resume: Option<Vec<Resume>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resume {
    interrupt_id: String,
    status: String,
    #[serde(default)]
    payload: Value,
}

impl RunAgentInput {
    /// Returns the id of the thread here. One that is no UUID becomes one, for each owner another.
    pub(super) async fn thread(&self, app: &Access) -> ApiResult<String> {
        if let Ok(id) = self.thread_id.parse::<Uuid>() {
            return Ok(id.to_string());
        }
        let owner = app.owner();
        // The id of a thread that an earlier version has made.
        let named = format!("ag-ui:{owner}:{}", self.thread_id);
        let before = Uuid::new_v5(&Uuid::NAMESPACE_URL, named.as_bytes()).to_string();
        Ok(match seen(app, &before).await? {
            Some(_) => before,
            None => app.derived_id("ag-ui", owner, &self.thread_id).to_string(),
        })
    }

    /// Returns the run that is asked for. `state` is where the thread stands.
    pub(super) fn request(&self, assistant: &str, state: &Value) -> ApiResult<RunRequest> {
        let open: Vec<&str> = state["interrupts"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|interrupt| interrupt["id"].as_str())
            .collect();
        let configurable = json!({"ag_ui": {
            "tools": self.tools, "context": self.context,
            "forwarded_props": self.forwarded_props,
        }});
        let mut request = RunRequest {
            assistant_id: assistant.to_owned(),
            if_not_exists: Some(IfNotExists::Create),
            stream_mode: Some(Modes(vec![
                Mode::Values,
                Mode::MessagesTuple,
                Mode::Tasks,
                Mode::Custom,
            ])),
            stream_subgraphs: true,
            on_disconnect: Some(OnDisconnect::Cancel),
            config: Some(Map::from_iter([("configurable".to_owned(), configurable)])),
            ..RunRequest::default()
        };
        match &self.resume {
            Some(answers) if !answers.is_empty() => {
                let answers = resume(answers, &open, state)?;
                request.command = Some(RunCommand::resume(answers));
            }
            _ if !open.is_empty() => {
                return Err(ApiError::conflict(
                    "the thread waits for answers: resume its interrupts before a new input",
                ));
            }
            _ => request.input = self.input(&state["values"]),
        }
        Ok(request)
    }

    /// Returns what the thread does not have yet: new messages, and changed fields of the state.
    fn input(&self, values: &Value) -> Value {
        let known: Vec<&Value> = values["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|message| &message["id"])
            .collect();
        let fresh = self.messages.iter().filter(|message| {
            let id = &message["id"];
            id.is_null() || !known.contains(&id)
        });
        let fresh: Vec<Value> = fresh.filter_map(message_in).collect();
        let changed = self.state.as_object().into_iter().flatten();
        let changed = changed.filter(|(key, value)| *key != "messages" && values[key] != **value);
        let mut input: Map<String, Value> = changed
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if !fresh.is_empty() {
            input.insert("messages".to_owned(), Value::Array(fresh));
        }
        Value::Object(input)
    }
}

/// Returns the answers by interrupt. All that are open are answered at once.
fn resume(answers: &[Resume], open: &[&str], state: &Value) -> ApiResult<Value> {
    let mut given = Map::new();
    for answer in answers {
        if !open.contains(&answer.interrupt_id.as_str()) {
            let id = &answer.interrupt_id;
            return Err(ApiError::invalid(format!(
                "no open interrupt has the id `{id}`"
            )));
        }
        let value = match answer.status.as_str() {
            "resolved" => answer.payload.clone(),
            "cancelled" => cancelled(&answer.interrupt_id, state),
            other => {
                return Err(ApiError::invalid(format!(
                    "the status of an answer is `resolved` or `cancelled`, found `{other}`"
                )));
            }
        };
        given.insert(answer.interrupt_id.clone(), value);
    }
    if given.len() < open.len() {
        return Err(ApiError::invalid(format!(
            "{} interrupts are open: answer all of them at once",
            open.len()
        )));
    }
    Ok(Value::Object(given))
}

/// Returns the answer to an interrupt that the user has cancelled: an approval is refused.
fn cancelled(id: &str, state: &Value) -> Value {
    let interrupts = state["interrupts"].as_array();
    let mut open = interrupts.into_iter().flatten();
    let interrupt = open.find(|interrupt| interrupt["id"] == id);
    match interrupt {
        Some(interrupt) if interrupt["value"]["type"] == "tool_approval" => {
            json!({"type": "reject"})
        }
        _ => Value::Null,
    }
}
