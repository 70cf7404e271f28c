//! The stored form of outputs.
//!
//! Its types are generic in the updates, but written and read by code that is compiled once: the
//! updates are [lent](LentUpdate) to the writer, and the reader says [where](UpdateIndex) they stand
//! among those that a function of the caller has read.

mod lent_update;
mod read;
mod shape;
#[cfg(test)]
mod tests;
mod tree;

use serde::{Deserialize, Serialize};

use langgraph_topology::NodeName;

use langgraph_core::checkpoint::{Encoded, Formats};
use langgraph_core::error::FormatError;

pub(crate) use lent_update::LentUpdate;
pub(crate) use read::UpdateIndex;

/// The writes and targets of a task, an input or an update from outside. A state is one write.
#[derive(Debug, Serialize)]
pub(crate) struct OutputWire<U> {
    /// The writes, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) writes: Vec<WriteWire<U>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Where the task goes, if not along the edges.
    pub(crate) jump: Option<JumpWire<U>>,
    /// The answers of its routers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) routes: Vec<RoutesWire<U>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    /// True if a cache answered.
    pub(crate) cached: bool,
    /// True if the state, which is its only write, has only the fields that something has written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) only_written: bool,
}

/// The writes of an [`OutputWire`], for a reader that knows the type; the other fields are skipped.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "U: serde::de::DeserializeOwned"))]
pub(crate) struct WritesWire<U> {
    /// The writes, in order.
    #[serde(default = "Vec::new")]
    pub(crate) writes: Vec<WriteWire<U>>,
    /// See [`OutputWire::only_written`].
    #[serde(default)]
    pub(crate) only_written: bool,
}

impl<U> OutputWire<U> {
    /// Creates one that only writes.
    pub(crate) fn writes(writes: Vec<WriteWire<U>>) -> Self {
        Self {
            writes,
            jump: None,
            routes: Vec::new(),
            cached: false,
            only_written: false,
        }
    }
}

impl OutputWire<LentUpdate<'_>> {
    /// Encodes the output of a state of this version.
    ///
    /// # Errors
    ///
    /// As [`Formats::encode`].
    pub(crate) fn encode(&self, formats: &Formats, version: u32) -> Result<Encoded, FormatError> {
        formats.encode(self, version)
    }
}

/// One write.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WriteWire<U> {
    /// An update to merge.
    Update(U),
    /// Values that replace the old ones.
    Overwrite(U),
    /// Every field.
    State(U),
}

impl<U> WriteWire<U> {
    /// Converts the update.
    ///
    /// # Errors
    ///
    /// The error of `map`.
    pub(crate) fn try_map<V, E>(
        self,
        map: impl FnOnce(U) -> Result<V, E>,
    ) -> Result<WriteWire<V>, E> {
        Ok(match self {
            Self::Update(update) => WriteWire::Update(map(update)?),
            Self::Overwrite(update) => WriteWire::Overwrite(map(update)?),
            Self::State(update) => WriteWire::State(map(update)?),
        })
    }

    /// Returns the update.
    pub(crate) fn into_update(self) -> U {
        match self {
            Self::Update(update) | Self::Overwrite(update) | Self::State(update) => update,
        }
    }
}

/// Where a task goes, instead of along the edges.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JumpWire<U> {
    /// Nowhere.
    End,
    /// To these targets.
    To {
        /// The targets, in order.
        targets: Vec<TargetWire<U>>,
        /// True if it also follows the edges.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        edges: bool,
    },
    /// A command for the parent graph, over a state of its own.
    Parent {
        /// The type of that state.
        state: String,
        /// The command, as text.
        command: String,
    },
}

/// The answer of a router.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoutesWire<U> {
    /// To these targets.
    Targets(Vec<TargetWire<U>>),
    /// Several answers at once.
    Several(Vec<RoutesWire<U>>),
}

/// A target of a task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TargetWire<U> {
    /// A node.
    Node(NodeName),
    /// A task of a worker.
    Send {
        /// The worker.
        node: NodeName,
        /// The item is JSON, as text.
        item: String,
    },
    /// A task over a state of its own.
    SendState {
        /// The node.
        node: NodeName,
        /// Every field of the state.
        state: U,
    },
}
