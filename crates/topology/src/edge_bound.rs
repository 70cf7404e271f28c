//! Bounds of edges.

use std::sync::Arc;

/// How often a run follows an edge, and where it goes instead after that.
///
/// In `graph!` it is written at the target: `review => write at_most 5 else publish`. It holds for
/// every way from one node to the other: an edge, an arm of a router, a jump, a send. An edge counts
/// once in a superstep; a send counts each time.
///
/// # Examples
///
/// ```
/// use langgraph::graph::EdgeBound;
///
/// let bound = EdgeBound::new("review", "write", 5).or_else("publish");
/// assert_eq!((bound.at_most, bound.exit.as_deref()), (5, Some("publish")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EdgeBound {
    /// The source of the edge.
    pub from: Arc<str>,
    /// The target of the edge.
    pub to: Arc<str>,
    /// How often a run follows it.
    pub at_most: u32,
    /// A node, or [`END`](crate::END), where the run goes after that. Without one, the run fails.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub exit: Option<Arc<str>>,
}

impl EdgeBound {
    /// Bounds the edge between two nodes. A run that would follow it more often fails: with 0, one that would follow
    /// it at all.
    pub fn new(from: impl AsRef<str>, to: impl AsRef<str>, at_most: u32) -> Self {
        Self {
            from: from.as_ref().into(),
            to: to.as_ref().into(),
            at_most,
            exit: None,
        }
    }

    /// Sets the node, or [`END`](crate::END), where a run goes that would follow the edge more often.
    #[must_use]
    pub fn or_else(mut self, exit: impl AsRef<str>) -> Self {
        self.exit = Some(exit.as_ref().into());
        self
    }

    /// Returns what pictures write at the edge: `at most 5`, after its own label.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::graph::EdgeBound;
    ///
    /// let bound = EdgeBound::new("review", "write", 5);
    /// assert_eq!(bound.label(None), "at most 5");
    /// assert_eq!(bound.label(Some("again")), "again, at most 5");
    /// ```
    #[must_use]
    pub fn label(&self, own: Option<&str>) -> String {
        let text = format!("at most {}", self.at_most);
        match own {
            Some(own) => format!("{own}, {text}"),
            None => text,
        }
    }

    /// Returns what pictures write at the line to its exit: `after 5 to write`.
    #[must_use]
    pub fn exit_label(&self) -> String {
        format!("after {} to {}", self.at_most, self.to)
    }
}
