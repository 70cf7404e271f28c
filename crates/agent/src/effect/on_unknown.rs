//! What happens after an unknown outcome.

/// What an [`Effect`](crate::Effect) does if an earlier attempt has begun the work, and it is unknown
/// whether it has happened: the program died, or the run was dropped, before the result was stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnUnknown {
    /// The work runs again, with the same idempotency key. This is right for a service that
    /// recognises repetitions, and for work that may happen twice.
    RunAgain,
    /// The task fails with [`UnknownOutcome`](crate::UnknownOutcome).
    #[default]
    Fail,
    /// A person decides: the task pauses with an [`EffectRequest`](crate::EffectRequest) under the
    /// effect's name, and the answer is an [`EffectDecision`](crate::EffectDecision). That needs a
    /// checkpointer and a thread.
    Ask,
}
