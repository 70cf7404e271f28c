//! Where a log has snapshots.

/// A log of bytes shorter than this needs no snapshot.
pub(super) const SHORT_LOG: u64 = 4096;

/// Where a log may have snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Snapshots {
    /// After any superstep.
    Anywhere,
    /// Only before inputs: the reader wants every write since.
    AtInputs,
    /// Nowhere: the reader wants every write.
    Never,
}
