//! The stored form of outputs.
//!
//! Its types are generic in the updates, but written and read by code that is compiled once: the
//! updates are [lent](LentUpdate) to the writer, and [read](OutputWire::decode) by a function.

mod lent_update;
mod read;
mod shape;
mod tree;

use serde::{Deserialize, Serialize};

use langgraph_topology::NodeName;

pub use lent_update::LentUpdate;
pub use read::ReadUpdate;

/// The writes and targets of a task, an input or an update from outside. A state is one write.
#[derive(Debug, Serialize)]
pub struct OutputWire<U> {
    /// The writes, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<WriteWire<U>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Where the task goes, if not along the edges.
    pub jump: Option<JumpWire<U>>,
    /// The answers of its routers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<RoutesWire<U>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    /// True if a cache answered.
    pub cached: bool,
}

/// The writes of an [`OutputWire`], for a reader that knows the type; the other fields are skipped.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "U: serde::de::DeserializeOwned"))]
pub struct WritesWire<U> {
    /// The writes, in order.
    #[serde(default = "Vec::new")]
    pub writes: Vec<WriteWire<U>>,
}

impl<U> OutputWire<U> {
    /// Creates one that only writes.
    pub fn writes(writes: Vec<WriteWire<U>>) -> Self {
        Self {
            writes,
            jump: None,
            routes: Vec::new(),
            cached: false,
        }
    }
}

/// One write.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteWire<U> {
    /// An update to merge.
    Update(U),
    /// Values that replace the old ones.
    Overwrite(U),
    /// Every field.
    State(U),
}

impl<U> WriteWire<U> {
    fn try_map<V, E>(self, map: &mut impl FnMut(U) -> Result<V, E>) -> Result<WriteWire<V>, E> {
        Ok(match self {
            Self::Update(update) => WriteWire::Update(map(update)?),
            Self::Overwrite(update) => WriteWire::Overwrite(map(update)?),
            Self::State(update) => WriteWire::State(map(update)?),
        })
    }

    /// Returns the update.
    pub fn into_update(self) -> U {
        match self {
            Self::Update(update) | Self::Overwrite(update) | Self::State(update) => update,
        }
    }
}

/// Where a task goes, instead of along the edges.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JumpWire<U> {
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
pub enum RoutesWire<U> {
    /// To these targets.
    Targets(Vec<TargetWire<U>>),
    /// Several answers at once.
    Several(Vec<RoutesWire<U>>),
}

/// A target of a task.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetWire<U> {
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

impl<U> OutputWire<U> {
    /// Converts every update.
    ///
    /// # Errors
    ///
    /// The first error of `map`.
    pub fn try_map<V, E>(
        self,
        map: &mut impl FnMut(U) -> Result<V, E>,
    ) -> Result<OutputWire<V>, E> {
        let mut writes = Vec::with_capacity(self.writes.len());
        for write in self.writes {
            writes.push(write.try_map(map)?);
        }
        let jump = match self.jump {
            None => None,
            Some(JumpWire::End) => Some(JumpWire::End),
            Some(JumpWire::Parent { state, command }) => Some(JumpWire::Parent { state, command }),
            Some(JumpWire::To { targets, edges }) => Some(JumpWire::To {
                targets: map_targets(targets, map)?,
                edges,
            }),
        };
        Ok(OutputWire {
            writes,
            jump,
            routes: map_routes(self.routes, map)?,
            cached: self.cached,
        })
    }
}

impl<U> RoutesWire<U> {
    fn try_map<V, E>(self, map: &mut impl FnMut(U) -> Result<V, E>) -> Result<RoutesWire<V>, E> {
        Ok(match self {
            Self::Targets(targets) => RoutesWire::Targets(map_targets(targets, map)?),
            Self::Several(several) => RoutesWire::Several(map_routes(several, map)?),
        })
    }
}

fn map_routes<U, V, E>(
    routes: Vec<RoutesWire<U>>,
    map: &mut impl FnMut(U) -> Result<V, E>,
) -> Result<Vec<RoutesWire<V>>, E> {
    let mut mapped = Vec::with_capacity(routes.len());
    for routes in routes {
        mapped.push(routes.try_map(map)?);
    }
    Ok(mapped)
}

fn map_targets<U, V, E>(
    targets: Vec<TargetWire<U>>,
    map: &mut impl FnMut(U) -> Result<V, E>,
) -> Result<Vec<TargetWire<V>>, E> {
    let mut mapped = Vec::with_capacity(targets.len());
    for target in targets {
        mapped.push(match target {
            TargetWire::Node(node) => TargetWire::Node(node),
            TargetWire::Send { node, item } => TargetWire::Send { node, item },
            TargetWire::SendState { node, state } => TargetWire::SendState {
                node,
                state: map(state)?,
            },
        });
    }
    Ok(mapped)
}
