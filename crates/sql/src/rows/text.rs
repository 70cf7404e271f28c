//! The JSON of rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Row;
use langgraph_core::NodeName;
use langgraph_core::checkpoint::{
    Base, CheckpointId, FollowedRecord, JoinRecord, OnceRecord, Source,
};
use langgraph_core::error::{CheckpointError, FormatError};
use langgraph_core::interrupt::{Answer, Interrupts};

#[derive(Serialize, Deserialize)]
pub(super) struct CheckpointText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent: Option<CheckpointId>,
    /// `None`: the parent's state plus the updates of its tasks, as after most supersteps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<BaseText>,
    pub(super) step: i64,
    #[serde(default = "usual_source", skip_serializing_if = "is_usual_source")]
    pub(super) source: Source,
    /// Milliseconds since 1970.
    pub(super) at: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tasks: Vec<TaskText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joins: Vec<JoinRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) deferred: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) followed: Vec<FollowedRecord>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) since: usize,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) log: u64,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) measure: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) ran: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joined: Vec<NodeName>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) metadata: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) graph: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) pauses: bool,
}

/// How many tasks a checkpoint has.
#[derive(Deserialize)]
pub(super) struct TasksText {
    #[serde(default)]
    pub(super) tasks: Vec<serde::de::IgnoredAny>,
}

impl CheckpointText {
    pub(super) fn base(&self) -> Option<Base> {
        match self.base {
            None => self.parent.map(|id| Base {
                id,
                with_tasks: true,
            }),
            Some(BaseText::None {}) => None,
            Some(BaseText::Some(base)) => Some(base),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum BaseText {
    Some(Base),
    None {},
}

/// A task without its argument: the name, or the name and the kind of the argument that follows.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum TaskText {
    Edge(NodeName),
    Sent(NodeName, ArgumentText),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ArgumentText {
    Item,
    State,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OutcomeText {
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) task: usize,
    /// `None`: the task finished, if there is a payload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<EndText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) answers: Vec<Answer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) once: Vec<OnceRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joins: Vec<JoinRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndText {
    Ran,
    #[serde(rename = "asked")]
    Interrupted(Interrupts),
    Failed(String),
}

#[derive(Serialize, Deserialize)]
pub(super) struct EntryText {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tasks: Vec<TaskText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) order: Vec<usize>,
}

fn usual_source() -> Source {
    Source::Loop
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde wants it
fn is_usual_source(source: &Source) -> bool {
    *source == usual_source()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The deepest JSON that `serde_json` reads again.
const DEPTH: usize = 127;

/// Returns the JSON of a row.
///
/// # Errors
///
/// If it is nested too deeply to be read again.
pub(super) fn text(value: &impl Serialize) -> Result<String, CheckpointError> {
    let text = serde_json::to_string(value).map_err(CheckpointError::storage)?;
    let depth = depth(&text);
    if depth > DEPTH {
        return Err(CheckpointError::Format(FormatError::new(format!(
            "a record has {depth} nested values, and at most {DEPTH} can be read again"
        ))));
    }
    Ok(text)
}

/// Returns how deeply the values of a JSON text are nested.
fn depth(json: &str) -> usize {
    // Each level takes two bytes.
    if json.len() <= 2 * DEPTH {
        return 0;
    }
    let (mut deepest, mut depth) = (0_usize, 0_usize);
    let (mut quoted, mut escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

pub(super) fn read<'a, T: Deserialize<'a>>(row: &'a Row) -> Result<T, CheckpointError> {
    serde_json::from_str(&row.text).map_err(|error| {
        CheckpointError::Corrupt(format!(
            "a {:?} row of checkpoint `{}` cannot be read: {error}",
            row.kind, row.checkpoint
        ))
    })
}
