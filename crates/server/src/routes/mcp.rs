//! Assistants as tools of an MCP server, without sessions: a call is a run without a thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::json_rpc::{RpcCall, RpcFailure, read, response};
use super::runs::{held, permit};
use super::waiting::{Shown, result_as};
use crate::encode::a2a::last_text;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::rows::{Assistant, AssistantOrder, AssistantsOf, Listing};
use crate::runs::{Disconnect, OnDisconnect, RunRequest, accept};
use crate::stream::EndStatus;
use crate::wire::sleep::{all_sleep_until, sleeps};

/// The versions of the protocol that a client may ask for, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

pub(super) async fn call(app: Access, body: Bytes) -> Response {
    let call = match read(&body) {
        Ok(call) => call,
        Err(failure) => {
            let refused = Json(response(&Value::Null, Err(failure)));
            return (StatusCode::BAD_REQUEST, refused).into_response();
        }
    };
    // Notifications, and answers to requests that this server does not send.
    let Some(id) = call.id.clone().filter(|_| !call.method.is_empty()) else {
        return StatusCode::ACCEPTED.into_response();
    };
    if call.method == "tools/call" {
        return match call_tool(&app, &id, &call.params).await {
            Ok(response) => response,
            Err(failure) => Json(response(&id, Err(failure))).into_response(),
        };
    }
    Json(response(&id, answer(&app, &call).await)).into_response()
}

/// There are no messages outside of answers.
pub(super) async fn listen(_: Access) -> ApiError {
    ApiError::not_allowed()
}

/// There are no sessions.
pub(super) async fn end(_: Access) -> ApiError {
    ApiError::not_found("Session not found")
}

async fn answer(app: &Access, call: &RpcCall) -> Result<Value, RpcFailure> {
    match &*call.method {
        "initialize" => {
            let wanted = call.params["protocolVersion"].as_str();
            let known = VERSIONS.into_iter().find(|known| Some(*known) == wanted);
            Ok(json!({
                "protocolVersion": known.unwrap_or(VERSIONS[0]),
                "capabilities": {"tools": {"listChanged": false}},
                "serverInfo": {"name": "langgraph", "version": env!("CARGO_PKG_VERSION")},
            }))
        }
        "ping" => Ok(json!({})),
        "tools/list" => {
            let tools = tools(app).await?;
            let listed: ApiResult<Vec<Value>> = tools
                .iter()
                .map(|(name, assistant)| described(app, name, assistant))
                .collect();
            Ok(json!({"tools": listed?}))
        }
        other => Err(RpcFailure::unknown_method(other)),
    }
}

/// Returns the assistants that the user may use, by names that are those of tools.
async fn tools(app: &Access) -> ApiResult<BTreeMap<String, Assistant>> {
    let mut tools: BTreeMap<String, Assistant> = BTreeMap::new();
    let graphs: Vec<&str> = app.graphs.keys().map(String::as_str).collect();
    let listed = Listing {
        owner: app.filter(),
        of: AssistantsOf { graphs: &graphs },
        by: AssistantOrder::Created,
        ascending: true,
        offset: 0,
        limit: usize::MAX,
    };
    let shown = |assistant: &Assistant| app.shows(assistant);
    let mut assistants = app.rows.wanted(listed, None, shown).await?.page;
    // Names of graphs that are those of tools stay as they are, whatever was created first.
    assistants.sort_by_key(|assistant| {
        let of_graph = assistant.owner.is_empty();
        !(of_graph && assistant.graph_id.chars().all(fits))
    });
    for assistant in assistants {
        let of_graph = assistant.owner.is_empty();
        let named = if of_graph {
            &assistant.graph_id
        } else {
            &assistant.name
        };
        let name = tool_name(named, &assistant.assistant_id, |name| {
            tools.contains_key(name)
        });
        tools.insert(name, assistant);
    }
    Ok(tools)
}

/// Returns true for what the name of a tool may have.
fn fits(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// Returns the name as that of a tool; with a part of the id, if another tool has it.
fn tool_name(named: &str, id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    const LONGEST: usize = 64;
    let letters = named.chars();
    let letters = letters.map(|letter| if fits(letter) { letter } else { '_' });
    let name: String = letters.take(LONGEST).collect();
    let first = id.split('-').next().unwrap_or_default();
    let with = |id: &str| {
        let short = name
            .get(..LONGEST.saturating_sub(id.len() + 1))
            .unwrap_or(&name);
        format!("{short}_{id}")
    };
    let names = [name.clone(), with(first), with(id)];
    let free = names.iter().find(|name| !is_taken(name));
    free.cloned().unwrap_or_else(|| id.to_owned())
}

fn described(app: &Access, name: &str, assistant: &Assistant) -> ApiResult<Value> {
    let graph = app.graph(&assistant.graph_id)?;
    let description = assistant
        .description
        .clone()
        .unwrap_or_else(|| format!("Runs the graph `{}`.", assistant.graph_id));
    Ok(json!({
        "name": name, "description": description, "inputSchema": graph.schemas().input,
    }))
}

async fn call_tool(app: &Access, id: &Value, params: &Value) -> Result<Response, RpcFailure> {
    let name = params["name"].as_str().unwrap_or_default();
    let tools = tools(app).await?;
    let assistant = tools
        .get(name)
        .ok_or_else(|| RpcFailure::invalid_params(format!("unknown tool `{name}`")))?;
    let request = RunRequest {
        assistant_id: assistant.assistant_id.clone(),
        input: match &params["arguments"] {
            Value::Null => json!({}),
            arguments => arguments.clone(),
        },
        on_disconnect: Some(OnDisconnect::Cancel),
        ..RunRequest::default()
    };
    let permit = permit(app)?;
    let run = accept(app, None, request).await?;
    let guard = Disconnect::new(app, &run.row.run_id, run.cancel_on_disconnect);
    // The run has no thread that the client could read, and the call no session.
    let guard = guard.without_return();
    // Its events are not read: the run must not wait for them.
    drop(run.events);
    let (id, feed) = (id.clone(), Arc::clone(&run.feed));
    let shown: Shown =
        Box::new(move |result| response(&id, Ok(tool_result(&result, feed.end_status()))));
    let response = result_as(run.feed, guard, HeaderMap::new(), shown).await;
    Ok(held(permit, response))
}

/// Returns what a tool answers: the last message of the assistant, or all values.
fn tool_result(values: &Value, end: Option<EndStatus>) -> Value {
    let said = |text: String| json!([{"type": "text", "text": text}]);
    if let Some(error) = values.get("__error__") {
        let message = error["message"].as_str().unwrap_or("the run failed");
        return json!({"content": said(message.to_owned()), "isError": true});
    }
    let open = values["__interrupt__"].as_array().into_iter().flatten();
    if let Some(until) = all_sleep_until(open.map(|open| &open["value"])) {
        let message = format!("the run {}; a tool cannot wait for it", sleeps(until));
        return json!({"content": said(message), "isError": true});
    }
    if let Some(open) = values.get("__interrupt__") {
        let message = format!("the run waits for an answer, which a tool cannot get: {open}");
        return json!({"content": said(message), "isError": true});
    }
    if end == Some(EndStatus::Interrupted) {
        let message =
            "the run has paused, for an answer or at a breakpoint, and a tool cannot go on with it";
        return json!({"content": said(message.to_owned()), "isError": true});
    }
    let answer = last_text(values).unwrap_or_else(|| values.to_string());
    let mut result = json!({"content": said(answer), "isError": false});
    if values.is_object() {
        result["structuredContent"] = values.clone();
    }
    result
}
