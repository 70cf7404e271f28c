//! The commands of the protocol.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::graph::StateQuery;
use crate::guard::Access;
use crate::rows::Thread;
use crate::runs::{RunRequest, accept};
use crate::spec::RunCommand;
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

/// Reads a request for a run whose events are streamed by the protocol.
fn request(mut params: Value) -> Result<RunRequest, Refused> {
    for (name, value) in streaming() {
        params[name] = value;
    }
    serde_json::from_value(params)
        .map_err(|error| Refused::new("invalid_argument", error.to_string()))
}

/// Starts a run; the thread is created if there is none.
async fn run(app: &Access, thread: &str, request: RunRequest) -> Result<Value, Refused> {
    let run = accept(app, Some(thread), request).await?;
    Ok(json!({"run_id": run.row.run_id}))
}

async fn start(app: &Access, thread: &str, params: &Value) -> Result<Value, Refused> {
    if !params["assistant_id"].is_string() {
        return Err(Refused::new("invalid_argument", "assistant_id is missing"));
    }
    let mut request = request(params.clone())?;
    if request.has_input() {
        request.answers = interrupts_to_answer(app, thread, request.starts_at()?).await?;
    }
    if !request.answers.is_empty() {
        // The `RemoteGraph` of Python resumes so.
        request.command = Some(RunCommand::resume(request.input.take()));
    }
    run(app, thread, request).await
}

/// Returns the ids of the interrupts that an input at that checkpoint answers: those for whose answers the thread waits.
/// One that only sleeps takes an input, and one at a checkpoint of before begins anew there.
async fn interrupts_to_answer(
    app: &Access,
    thread: &str,
    at: Option<String>,
) -> Result<Vec<String>, Refused> {
    let row = threads::seen(app, thread).await?;
    // The row of a run that ends just now still says that the thread is busy.
    let row = row.filter(|row| matches!(&*row.status, "busy" | "interrupted"));
    let Some(row) = row else {
        return Ok(Vec::new());
    };
    let (head, open) = open_interrupts(app, &row).await?;
    if at.is_some_and(|at| head != at) {
        return Ok(Vec::new());
    }
    let for_people = open.iter().filter(|interrupt| asks(&interrupt["value"]));
    let ids = for_people.filter_map(|interrupt| interrupt["id"].as_str());
    Ok(ids.map(str::to_owned).collect())
}

/// Returns the newest checkpoint of a thread, and its open interrupts.
async fn open_interrupts(app: &Access, row: &Thread) -> Result<(Value, Vec<Value>), Refused> {
    let graph = app.graph_of_thread(&row.metadata)?;
    let graph = graph.ok_or_else(|| Refused::new("no_such_run", "Nothing has run here."))?;
    let state = graph.state(&row.thread_id, &StateQuery::default()).await;
    let mut state = state.map_err(ApiError::from)?.unwrap_or_default();
    let open = match state["interrupts"].take() {
        Value::Array(open) => open,
        _ => Vec::new(),
    };
    Ok((state["checkpoint"]["checkpoint_id"].take(), open))
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
    let (_, open) = open_interrupts(app, &row).await?;
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
    let params = json!({
        "assistant_id": assistant.assistant_id,
        "command": {
            "resume": answers, "update": params["update"], "goto": params["goto"],
        },
        "config": params["config"], "metadata": params["metadata"],
    });
    run(app, thread, request(params)?).await
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
