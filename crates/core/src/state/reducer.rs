//! Reducers of fields.

use std::fmt;

use crate::error::ReducerError;

/// Merges an update into a field's value.
///
/// A reducer must be deterministic: the same `current` and `update` give the same result, because a
/// thread is rebuilt by applying its updates again. [`prepare`](Reducer::prepare) fixes random
/// values, such as missing message ids, on the update beforehand.
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
///
/// An update may have a type of its own, `U`; the field says so by `#[reducer(stack, update = U)]`.
///
/// ```
/// use langgraph::prelude::*;
///
/// /// `Some(desk)` puts a desk on the stack, `None` takes one off.
/// fn stack(mut desks: Vec<String>, update: Option<String>) -> Vec<String> {
///     match update {
///         Some(desk) => desks.push(desk),
///         None => drop(desks.pop()),
///     }
///     desks
/// }
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Support {
///     #[reducer(stack, update = Option<String>)]
///     desks: Vec<String>,
/// }
///
/// let support = Support::default().merge(SupportUpdate::default().desks(Some("flights".into())))?;
/// assert_eq!(support.desks, ["flights"]);
/// assert!(support.merge(SupportUpdate::default().desks(None))?.desks.is_empty());
/// # Ok::<(), langgraph::error::ReducerError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a reducer of `{T}`",
    label = "expected a reducer of `{T}`",
    note = "a reducer is a `fn({T}, {U}) -> {T}`, a closure of that shape, or a value that implements `Reducer<{T}>`"
)]
pub trait Reducer<T, U = T>: Send + Sync + 'static {
    /// Returns the new value of a field with value `current` after the write `update`.
    fn merge(&self, current: T, update: U) -> T;

    /// Merges in place, and says why if it cannot.
    ///
    /// The runtime calls this method. Reducers that grow a collection override it, so that they
    /// cost only what they add. Reducers that can refuse an update override it to return an error.
    ///
    /// # Errors
    ///
    /// [`ReducerError`] if the update does not fit the current value. `current` may have changed by
    /// then; the run that wrote it ends.
    fn try_merge(&self, current: &mut T, update: U) -> Result<(), ReducerError>
    where
        T: Default,
    {
        let value = std::mem::take(current);
        *current = self.merge(value, update);
        Ok(())
    }

    /// Fixes random values in an update, once, before it is stored and merged.
    fn prepare(&self, update: &mut U) {
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
    /// Wraps `merge`, a `Fn(T, U) -> T`.
    pub const fn new(merge: F) -> Self {
        Self(merge)
    }
}

impl<F> fmt::Debug for ReducerFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReducerFn")
    }
}

impl<T, U, F> Reducer<T, U> for ReducerFn<F>
where
    F: Fn(T, U) -> T + Send + Sync + 'static,
{
    fn merge(&self, current: T, update: U) -> T {
        (self.0)(current, update)
    }
}
