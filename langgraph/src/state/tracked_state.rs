//! States whose written fields are known.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::written_fields::WrittenFields;
use super::{FieldSet, State};

/// A state of a run, and which of its fields something has written.
///
/// It is used like the state: it dereferences to it, and serializes as it.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::stream::EventKind;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Order {
///     item: String,
///     price: u32,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<Order>::new();
/// graph.add_node("price", |_: &Order| OrderUpdate::default().price(0)).add_sequence(&["price"]);
/// let graph = graph.compile()?;
///
/// let mut events = graph.run(OrderUpdate::default().item("tea".to_owned())).stream(StreamMode::Values);
/// let mut written = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Values(order) = event?.kind {
///         assert_eq!(order.item, "tea");
///         written.push(order.written().map(|fields| fields.iter().count()));
///     }
/// }
/// // The price is 0 both times, but the first time nothing has written it.
/// assert_eq!(written, [Some(1), Some(2)]);
/// # Ok(())
/// # }
/// ```
pub struct TrackedState<S> {
    pub(crate) state: Arc<S>,
    pub(crate) written: WrittenFields,
}

impl<S: State> TrackedState<S> {
    /// Creates it of a state that nothing has written to.
    pub(crate) const fn unwritten(state: Arc<S>) -> Self {
        Self {
            state,
            written: WrittenFields::NONE,
        }
    }

    /// Creates it of a state of which nothing is known.
    pub(crate) const fn unknown(state: Arc<S>) -> Self {
        Self {
            state,
            written: WrittenFields::Unknown,
        }
    }

    /// Returns the fields that an input, a node or an update from outside has written, by their position
    /// in [`State::fields`]; `None` if it is unknown: for a thread that an older version has stored, and
    /// for the state of a [send](crate::node::Send::state).
    ///
    /// An ephemeral field is one of them until it has its default again.
    pub fn written(&self) -> Option<FieldSet> {
        self.written.fields()
    }

    /// Returns the state.
    pub fn into_state(self) -> S {
        Arc::unwrap_or_clone(self.state)
    }
}

impl<S> Clone for TrackedState<S> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            written: self.written.clone(),
        }
    }
}

impl<S> Deref for TrackedState<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.state
    }
}

impl<S: fmt::Debug> fmt::Debug for TrackedState<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)
    }
}

impl<S: Serialize> Serialize for TrackedState<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        self.state.serialize(serializer)
    }
}
