//! The request for a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use langgraph::checkpoint::{CheckpointId, Durability};
use langgraph::graph::NodeName;
use langgraph::node::CancelToken;
use langgraph::stream::{StreamMode, StreamModes};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::RunContext;
use crate::error::{ApiError, ApiResult};
use crate::graph::{Breaks, RunSpec, Start};
use crate::guard::Access;
use crate::rows::{Assistant, Run, merge};
use crate::wire::time::now;

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
    pub(crate) on_disconnect: Option<String>,
    pub(crate) on_completion: Option<String>,
    pub(crate) multitask_strategy: Option<String>,
    pub(crate) if_not_exists: Option<String>,
    pub(crate) durability: Option<String>,
    pub(crate) checkpoint_during: Option<bool>,
    pub(crate) webhook: Option<String>,
    pub(crate) after_seconds: Option<f64>,
}

/// A request that was understood: a row, and what the graph is told.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) row: Run,
    pub(crate) spec: RunSpec,
    pub(crate) graph: String,
    pub(crate) modes: Vec<String>,
    /// Whose the run is.
    pub(crate) owner: String,
    pub(crate) resumable: bool,
    pub(crate) cancel_on_disconnect: bool,
    /// A run without a thread: the thread is removed at its end.
    pub(crate) temporary: bool,
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

/// Returns the id in a checkpoint of the interface, if it names one. The root graph's only.
pub(crate) fn checkpoint_in(checkpoint: Option<&Value>) -> ApiResult<Option<CheckpointId>> {
    let Some(checkpoint) = checkpoint else {
        return Ok(None);
    };
    if checkpoint["checkpoint_ns"]
        .as_str()
        .is_some_and(|ns| !ns.is_empty())
    {
        return Err(ApiError::invalid(
            "checkpoints of subgraphs (`checkpoint_ns`) are not supported here",
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
    if subgraphs {
        // The names of namespaces hold the ids of tasks.
        set |= StreamModes::from(StreamMode::Tasks);
    }
    set
}

impl RunRequest {
    fn start(&mut self) -> (Start, Option<Value>, Option<Value>) {
        let command = self.command.take().unwrap_or(Value::Null);
        let part = |name: &str| command.get(name).filter(|part| !part.is_null()).cloned();
        let (update, goto) = (part("update").map(pairs), part("goto"));
        let start = match (part("resume"), self.input.take()) {
            (Some(answer), _) => Start::Resume(answer),
            (None, Some(input)) if !input.is_null() && command.is_null() => Start::Input(input),
            _ => Start::Proceed,
        };
        (start, update, goto)
    }
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
    durability: Option<Durability>,
}

fn choices(request: &RunRequest) -> ApiResult<Choices> {
    if request.webhook.is_some() {
        return Err(ApiError::invalid("webhooks are not supported here"));
    }
    if request.after_seconds.is_some_and(|seconds| seconds > 0.0) {
        return Err(ApiError::invalid("after_seconds is not supported here"));
    }
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
    Ok(Choices {
        strategy: strategy.unwrap_or_else(|| "enqueue".to_owned()),
        cancel_on_disconnect: disconnect.as_deref() == Some("cancel"),
        keep: completion.as_deref() == Some("keep"),
        durability: match (durability.as_deref(), request.checkpoint_during) {
            (Some("async"), _) => Some(Durability::Async),
            (Some("exit"), _) | (None, Some(false)) => Some(Durability::Exit),
            (Some(_), _) => Some(Durability::Sync),
            (None, _) => None,
        },
    })
}

/// What the assistant and the request say together.
struct Merged {
    config: Value,
    configurable: Value,
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
            configurable,
            context,
            metadata,
        }
    }

    /// What nodes read as the metadata of the run.
    fn of_run(&self, run: &str, thread: &str) -> BTreeMap<String, Value> {
        let mut entries = self.metadata.clone();
        merge(&mut entries, &self.configurable);
        merge(&mut entries, &json!({"run_id": run, "thread_id": thread}));
        match entries {
            Value::Object(entries) => entries.into_iter().collect(),
            _ => BTreeMap::new(),
        }
    }

    fn number(&self, name: &str) -> Option<usize> {
        let given = self.config[name].as_u64();
        given.and_then(|number| usize::try_from(number).ok())
    }
}

/// Checks a request, and makes the run of it. `thread` is `None` for a run without one.
pub(crate) fn plan(
    app: &Access,
    thread: Option<&str>,
    mut request: RunRequest,
) -> ApiResult<(Planned, Assistant)> {
    let assistant = app.assistant(&request.assistant_id)?;
    let choices = choices(&request)?;
    let modes = modes(request.stream_mode.as_ref())?;
    let at = match &request.checkpoint_id {
        Some(id) => Some(checkpoint_id(id)?),
        None => checkpoint_in(request.checkpoint.as_ref())?,
    };
    let merged = Merged::of(&assistant, &request);
    let run_id = Uuid::now_v7().to_string();
    let thread_id = thread.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
    let kwargs = json!({
        "input": request.input, "command": request.command, "config": merged.config,
        "context": merged.context, "stream_mode": modes,
        "interrupt_before": request.interrupt_before, "interrupt_after": request.interrupt_after,
        "subgraphs": request.stream_subgraphs, "resumable": request.stream_resumable,
        "temporary": thread.is_none(), "durability": request.durability, "webhook": null,
        "feedback_keys": null,
    });
    let (start, update, goto) = request.start();
    let spec = RunSpec {
        thread: thread_id.clone(),
        start,
        update,
        goto,
        at,
        metadata: merged.of_run(&run_id, &thread_id),
        limit: merged.number("recursion_limit"),
        max_concurrency: merged.number("max_concurrency"),
        context: Arc::new(RunContext {
            context: merged.context,
            configurable: merged.configurable,
            user: app.user().cloned(),
        }),
        timeout: app.limits.run_time,
        durability: choices.durability,
        before: breaks(request.interrupt_before.as_ref())?,
        after: breaks(request.interrupt_after.as_ref())?,
        cancel: CancelToken::new(),
        modes: engine_modes(&modes, request.stream_subgraphs),
        subgraphs: request.stream_subgraphs,
    };
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
    let planned = Planned {
        row,
        spec,
        graph: assistant.graph_id.clone(),
        modes,
        owner: app.owner().to_owned(),
        resumable: request.stream_resumable,
        cancel_on_disconnect: choices.cancel_on_disconnect,
        temporary: thread.is_none() && !choices.keep,
    };
    Ok((planned, assistant))
}
