//! The commands of the protocol.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::guard::Access;
use crate::rows::Thread;
use crate::runs::{RunRequest, accept};
use crate::threads;
use crate::wire::sleep::asks;

/// A command, as it comes.
#[derive(Debug, Deserialize)]
pub(crate) struct Command {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Value,
}

/// Why a command does nothing.
struct Refused {
    code: &'static str,
    message: String,
}

impl Refused {
    fn new(code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        let code = match error.status().as_u16() {
            401 | 403 => "permission_denied",
            404 | 422 => "invalid_argument",
            _ => "unknown_error",
        };
        Self::new(code, error.detail())
    }
}

/// The stream modes of which the protocol's events are made.
const MODES: [&str; 6] = [
    "values",
    "updates",
    "messages-tuple",
    "custom",
    "tasks",
    "checkpoints",
];

/// Carries out a command, and returns the answer.
pub(crate) async fn command(app: &Access, thread: &str, command: Command) -> Value {
    let done = match &*command.method {
        "run.start" => start(app, thread, &command.params).await,
        "input.respond" => respond(app, thread, &command.params).await,
        "agent.getTree" => tree(app, thread).await,
        "subscription.subscribe" | "subscription.unsubscribe" | "subscription.reconnect" => {
            let message = "subscriptions need a WebSocket; open a stream of events instead";
            Err(Refused::new("not_supported", message))
        }
        other => {
            let message = format!("Unknown protocol command: {other}");
            Err(Refused::new("unknown_command", message))
        }
    };
    match done {
        Ok(result) => json!({
            "type": "success", "id": command.id, "result": result,
            "meta": {"applied_through_seq": 0},
        }),
        Err(Refused { code, message }) => json!({
            "type": "error", "id": command.id, "error": code, "message": message,
        }),
    }
}

/// Starts a run; the thread is created if there is none. An answer that names no interrupt is for these.
async fn run(
    app: &Access,
    thread: &str,
    request: Value,
    answers: Vec<String>,
) -> Result<Value, Refused> {
    let mut request: RunRequest = serde_json::from_value(request)
        .map_err(|error| Refused::new("invalid_argument", error.to_string()))?;
    request.answers = answers;
    let run = accept(app, Some(thread), request).await?;
    Ok(json!({"run_id": run.row.run_id}))
}

async fn start(app: &Access, thread: &str, params: &Value) -> Result<Value, Refused> {
    if !params["assistant_id"].is_string() {
        return Err(Refused::new("invalid_argument", "assistant_id is missing"));
    }
    let mut request = params.clone();
    let mut answers = Vec::new();
    if !params["input"].is_null() {
        answers = asking(app, thread).await?;
    }
    if !answers.is_empty() {
        // The `RemoteGraph` of Python resumes so.
        request["command"] = json!({"resume": request["input"].take()});
    }
    for (name, value) in streaming() {
        request[name] = value;
    }
    run(app, thread, request, answers).await
}

/// Returns the ids of the interrupts for whose answers the thread waits. One that only sleeps takes an input.
async fn asking(app: &Access, thread: &str) -> Result<Vec<String>, Refused> {
    let row = threads::seen(app, thread).await?;
    // The row of a run that ends just now still says that the thread is busy.
    let row = row.filter(|row| matches!(&*row.status, "busy" | "interrupted"));
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let open = open_interrupts(app, &row).await?;
    let asking = open.iter().filter(|interrupt| asks(&interrupt["value"]));
    let ids = asking.filter_map(|interrupt| interrupt["id"].as_str());
    Ok(ids.map(str::to_owned).collect())
}

/// Returns the open interrupts of a thread.
async fn open_interrupts(app: &Access, row: &Thread) -> Result<Vec<Value>, Refused> {
    let graph = app.graph_of_thread(&row.metadata)?;
    let graph = graph.ok_or_else(|| Refused::new("no_such_run", "Nothing has run here."))?;
    let state = graph.state(&row.thread_id, None, false).await;
    let mut state = state.map_err(ApiError::from)?.unwrap_or_default();
    Ok(match state["interrupts"].take() {
        Value::Array(open) => open,
        _ => Vec::new(),
    })
}

/// The options of a run whose events are streamed by the protocol.
fn streaming() -> [(&'static str, Value); 4] {
    [
        ("if_not_exists", json!("create")),
        ("stream_mode", json!(MODES)),
        ("stream_subgraphs", json!(true)),
        ("stream_resumable", json!(true)),
    ]
}

/// Answers questions of the thread.
async fn respond(app: &Access, thread: &str, params: &Value) -> Result<Value, Refused> {
    let row = threads::find(app, thread).await?;
    let open = open_interrupts(app, &row).await?;
    let one = [params.clone()];
    let given = params["responses"]
        .as_array()
        .map_or(&one[..], Vec::as_slice);
    let mut answers = json!({});
    for answer in given {
        let id = answer["interrupt_id"].as_str().unwrap_or_default();
        if !open.iter().any(|open| open["id"] == id) {
            let message = format!("Unknown or already-consumed interrupt: {id}");
            return Err(Refused::new("no_such_interrupt", message));
        }
        answers[id] = answer["response"].clone();
    }
    let assistant = app.assistant_of_thread(&row.metadata).await?;
    let mut request = json!({
        "assistant_id": assistant.assistant_id,
        "command": {
            "resume": answers, "update": params["update"], "goto": params["goto"],
        },
        "config": params["config"], "metadata": params["metadata"],
    });
    for (name, value) in streaming() {
        request[name] = value;
    }
    run(app, thread, request, Vec::new()).await
}

/// Returns what runs on the thread.
async fn tree(app: &Access, thread: &str) -> Result<Value, Refused> {
    let row = threads::find(app, thread).await?;
    if row.status != "busy" {
        let message = "No active run is bound to this thread.";
        return Err(Refused::new("no_such_run", message));
    }
    let graph = &row.metadata["graph_id"];
    Ok(json!({"tree": {"namespace": [], "status": "running", "graph_name": graph}}))
}
