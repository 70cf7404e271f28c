//! How two values of a field become one.

use std::fmt;

/// How a field's value and an update to it become the new value.
///
/// A reducer is deterministic: the same `current` and `update` give the same result, because a
/// thread is rebuilt by applying its updates again. What is random (a missing message id, say) is
/// fixed on the update beforehand, by [`prepare`](Reducer::prepare).
///
/// # Examples
///
/// ```
/// use langgraph::state::Reducer;
///
/// struct Longest;
///
/// impl Reducer<String> for Longest {
///     fn merge(&self, current: String, update: String) -> String {
///         if update.len() > current.len() { update } else { current }
///     }
/// }
///
/// assert_eq!(Longest.merge("ab".into(), "abc".into()), "abc");
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a reducer of `{T}`",
    label = "expected a reducer of `{T}`",
    note = "a reducer is a `fn({T}, {T}) -> {T}`, a closure of that shape, or a value that implements `Reducer<{T}>`"
)]
pub trait Reducer<T>: Send + Sync + 'static {
    /// The value that `current` becomes when `update` is written to it.
    fn merge(&self, current: T, update: T) -> T;

    /// Merges in place, and says why if it cannot.
    ///
    /// The runtime calls this one. Reducers that grow a collection override it to cost what they
    /// add, and reducers that can refuse an update override it to say so.
    ///
    /// # Errors
    ///
    /// [`ReducerError`] when the update does not fit the current value. `current` may have been
    /// changed by then; the run that wrote it ends.
    fn try_merge(&self, current: &mut T, update: T) -> Result<(), ReducerError>
    where
        T: Default,
    {
        let value = std::mem::take(current);
        *current = self.merge(value, update);
        Ok(())
    }

    /// Fixes whatever is random in an update, once, before it is stored and merged.
    fn prepare(&self, update: &mut T) {
        let _ = update;
    }
}

/// A function as a [`Reducer`].
///
/// # Examples
///
/// ```
/// use langgraph::state::{Reducer, ReducerFn};
///
/// const SUM: ReducerFn<fn(i64, i64) -> i64> = ReducerFn::new(|a, b| a + b);
/// assert_eq!(SUM.merge(2, 3), 5);
/// ```
#[derive(Clone, Copy)]
pub struct ReducerFn<F>(F);

impl<F> ReducerFn<F> {
    /// Wraps `merge`, a `Fn(T, T) -> T`.
    pub const fn new(merge: F) -> Self {
        Self(merge)
    }
}

impl<F> fmt::Debug for ReducerFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReducerFn")
    }
}

impl<T, F> Reducer<T> for ReducerFn<F>
where
    F: Fn(T, T) -> T + Send + Sync + 'static,
{
    fn merge(&self, current: T, update: T) -> T {
        (self.0)(current, update)
    }
}

/// Why an update could not be merged.
#[derive(Debug, thiserror::Error)]
#[error("field `{field}`: {reason}")]
pub struct ReducerError {
    field: String,
    reason: String,
}

impl ReducerError {
    /// An error with that reason. The field is filled in by the state that owns it.
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            field: String::new(),
            reason: reason.into(),
        }
    }

    /// Says which field refused the update.
    #[must_use]
    pub fn in_field(mut self, field: &str) -> Self {
        field.clone_into(&mut self.field);
        self
    }

    /// The field that refused the update.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Why it was refused.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}
