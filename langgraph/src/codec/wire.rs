//! The stored form of outputs.

use serde::{Deserialize, Serialize};

use langgraph_topology::NodeName;

/// The writes and targets of a task, an input or an update from outside. A state is one write.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound(
    serialize = "U: Serialize",
    deserialize = "U: serde::de::DeserializeOwned"
))]
pub(crate) struct OutputWire<U> {
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub(crate) writes: Vec<WriteWire<U>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) jump: Option<JumpWire<U>>,
    /// The answers of its routers.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub(crate) routes: Vec<RoutesWire<U>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cached: bool,
}

/// The writes of an [`OutputWire`]; the other fields are skipped.
#[derive(Debug, Deserialize)]
#[serde(bound(deserialize = "U: serde::de::DeserializeOwned"))]
pub(crate) struct WritesWire<U> {
    #[serde(default = "Vec::new")]
    pub(crate) writes: Vec<WriteWire<U>>,
}

impl<U> OutputWire<U> {
    pub(crate) fn writes(writes: Vec<WriteWire<U>>) -> Self {
        Self {
            writes,
            jump: None,
            routes: Vec::new(),
            cached: false,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WriteWire<U> {
    Update(U),
    Overwrite(U),
    /// Every field.
    State(U),
}

impl<U> WriteWire<U> {
    pub(crate) fn try_map<V, E>(
        self,
        map: &mut impl FnMut(U) -> Result<V, E>,
    ) -> Result<WriteWire<V>, E> {
        Ok(match self {
            Self::Update(update) => WriteWire::Update(map(update)?),
            Self::Overwrite(update) => WriteWire::Overwrite(map(update)?),
            Self::State(update) => WriteWire::State(map(update)?),
        })
    }

    pub(crate) fn into_update(self) -> U {
        match self {
            Self::Update(update) | Self::Overwrite(update) | Self::State(update) => update,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JumpWire<U> {
    End,
    To {
        targets: Vec<TargetWire<U>>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        edges: bool,
    },
    /// A command for the parent graph, over a state of its own.
    Parent {
        state: String,
        command: String,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RoutesWire<U> {
    Targets(Vec<TargetWire<U>>),
    Several(Vec<RoutesWire<U>>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TargetWire<U> {
    Node(NodeName),
    /// The item is JSON, as text.
    Send {
        node: NodeName,
        item: String,
    },
    SendState {
        node: NodeName,
        state: U,
    },
}

impl<U> OutputWire<U> {
    /// Converts every update.
    pub(crate) fn try_map<V, E>(
        self,
        map: &mut impl FnMut(U) -> Result<V, E>,
    ) -> Result<OutputWire<V>, E> {
        let writes = self.writes.into_iter().map(|write| write.try_map(map));
        let writes = writes.collect::<Result<_, _>>()?;
        let jump = match self.jump {
            None => None,
            Some(JumpWire::End) => Some(JumpWire::End),
            Some(JumpWire::Parent { state, command }) => Some(JumpWire::Parent { state, command }),
            Some(JumpWire::To { targets, edges }) => Some(JumpWire::To {
                targets: map_targets(targets, map)?,
                edges,
            }),
        };
        let routes = self.routes.into_iter().map(|routes| routes.try_map(map));
        Ok(OutputWire {
            writes,
            jump,
            routes: routes.collect::<Result<_, _>>()?,
            cached: self.cached,
        })
    }
}

impl<U> RoutesWire<U> {
    fn try_map<V, E>(self, map: &mut impl FnMut(U) -> Result<V, E>) -> Result<RoutesWire<V>, E> {
        Ok(match self {
            Self::Targets(targets) => RoutesWire::Targets(map_targets(targets, map)?),
            Self::Several(several) => {
                let several = several.into_iter().map(|routes| routes.try_map(map));
                RoutesWire::Several(several.collect::<Result<_, _>>()?)
            }
        })
    }
}

fn map_targets<U, V, E>(
    targets: Vec<TargetWire<U>>,
    map: &mut impl FnMut(U) -> Result<V, E>,
) -> Result<Vec<TargetWire<V>>, E> {
    let targets = targets.into_iter().map(|target| {
        Ok(match target {
            TargetWire::Node(node) => TargetWire::Node(node),
            TargetWire::Send { node, item } => TargetWire::Send { node, item },
            TargetWire::SendState { node, state } => TargetWire::SendState {
                node,
                state: map(state)?,
            },
        })
    });
    targets.collect()
}
