//! Ids of nodes: their index in the graph.

/// The id of a node: its index in the order of declaration. START is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// START: a node whose task already has its result, the input.
    pub(crate) const START: Self = Self(0);

    /// Returns the id for an index into a list that begins with START.
    pub(crate) fn at(index: usize) -> Self {
        // A graph with four thousand million nodes does not fit in memory.
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Returns its index in a list that begins with START.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns its index among the declared nodes; `None` for START.
    pub(crate) const fn place(self) -> Option<usize> {
        self.index().checked_sub(1)
    }

    #[inline]
    pub(crate) const fn is_start(self) -> bool {
        self.0 == 0
    }

    /// Sorts nodes by their declaration, each of them once. Compiled once, not for each state.
    pub(crate) fn sort(nodes: &mut Vec<Self>) {
        nodes.sort_unstable();
        nodes.dedup();
    }
}
