//! The request for a run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{CheckpointId, Durability};
use langgraph::graph::NodeName;
use langgraph::node::CancelToken;
use langgraph::stream::{StreamMode, StreamModes};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::RunContext;
use crate::error::{ApiError, ApiResult};
use crate::graph::{Breaks, InnerCheckpoint, RunSpec, Start};
use crate::guard::{Access, Limits, User};
use crate::rows::{Assistant, Run, merge};
use crate::wire::time::now;

/// The longest delay of a run.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

pub(crate) const MODES: [&str; 8] = [
    "values",
    "updates",
    "messages",
    "messages-tuple",
    "custom",
    "tasks",
    "checkpoints",
    "debug",
];

/// The body of a request for a run. What is not here is refused, or belongs to tracing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunRequest {
    pub(crate) assistant_id: String,
    pub(crate) input: Option<Value>,
    pub(crate) command: Option<Value>,
    pub(crate) checkpoint: Option<Value>,
    pub(crate) checkpoint_id: Option<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) config: Option<Value>,
    pub(crate) context: Option<Value>,
    pub(crate) interrupt_before: Option<Value>,
    pub(crate) interrupt_after: Option<Value>,
    pub(crate) stream_mode: Option<Value>,
    pub(crate) stream_subgraphs: bool,
    pub(crate) stream_resumable: bool,
    pub(crate) strict_resume: bool,
    pub(crate) on_disconnect: Option<String>,
    pub(crate) on_completion: Option<String>,
    pub(crate) multitask_strategy: Option<String>,
    pub(crate) if_not_exists: Option<String>,
    pub(crate) durability: Option<String>,
    pub(crate) checkpoint_during: Option<bool>,
    pub(crate) webhook: Option<String>,
    pub(crate) after_seconds: Option<f64>,
    /// Runs with a higher priority start first.
    pub(crate) priority: Option<i64>,
    /// One run of those with the same key runs at a time.
    pub(crate) concurrency_key: Option<String>,
}

/// A request that was understood: a row, and how it is put in the queue.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) row: Run,
    pub(crate) priority: i64,
    pub(crate) concurrency_key: Option<String>,
    pub(crate) delay: Option<Duration>,
    pub(crate) cancel_on_disconnect: bool,
    /// A run without a thread: the thread is removed at its end.
    pub(crate) temporary: bool,
}

/// What the graph of a run is told.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) run: RunSpec,
    pub(crate) graph: String,
    pub(crate) modes: Vec<String>,
}

/// Refuses a word that is none of those allowed.
pub(crate) fn one_of(
    name: &str,
    value: Option<&str>,
    allowed: &[&str],
) -> ApiResult<Option<String>> {
    match value {
        Some(value) if !allowed.contains(&value) => Err(ApiError::invalid(format!(
            "{name} is one of {}, found '{value}'",
            allowed.join(", ")
        ))),
        value => Ok(value.map(str::to_owned)),
    }
}

/// Reads a checkpoint's id.
pub(crate) fn checkpoint_id(text: &str) -> ApiResult<CheckpointId> {
    text.parse()
        .map_err(|_| ApiError::invalid(format!("Invalid checkpoint ID '{text}': must be a UUID")))
}

/// Returns the namespace of a checkpoint of a subgraph.
fn namespace(checkpoint: &Value) -> Option<&str> {
    let namespace = checkpoint["checkpoint_ns"].as_str();
    namespace.filter(|namespace| !namespace.is_empty())
}

/// Returns the checkpoint of a subgraph, if it is one.
fn inner_checkpoint(checkpoint: &Value) -> ApiResult<Option<InnerCheckpoint>> {
    let Some(namespace) = namespace(checkpoint) else {
        return Ok(None);
    };
    let id = checkpoint["checkpoint_id"].as_str().unwrap_or_default();
    let root = checkpoint["checkpoint_map"][""].as_str();
    let root = root.map(checkpoint_id).transpose()?;
    let inner = InnerCheckpoint::new(namespace, checkpoint_id(id)?, root);
    let wrong = || ApiError::invalid("checkpoint_ns is `node:task`, or several of these and `|`");
    inner.map(Some).ok_or_else(wrong)
}

