//! A task as data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::{FollowedRecord, OnceRecord};
use crate::interrupt::Answer;
use crate::node::{Context, RunBounds, Scope};
use crate::stream::StreamMode;
use langgraph_topology::NodeName;

/// A task as data, without the snapshot of the state.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskOrder {
    /// The node.
    pub node: NodeName,
    /// The item of a worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) answers: Vec<Answer>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) once: Vec<OnceRecord>,
    /// A text that no other task has; a task that runs again keeps it.
    pub identity: String,
    /// The thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The run.
    pub run: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) metadata: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) namespace: Vec<NodeName>,
    /// The call of the graph, which no other call of the run has; empty at the root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) call: String,
    /// The number of the task in its superstep.
    #[serde(default, skip_serializing_if = "is_first")]
    pub(super) index: u32,
    pub(super) step: usize,
    pub(super) remaining: usize,
    /// How often the run has followed edges that have a bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) followed: Vec<FollowedRecord>,
    /// True if custom events are read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) custom: bool,
    /// True if messages are read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) messages: bool,
    /// True if the progress is read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) heartbeats: bool,
}

impl TaskOrder {
    /// Describes the task of a context, as it is now.
    pub(super) fn new(cx: &Context, item: Option<String>, identity: String) -> Self {
        let Scope {
            shared,
            bounds,
            path,
            ..
        } = &**cx.scope();
        let bounds = bounds.as_ref();
        Self {
            node: cx.name(),
            item,
            answers: cx.answers().to_vec(),
            once: cx.once_records(),
            identity,
            thread: shared.thread.clone(),
            run: cx.run_id().to_owned(),
            metadata: shared.metadata.as_deref().cloned().unwrap_or_default(),
            namespace: cx.namespace().to_vec(),
            call: path.of_call(),
            index: cx.index(),
            step: cx.step(),
            remaining: cx.remaining_steps(),
            followed: bounds.map_or_else(Vec::new, RunBounds::records),
            custom: cx.wants(StreamMode::Custom),
            messages: cx.wants(StreamMode::Messages),
            heartbeats: cx.nearest_heartbeat().is_some(),
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde gives a reference
fn is_first(index: &u32) -> bool {
    *index == 0
}
