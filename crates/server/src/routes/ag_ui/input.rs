//! What a client of AG-UI sends.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::rows::Thread;
use crate::runs::{IfNotExists, Modes, OnDisconnect, RunRequest};
use crate::spec::{Mode, RunCommand};
use crate::threads::{is_at_breakpoint, is_waiting, refuse_asleep, seen};
use crate::wire::ag_ui::{breakpoint_id, message_in};
use crate::wire::sleep::asks;

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

/// The status of an answer of a user who does not want to answer.
const CANCELLED: &str = "cancelled";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resume {
    interrupt_id: String,
    status: String,
    #[serde(default)]
    payload: Value,
}

/// What a client asks for.
pub(super) enum Intent {
    Run(Box<RunRequest>),
    /// The run that has paused at a breakpoint does not go on. Another one begins anew if there are new messages.
    GiveUp {
        run: String,
        then: Option<Box<RunRequest>>,
    },
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

    /// Returns what is asked for. `state` is where the thread stands.
    pub(super) fn intent(
        &self,
        assistant: &str,
        thread: Option<&Thread>,
        state: &Value,
    ) -> ApiResult<Intent> {
        thread.map_or(Ok(()), refuse_asleep)?;
        let paused = thread.filter(|thread| is_at_breakpoint(thread));
        let paused_by = paused.and_then(|thread| thread.left_by.as_deref());
        let breakpoint = paused_by.map(breakpoint_id);
        let waits = thread.is_some_and(is_waiting);
        let interrupts = state["interrupts"].as_array().filter(|_| waits);
        let asking = interrupts.into_iter().flatten();
        let asking = asking.filter(|interrupt| asks(&interrupt["value"]));
        let ids = asking.filter_map(|interrupt| interrupt["id"].as_str());
        let open: Vec<&str> = ids.chain(breakpoint.as_deref()).collect();
        let answers = self.resume.as_deref().unwrap_or_default();
        let given = resume(answers, &open, state)?;
        let mut request = self.request(assistant);
        let values = &state["values"];
        match (paused, given) {
            (Some(_), _) if answers.iter().any(Resume::is_cancelled) => {
                request.input = self.input(values);
                let then = request.input.get("messages").is_some();
                return Ok(Intent::GiveUp {
                    run: paused_by.unwrap_or_default().to_owned(),
                    then: then.then(|| Box::new(request)),
                });
            }
            (Some(_), _) => request.command = self.update(values).map(RunCommand::update),
            (None, Some(given)) => request.command = Some(RunCommand::resume(given)),
            (None, None) if waits => {
                return Err(ApiError::conflict(
                    "the thread waits for answers: resume its interrupts before a new input",
                ));
            }
            (None, None) => request.input = self.input(values),
        }
        Ok(Intent::Run(Box::new(request)))
    }

    /// Returns a run without an input.
    fn request(&self, assistant: &str) -> RunRequest {
        let configurable = json!({"ag_ui": {
            "tools": self.tools, "context": self.context,
            "forwarded_props": self.forwarded_props,
        }});
        RunRequest {
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
        }
    }

    /// Returns what changes the state of a run that goes on: fields, and results of tools. Another message would stand
    /// between the tool calls that were paused and their results.
    fn update(&self, values: &Value) -> Option<Value> {
        let mut update = self.input(values);
        if let Value::Object(fields) = &mut update
            && let Some(Value::Array(messages)) = fields.get_mut("messages")
        {
            messages.retain(|message| message["type"] == "tool");
            if messages.is_empty() {
                fields.remove("messages");
            }
        }
        Some(update).filter(|update| *update != json!({}))
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

impl Resume {
    fn is_cancelled(&self) -> bool {
        self.status == CANCELLED
    }
}

/// Returns the answers by interrupt; `None` if there are none. All that are open are answered at once.
fn resume(answers: &[Resume], open: &[&str], state: &Value) -> ApiResult<Option<Value>> {
    if answers.is_empty() {
        return Ok(None);
    }
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
            CANCELLED => cancelled(&answer.interrupt_id, state),
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
    Ok(Some(Value::Object(given)))
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