/// Returns the id in a checkpoint of the interface, if it names one. The root graph's only.
pub(crate) fn checkpoint_in(checkpoint: Option<&Value>) -> ApiResult<Option<CheckpointId>> {
    let Some(checkpoint) = checkpoint else {
        return Ok(None);
    };
    if namespace(checkpoint).is_some() {
        return Err(ApiError::invalid(
            "a checkpoint of a subgraph (`checkpoint_ns`) is the start of a run only",
        ));
    }
    let id = checkpoint["checkpoint_id"].as_str();
    id.map(checkpoint_id).transpose()
}

fn breaks(given: Option<&Value>) -> ApiResult<Option<Breaks>> {
    match given {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(all)) if all == "*" => Ok(Some(Breaks::All)),
        Some(given) => {
            let names: Vec<String> = serde_json::from_value(given.clone())?;
            let names = names.into_iter().map(NodeName::from).collect();
            Ok(Some(Breaks::Nodes(names)))
        }
    }
}

/// Reads the stream modes: one, or a list.
pub(crate) fn modes(given: Option<&Value>) -> ApiResult<Vec<String>> {
    let listed: Vec<String> = match given {
        None | Some(Value::Null) => vec!["values".to_owned()],
        Some(Value::String(one)) => vec![one.clone()],
        Some(several) => serde_json::from_value(several.clone())?,
    };
    match listed.iter().find(|mode| !MODES.contains(&mode.as_str())) {
        Some(mode) => Err(ApiError::invalid(format!(
            "stream_mode is one of {}, found '{mode}'",
            MODES.join(", ")
        ))),
        None => Ok(listed),
    }
}

fn engine_modes(modes: &[String], subgraphs: bool) -> StreamModes {
    let mut set = StreamModes::NONE;
    for mode in modes {
        set |= match mode.as_str() {
            "values" => StreamModes::from(StreamMode::Values),
            "updates" => StreamMode::Updates.into(),
            "custom" => StreamMode::Custom.into(),
            "tasks" => StreamMode::Tasks.into(),
            "checkpoints" => StreamMode::Checkpoints.into(),
            "debug" => StreamModes::DEBUG,
            _ => StreamMode::Messages.into(),
        };
    }
    if subgraphs || modes.iter().any(|mode| mode.starts_with("messages")) {
        // Namespaces, and the metadata of messages, hold the ids of tasks.
        set |= StreamModes::from(StreamMode::Tasks);
    }
    set
}

/// Reads the input or the command of a run.
fn start(kwargs: &Value) -> (Start, Option<Value>, Option<Value>) {
    let command = &kwargs["command"];
    let part = |name: &str| command.get(name).filter(|part| !part.is_null()).cloned();
    let (update, goto) = (part("update").map(pairs), part("goto"));
    let start = match (part("resume"), &kwargs["input"]) {
        (Some(answer), _) => Start::Resume(answer),
        (None, input) if !input.is_null() && command.is_null() => Start::Input(input.clone()),
        _ => Start::Proceed,
    };
    (start, update, goto)
}

/// An update may be a list of `[name, value]`.
fn pairs(update: Value) -> Value {
    let Value::Array(pairs) = &update else {
        return update;
    };
    let named: Option<serde_json::Map<String, Value>> = pairs
        .iter()
        .map(|pair| Some((pair[0].as_str()?.to_owned(), pair.get(1)?.clone())))
        .collect();
    named.map_or(update, Value::Object)
}

/// The words of a request that have a fixed set of values.
struct Choices {
    strategy: String,
    cancel_on_disconnect: bool,
    keep: bool,
    durability: Option<String>,
    delay: Option<Duration>,
}

