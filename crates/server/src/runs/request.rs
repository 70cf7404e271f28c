//! The request for a run.

use std::time::Duration;

use langgraph::run::CancelToken;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use super::invocation::invocation;
use super::new_run::NewRun;
use crate::error::{ApiError, ApiResult};
use crate::graph::Breaks;
use crate::guard::Access;
use crate::ids::uuid;
use crate::queue::RequestKey;
use crate::rows::{Assistant, Run, merge};
use crate::spec::{
    CheckpointRef, Mode, RunCommand, RunConfig, RunDurability, RunSpec, Strategy, checkpoint_id,
};
use crate::wire::time::now;

/// The longest delay of a run.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// The body of a request for a run. What is not here is refused, or belongs to tracing.
#[allow(clippy::struct_excessive_bools)] // the names of the interface
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RunRequest {
    pub(crate) assistant_id: String,
    pub(crate) input: Value,
    pub(crate) command: Option<RunCommand>,
    pub(crate) checkpoint: Option<CheckpointRef>,
    pub(crate) checkpoint_id: Option<String>,
    pub(crate) metadata: Option<Map<String, Value>>,
    pub(crate) config: Option<Map<String, Value>>,
    pub(crate) context: Option<Map<String, Value>>,
    pub(crate) interrupt_before: Option<Breaks>,
    pub(crate) interrupt_after: Option<Breaks>,
    pub(crate) stream_mode: Option<Modes>,
    pub(crate) stream_subgraphs: bool,
    pub(crate) stream_resumable: bool,
    pub(crate) strict_resume: bool,
    pub(crate) on_disconnect: Option<OnDisconnect>,
    pub(crate) on_completion: Option<OnCompletion>,
    pub(crate) multitask_strategy: Option<Strategy>,
    pub(crate) if_not_exists: Option<IfNotExists>,
    pub(crate) durability: Option<RunDurability>,
    pub(crate) checkpoint_during: Option<bool>,
    pub(crate) webhook: Option<String>,
    pub(crate) after_seconds: Option<f64>,
    /// Of the runs of a thread, and of those of an owner, those with a higher one start first.
    pub(crate) priority: Option<i64>,
    /// One run of those with the same key runs at a time.
    pub(crate) concurrency_key: Option<String>,
    /// The id of the run, chosen by the client: the same request again is the same run.
    pub(crate) run_id: Option<String>,
    /// The interrupts that the answer is for, if it names none itself.
    #[serde(skip)]
    pub(crate) answers: Vec<String>,
    /// The clock has started it, for a wait that is due.
    #[serde(skip)]
    pub(crate) by_clock: bool,
    /// The name of the request, from its header.
    #[serde(skip)]
    pub(crate) request_key: Option<RequestKey>,
}

/// What happens to the run of a client that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnDisconnect {
    Cancel,
    Continue,
}

/// What happens to the thread of a run without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnCompletion {
    Delete,
    Keep,
}

/// What happens when the thread does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IfNotExists {
    Create,
    Reject,
}

/// One stream mode, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Modes(pub(crate) Vec<Mode>);

impl<'de> Deserialize<'de> for Modes {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        let listed = match Value::deserialize(given)? {
            Value::Array(several) => several,
            one => vec![one],
        };
        let modes = listed.into_iter().map(serde_json::from_value);
        let modes: Result<_, _> = modes.collect();
        modes.map(Self).map_err(serde::de::Error::custom)
    }
}

impl RunRequest {
    fn delay(&self) -> ApiResult<Option<Duration>> {
        let delay = self.after_seconds.filter(|seconds| *seconds > 0.0);
        let delay = delay.map(Duration::try_from_secs_f64).transpose();
        let delay = delay.map_err(|error| ApiError::invalid(format!("after_seconds: {error}")))?;
        if delay.is_some_and(|delay| delay > LONGEST) {
            return Err(ApiError::invalid("after_seconds is at most 10 years"));
        }
        Ok(delay)
    }

    fn durability(&self) -> Option<RunDurability> {
        match (self.durability, self.checkpoint_during) {
            (None, Some(false)) => Some(RunDurability::Exit),
            (durability, _) => durability,
        }
    }

    fn check_concurrency_key(&self) -> ApiResult<()> {
        let key = self.concurrency_key.as_deref().unwrap_or_default();
        if key.len() > 1024 || key.contains('\0') {
            return Err(ApiError::invalid(
                "concurrency_key has at most 1,024 bytes, and no character NUL",
            ));
        }
        Ok(())
    }

    /// Returns where the run starts: at a checkpoint of a subgraph, or at one of the thread.
    fn checkpoint(&self) -> ApiResult<(Option<CheckpointRef>, Option<String>)> {
        let configured = self
            .config
            .as_ref()
            .and_then(|config| config.get("configurable"));
        let configured: Option<CheckpointRef> =
            match configured {
                Some(Value::Object(fields)) => {
                    let fields = Value::Object(fields.clone());
                    Some(serde_json::from_value(fields).map_err(|error| {
                        ApiError::invalid(format!("config.configurable: {error}"))
                    })?)
                }
                _ => None,
            };
        let mut named = [&self.checkpoint, &configured].into_iter().flatten();
        if let Some(inner) = named.find(|checkpoint| checkpoint.is_inner()) {
            inner.inner()?;
            if !self.input.is_null() || self.command.is_some() {
                return Err(ApiError::invalid(
                    "a run from the checkpoint of a subgraph goes on there: it takes no input and no command",
                ));
            }
            return Ok((Some(inner.clone()), None));
        }
        let mut at = self
            .checkpoint_id
            .as_deref()
            .map(checkpoint_id)
            .transpose()?;
        for checkpoint in [&self.checkpoint, &configured].into_iter().flatten() {
            at = match at {
                None => checkpoint.id()?,
                at => at,
            };
        }
        Ok((None, at.map(|at| at.to_string())))
    }

