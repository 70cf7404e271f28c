//! The authors of updates.

use crate::error::WrittenBy;
use crate::graph::plan::Plan;
use crate::graph::{NodeName, START};
use crate::node::NodeId;
use crate::state::State;

/// The author of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    /// The task of a node.
    Node(NodeId),
    /// The input of a run.
    Start,
    /// A command or an update from outside the run.
    External,
}

impl From<NodeId> for Writer {
    #[inline]
    fn from(node: NodeId) -> Self {
        if node.is_start() {
            Self::Start
        } else {
            Self::Node(node)
        }
    }
}

impl Writer {
    /// True for what runs side by side with others. An input that waits behind the tasks of a
    /// superstep is merged in its turn, and conflicts with no other.
    pub(crate) fn conflicts(self) -> bool {
        self != Self::Start
    }

    /// Returns the author for errors.
    pub(crate) fn named<S: State>(self, plan: &Plan<S>) -> WrittenBy {
        match self {
            Self::Node(node) => WrittenBy::Node(plan.name(node)),
            Self::Start => WrittenBy::Input,
            Self::External => WrittenBy::External,
        }
    }

    /// Returns the name of the node; START for writes without a node.
    pub(crate) fn name<S: State>(self, plan: &Plan<S>) -> NodeName {
        match self {
            Self::Node(node) => plan.name(node),
            Self::Start | Self::External => START.into(),
        }
    }
}
