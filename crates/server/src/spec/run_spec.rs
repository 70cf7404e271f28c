//! What a run is: everything that its request and its assistant say, as it is stored.

use langgraph::checkpoint::Durability;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::checkpoint_ref::CheckpointRef;
use super::mode::Mode;
use crate::error::{ApiError, ApiResult};
use crate::graph::Breaks;
use crate::guard::User;

/// Everything that a run is given. Clients see it as `kwargs`.
#[allow(clippy::struct_excessive_bools)] // the names of the interface
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunSpec {
    pub(crate) input: Value,
    pub(crate) command: Option<RunCommand>,
    pub(crate) config: RunConfig,
    pub(crate) context: Value,
    pub(crate) stream_mode: Vec<Mode>,
    pub(crate) interrupt_before: Option<Breaks>,
    pub(crate) interrupt_after: Option<Breaks>,
    pub(crate) subgraphs: bool,
    pub(crate) resumable: bool,
    /// The thread is removed at the end of the run.
    pub(crate) temporary: bool,
    pub(crate) durability: Option<RunDurability>,
    pub(crate) webhook: Option<String>,
    pub(crate) checkpoint_id: Option<String>,
    /// The checkpoint of a subgraph where the thread goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inner_checkpoint: Option<CheckpointRef>,
    /// An answer to an interrupt that is not open fails the run, and changes nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) strict_resume: bool,
    /// The interrupts that were open when the request became an answer that names none: if one of them is not open any
    /// more, the run fails, and changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<String>,
    /// The clock has started it, for a wait that is due.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) by_clock: bool,
    /// The run with which the clock goes on; if that was started by the clock, too, the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) continues: Option<String>,
    /// Who has asked for the run.
    pub(crate) user: Option<User>,
    pub(crate) feedback_keys: (),
}

/// A command of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunCommand {
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) update: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) resume: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) goto: Value,
}

impl RunCommand {
    pub(crate) fn update(update: Value) -> Self {
        Self {
            update,
            ..Self::default()
        }
    }

    pub(crate) fn resume(answers: Value) -> Self {
        Self {
            resume: answers,
            ..Self::default()
        }
    }
}

/// The config of a run. What the server does not know is kept for clients.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RunConfig {
    pub(crate) configurable: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recursion_limit: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_concurrency: Option<usize>,
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) metadata: Value,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// When the checkpoints of a run are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunDurability {
    Sync,
    Async,
    Exit,
}

impl From<RunDurability> for Durability {
    fn from(durability: RunDurability) -> Self {
        match durability {
            RunDurability::Sync => Self::Sync,
            RunDurability::Async => Self::Async,
            RunDurability::Exit => Self::Exit,
        }
    }
}

impl RunConfig {
    /// Reads a config that an assistant and a request have made together.
    pub(crate) fn read(config: Value) -> ApiResult<Self> {
        serde_json::from_value(config)
            .map_err(|error| ApiError::invalid(format!("config: {error}")))
    }
}
