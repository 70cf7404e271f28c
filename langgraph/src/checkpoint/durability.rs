//! When records are stored.

/// When the records of a run are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Persist each record before the next step starts.
    #[default]
    Sync,
    /// Persist records in order, in the background. The run ends when everything is stored, and fails
    /// as soon as a record cannot be stored. A crash loses the records that are on their way; so does
    /// a run that is cancelled, times out or is dropped.
    Async,
    /// Persist one checkpoint with the whole state when the run ends: done, paused or failed. Logs
    /// of graphs under [`PerThread`](crate::run::Persistence::PerThread) are stored then too, with
    /// all their steps. A run that is cancelled, times out or is dropped loses everything.
    Exit,
}