fn choices(request: &RunRequest) -> ApiResult<Choices> {
    let strategy = one_of(
        "multitask_strategy",
        request.multitask_strategy.as_deref(),
        &["reject", "enqueue", "interrupt", "rollback"],
    )?;
    let disconnect = one_of(
        "on_disconnect",
        request.on_disconnect.as_deref(),
        &["cancel", "continue"],
    )?;
    let completion = one_of(
        "on_completion",
        request.on_completion.as_deref(),
        &["delete", "keep"],
    )?;
    one_of(
        "if_not_exists",
        request.if_not_exists.as_deref(),
        &["create", "reject"],
    )?;
    let durability = one_of(
        "durability",
        request.durability.as_deref(),
        &["sync", "async", "exit"],
    )?;
    let delay = request.after_seconds.filter(|seconds| *seconds > 0.0);
    let delay = delay.map(Duration::try_from_secs_f64).transpose();
    let delay = delay.map_err(|error| ApiError::invalid(format!("after_seconds: {error}")))?;
    if delay.is_some_and(|delay| delay > LONGEST) {
        return Err(ApiError::invalid("after_seconds is at most 10 years"));
    }
    let key = request.concurrency_key.as_deref().unwrap_or_default();
    if key.len() > 1024 || key.contains('\0') {
        return Err(ApiError::invalid(
            "concurrency_key has at most 1,024 bytes, and no character NUL",
        ));
    }
    Ok(Choices {
        strategy: strategy.unwrap_or_else(|| "enqueue".to_owned()),
        cancel_on_disconnect: disconnect.as_deref() == Some("cancel"),
        keep: completion.as_deref() == Some("keep"),
        durability: match (durability, request.checkpoint_during) {
            (None, Some(false)) => Some("exit".to_owned()),
            (durability, _) => durability,
        },
        delay,
    })
}

/// What the assistant and the request say together.
struct Merged {
    config: Value,
    context: Value,
    metadata: Value,
}

impl Merged {
    fn of(assistant: &Assistant, request: &RunRequest) -> Self {
        let given = |value: &Option<Value>| value.clone().unwrap_or_default();
        let config_given = given(&request.config);
        let mut config = assistant.config.clone();
        let mut configurable = config["configurable"].clone();
        merge(&mut configurable, &config_given["configurable"]);
        merge(&mut config, &config_given);
        merge(&mut config, &json!({"configurable": configurable}));
        let mut context = assistant.context.clone();
        merge(&mut context, &given(&request.context));
        let mut metadata = assistant.metadata.clone();
        merge(&mut metadata, &config["metadata"]);
        merge(&mut metadata, &given(&request.metadata));
        let own = json!({
            "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
        });
        merge(&mut metadata, &own);
        Self {
            config,
            context,
            metadata,
        }
    }
}

