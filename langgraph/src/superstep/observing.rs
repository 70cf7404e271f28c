//! Runs with and without observers.

/// Whether a run has observers. The loop is compiled for both: the future of a run that nobody
/// observes has no room for what observers do.
pub(super) trait Observing {
    const OBSERVES: bool;

    /// Holds a future that stores or emits: in place, or boxed where it is rare.
    fn hold<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send;
}

/// The run's events or spans are read, or its thread is stored.
pub(super) struct Observed;

/// The run only changes its state.
pub(super) struct Unobserved;

impl Observing for Observed {
    const OBSERVES: bool = true;

    fn hold<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
        future
    }
}

impl Observing for Unobserved {
    const OBSERVES: bool = false;

    fn hold<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
        Box::pin(future)
    }
}
