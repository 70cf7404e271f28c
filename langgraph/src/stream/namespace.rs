//! The place of an event's graph.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use langgraph_topology::NodeName;
use serde::{Serialize, Serializer};

/// The path of nodes to the graph of an event, outermost first: a slice of names, empty for the root graph.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::stream::StreamOptions;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut inner = StateGraph::<i64>::new();
/// inner.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
/// let mut outer = StateGraph::<i64>::new();
/// outer.add_node("math", inner.compile()?).add_sequence(&["math"]);
///
/// let options = StreamOptions::new(StreamMode::Updates).subgraphs();
/// let mut events = outer.compile()?.run(21).stream(options);
/// let mut paths = Vec::new();
/// while let Some(event) = events.next().await {
///     paths.push(event?.namespace.join("/"));
/// }
/// assert_eq!(paths, ["math", ""]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Namespace(
    /// `None` at the root, where most events are: cloning it counts nothing.
    Option<Arc<[NodeName]>>,
);

impl From<Arc<[NodeName]>> for Namespace {
    fn from(path: Arc<[NodeName]>) -> Self {
        Self((!path.is_empty()).then_some(path))
    }
}

impl Deref for Namespace {
    type Target = [NodeName];

    fn deref(&self) -> &[NodeName] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Serialize for Namespace {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
