//! Where a run pauses.

use crate::node::NodeId;

/// The breakpoints of a run.
#[derive(Clone, Default)]
pub(crate) enum Stops {
    #[default]
    Never,
    Always,
    At(Box<[NodeId]>),
}

impl Stops {
    #[inline]
    pub(crate) fn contains(&self, node: NodeId) -> bool {
        match self {
            Self::Never => false,
            Self::Always => !node.is_start(),
            Self::At(nodes) => nodes.contains(&node),
        }
    }

    #[inline]
    pub(crate) fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }
}
