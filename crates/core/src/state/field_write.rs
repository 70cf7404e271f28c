//! What an update writes to a field whose updates have a type of their own.

/// What an update writes to a field whose updates have a type of their own, `#[reducer(f, update = U)]`.
///
/// The setters of an update and its `overwrite_` methods take plain values; a struct literal names the form.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::state::FieldWrite;
///
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
/// let leave = SupportUpdate { desks: Some(FieldWrite::Update(None)) };
/// assert_eq!(leave, SupportUpdate::default().desks(None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldWrite<U, T> {
    /// An update, for the reducer.
    Update(U),
    /// The value of the field, without the reducer.
    Whole(T),
}
