//! How much storage a thread takes.

/// How much storage a thread takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageUsage {
    /// The number of logs: the root graph's, and those of its subgraphs.
    pub logs: u64,
    /// The number of checkpoints.
    pub checkpoints: u64,
    /// The number of records of tasks and of updates from outside.
    pub records: u64,
    /// The total of bytes, without indexes; 0 for a saver of values.
    pub bytes: u64,
}
