//! A node, by its place in the graph.

/// A node of a graph, by its place in the order of declaration. START is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// Where every run begins: a node whose task comes with its result, the input.
    pub(crate) const START: Self = Self(0);

    /// The node declared at that place, counted from 0.
    pub(crate) fn declared(place: usize) -> Self {
        // A graph of four thousand million nodes does not fit into memory.
        Self(u32::try_from(place).map_or(u32::MAX, |place| place.saturating_add(1)))
    }

    /// The node at an index of a list that begins with START.
    pub(crate) fn at(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Its index in a list that begins with START.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Its place among the declared nodes; none for START.
    pub(crate) const fn place(self) -> Option<usize> {
        self.index().checked_sub(1)
    }

    #[inline]
    pub(crate) const fn is_start(self) -> bool {
        self.0 == 0
    }
}
