//! Breakpoints of a request.

use langgraph::graph::NodeName;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where a run pauses: `"*"`, or a list of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Breaks {
    All,
    Nodes(Vec<NodeName>),
}

impl Breaks {
    /// Returns false for an empty list: as in the reference, it leaves the graph its own breakpoints.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Nodes(nodes) if nodes.is_empty())
    }
}

impl Serialize for Breaks {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All => out.serialize_str("*"),
            Self::Nodes(nodes) => nodes.serialize(out),
        }
    }
}

impl<'de> Deserialize<'de> for Breaks {
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected `*`, or a list of names of nodes")]
        enum BreaksForm {
            Word(String),
            Nodes(Vec<String>),
        }
        match BreaksForm::deserialize(given)? {
            BreaksForm::Word(word) if word == "*" => Ok(Self::All),
            BreaksForm::Word(word) => Err(serde::de::Error::custom(format!(
                "expected `*`, or a list of names of nodes, found `{word}`"
            ))),
            BreaksForm::Nodes(nodes) => {
                Ok(Self::Nodes(nodes.into_iter().map(NodeName::from).collect()))
            }
        }
    }
}