/// Checks a request, and makes the run of it. `thread` is `None` for a run without one.
pub(crate) async fn plan(
    app: &Access,
    thread: Option<&str>,
    request: RunRequest,
) -> ApiResult<(Planned, Assistant)> {
    let assistant = app.assistant(&request.assistant_id).await?;
    let choices = choices(&request)?;
    let modes = modes(request.stream_mode.as_ref())?;
    let configured = request.config.as_ref();
    let configured = configured.map(|config| &config["configurable"]);
    let checkpoint = request.checkpoint.as_ref();
    let mut named = [checkpoint, configured].into_iter().flatten();
    let inner = named.find(|checkpoint| namespace(checkpoint).is_some());
    let at = match (&request.checkpoint_id, inner) {
        (_, Some(_)) => None,
        (Some(id), None) => Some(checkpoint_id(id)?),
        (None, None) => match checkpoint_in(checkpoint)? {
            None => checkpoint_in(configured)?,
            at => at,
        },
    };
    if inner.is_some() && (request.input.is_some() || request.command.is_some()) {
        return Err(ApiError::invalid(
            "a run from the checkpoint of a subgraph goes on there: it takes no input and no command",
        ));
    }
    if let Some(webhook) = &request.webhook {
        app.webhooks.allow(webhook)?;
    }
    let merged = Merged::of(&assistant, &request);
    let run_id = Uuid::now_v7().to_string();
    let thread_id = thread.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
    let temporary = thread.is_none() && !choices.keep;
    let user = app.user().map(|user| {
        json!({
            "identity": user.identity(), "owner": user.owned_by(), "details": user.details,
        })
    });
    let mut kwargs = json!({
        "input": request.input, "command": request.command, "config": merged.config,
        "context": merged.context, "stream_mode": modes,
        "interrupt_before": request.interrupt_before, "interrupt_after": request.interrupt_after,
        "subgraphs": request.stream_subgraphs, "resumable": request.stream_resumable,
        "temporary": temporary, "durability": choices.durability, "webhook": request.webhook,
        "checkpoint_id": at.map(|at| at.to_string()), "user": user, "feedback_keys": null,
    });
    if let Some(inner) = inner {
        kwargs["inner_checkpoint"] = inner.clone();
    }
    if request.strict_resume {
        kwargs["strict_resume"] = json!(true);
    }
    let now = now();
    let row = Run {
        run_id,
        thread_id,
        assistant_id: assistant.assistant_id.clone(),
        metadata: merged.metadata,
        status: "pending".to_owned(),
        kwargs,
        multitask_strategy: choices.strategy,
        created_at: now.clone(),
        updated_at: now,
    };
    // What is wrong is refused now.
    spec(&row, CancelToken::new(), &app.limits)?;
    let planned = Planned {
        priority: request.priority.unwrap_or_default(),
        concurrency_key: request
            .concurrency_key
            .map(|key| format!("{}/{key}", app.owner())),
        delay: choices.delay,
        cancel_on_disconnect: choices.cancel_on_disconnect,
        temporary,
        row,
    };
    Ok((planned, assistant))
}

/// Returns what the graph of a run is told: everything that its row says.
pub(crate) fn spec(row: &Run, cancel: CancelToken, limits: &Limits) -> ApiResult<Spec> {
    let kwargs = &row.kwargs;
    let modes: Vec<String> = serde_json::from_value(kwargs["stream_mode"].clone())?;
    let subgraphs = kwargs["subgraphs"] == json!(true);
    let config = &kwargs["config"];
    let configurable = config["configurable"].clone();
    let number = |name: &str| {
        let given = config[name].as_u64();
        given.and_then(|number| usize::try_from(number).ok())
    };
    let mut metadata = row.metadata.clone();
    merge(&mut metadata, &configurable);
    let own = json!({"run_id": row.run_id, "thread_id": row.thread_id});
    merge(&mut metadata, &own);
    let user = &kwargs["user"];
    let user = user["identity"].as_str().map(|identity| {
        let known = User::new(identity).details(user["details"].clone());
        known.owner(user["owner"].as_str().unwrap_or(identity))
    });
    let (start, update, goto) = start(kwargs);
    let run = RunSpec {
        thread: row.thread_id.clone(),
        start,
        strict: kwargs["strict_resume"] == json!(true),
        update,
        goto,
        at: kwargs["checkpoint_id"]
            .as_str()
            .map(checkpoint_id)
            .transpose()?,
        inner: inner_checkpoint(&kwargs["inner_checkpoint"])?,
        metadata: match metadata {
            Value::Object(entries) => entries.into_iter().collect(),
            _ => BTreeMap::new(),
        },
        limit: number("recursion_limit"),
        max_concurrency: number("max_concurrency"),
        context: Arc::new(RunContext {
            context: kwargs["context"].clone(),
            configurable,
            user,
        }),
        timeout: limits.run_time,
        durability: match kwargs["durability"].as_str() {
            Some("async") => Some(Durability::Async),
            Some("exit") => Some(Durability::Exit),
            Some(_) => Some(Durability::Sync),
            None => None,
        },
        before: breaks(Some(&kwargs["interrupt_before"]))?,
        after: breaks(Some(&kwargs["interrupt_after"]))?,
        cancel,
        modes: engine_modes(&modes, subgraphs),
        subgraphs,
    };
    let graph = row.metadata["graph_id"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    Ok(Spec { run, graph, modes })
}
