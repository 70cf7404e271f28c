//! The numbers of a worst case.

/// The worst case of one graph.
pub(super) struct Worst {
    pub(super) supersteps: u64,
    /// By index of the topology's nodes.
    pub(super) runs: Vec<u64>,
}
