//! What a commit has done.

/// What the merge of a superstep's writes has done.
#[derive(Clone, Copy)]
pub(super) struct Merged {
    /// True if a field was written.
    pub(super) wrote: bool,
    /// True if tasks wait for answers.
    pub(super) waits: bool,
}
