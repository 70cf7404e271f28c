//! The fields that a node uses.

/// The fields that a node function reads and writes at most, as `#[node]` sees them.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Trip {
///     goal: String,
///     plan: String,
/// }
///
/// #[node]
/// async fn plan(trip: &Trip) -> TripUpdate {
///     TripUpdate::default().plan(format!("to {}", trip.goal))
/// }
///
/// let graph = graph! { START => plan => END }.compile()?;
/// let node = graph.topology().node("plan").unwrap();
/// assert_eq!(node.reads.as_deref(), Some(&["goal".to_owned()][..]));
/// assert_eq!(node.may_write.as_deref(), Some(&["plan".to_owned()][..]));
/// # Ok::<(), CompilationErrors>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedFields {
    /// The fields that it reads, if they are known.
    pub reads: Option<&'static [&'static str]>,
    /// The fields that it writes, if they are known.
    pub writes: Option<&'static [&'static str]>,
}