    /// Returns true if the run begins anew at a thread that has paused, instead of going on there: with an input, or at a
    /// checkpoint of before.
    pub(crate) fn begins_anew(&self) -> ApiResult<bool> {
        let is_at_head = matches!(self.checkpoint()?, (None, None));
        Ok(self.has_input() || !is_at_head)
    }

    /// Returns true if the run has an input; that beside a command is not read.
    pub(crate) fn has_input(&self) -> bool {
        self.command.is_none() && !self.input.is_null()
    }

    /// Returns the checkpoint of the thread at which the run starts, if the request names one.
    pub(crate) fn starts_at(&self) -> ApiResult<Option<String>> {
        self.checkpoint().map(|(_, at)| at)
    }

    /// Returns the config, the context and the metadata of the assistant and the request together.
    fn merged(&self, assistant: &Assistant) -> ApiResult<(RunConfig, Value, Value)> {
        let given =
            |fields: &Option<Map<String, Value>>| fields.clone().map_or(Value::Null, Value::Object);
        let config_given = given(&self.config);
        let mut config = assistant.config.clone();
        let mut configurable = config["configurable"].take();
        merge(&mut configurable, &config_given["configurable"]);
        merge(&mut config, &config_given);
        merge(&mut config, &json!({"configurable": configurable}));
        let config = RunConfig::read(config)?;
        let mut context = assistant.context.clone();
        merge(&mut context, &given(&self.context));
        let mut metadata = assistant.metadata.clone();
        merge(&mut metadata, &config.metadata);
        merge(&mut metadata, &given(&self.metadata));
        if let Some(fields) = metadata.as_object_mut() {
            // What the run has used is written there; clients cannot say it.
            fields.remove("usage_metadata");
        }
        let mut own = json!({
            "graph_id": assistant.graph_id, "assistant_id": assistant.assistant_id,
        });
        // The default assistant has one version, as long as it is not changed.
        if assistant.version > 1 || !assistant.is_default() {
            own["assistant_version"] = assistant.version.into();
        }
        merge(&mut metadata, &own);
        Ok((config, context, metadata))
    }

    /// Checks a request, and makes the run of it. `thread` is `None` for a run without one.
    pub(crate) async fn plan(
        self,
        app: &Access,
        thread: Option<&str>,
    ) -> ApiResult<(NewRun, Assistant)> {
        let assistant = app.assistant(&self.assistant_id).await?;
        self.check_concurrency_key()?;
        if let Some(webhook) = &self.webhook {
            app.webhooks.allow(webhook)?;
        }
        let (inner_checkpoint, checkpoint_id) = self.checkpoint()?;
        let (config, context, metadata) = self.merged(&assistant)?;
        let delay = self.delay()?;
        let kept = self.on_completion == Some(OnCompletion::Keep);
        let spec = RunSpec {
            durability: self.durability(),
            input: self.input,
            command: self.command,
            config,
            context,
            stream_mode: self.stream_mode.map_or(vec![Mode::Values], |modes| modes.0),
            interrupt_before: self.interrupt_before.filter(Breaks::is_given),
            interrupt_after: self.interrupt_after.filter(Breaks::is_given),
            subgraphs: self.stream_subgraphs,
            resumable: self.stream_resumable,
            temporary: thread.is_none() && !kept,
            webhook: self.webhook,
            checkpoint_id,
            inner_checkpoint,
            strict_resume: self.strict_resume,
            answers: self.answers,
            by_clock: self.by_clock,
            user: app.user().cloned(),
            ..RunSpec::default()
        };
        let now = now();
        let run_id = self.run_id.as_deref().map(|id| uuid("run", id));
        let row = Run {
            run_id: run_id
                .transpose()?
                .unwrap_or_else(|| langgraph_core::new_id().to_string()),
            thread_id: thread.map_or_else(|| langgraph_core::new_id().to_string(), str::to_owned),
            assistant_id: assistant.assistant_id.clone(),
            metadata,
            status: "pending".to_owned(),
            kwargs: spec,
            multitask_strategy: self.multitask_strategy.unwrap_or_default(),
            created_at: now.clone(),
            updated_at: now,
        };
        // What is wrong is refused now.
        let planned = invocation(&row, CancelToken::new(), &app.limits)?;
        app.graph(&assistant.graph_id)?
            .check_context(&planned.context)
            .map_err(|error| ApiError::invalid(format!("context: {error}")))?;
        let owner = app.owner();
        // An owner may hold any character: what is between the two is none of them.
        let key = self.concurrency_key;
        let new = NewRun {
            priority: self.priority.unwrap_or_default(),
            concurrency_key: key.map(|key| json!([owner, key]).to_string()),
            delay,
            cancel_on_disconnect: self.on_disconnect == Some(OnDisconnect::Cancel),
            request: self.request_key,
            ..NewRun::of(row, owner)
        };
        Ok((new, assistant))
    }
}
