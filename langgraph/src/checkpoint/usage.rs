//! How much storage a thread takes.

/// How much storage a thread takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Its logs: the root graph's, and those of graphs inside it.
    pub logs: u64,
    /// Its checkpoints.
    pub checkpoints: u64,
    /// The records of its tasks and of updates from outside.
    pub records: u64,
    /// The bytes of all of it, without indexes; 0 when the saver keeps values as they are.
    pub bytes: u64,
}
