//! Where a graph is inside others.

use std::fmt;
use std::sync::Arc;

use crate::checkpoint::CheckpointId;
use crate::graph::NodeName;

/// Names a graph inside a graph: the nodes on the way, outermost first.
///
/// Where several tasks of a node run side by side (sends), [`instance`](Self::instance) says which.
///
/// # Examples
///
/// ```
/// use langgraph::thread::SubgraphPath;
///
/// let path = SubgraphPath::new("research").instance(1).then("search");
/// assert_eq!(path.to_string(), "research[1]/search");
/// assert_eq!(SubgraphPath::from(["research", "search"]).to_string(), "research/search");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SubgraphPath(Vec<PathNode>);

/// A node on the way to a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PathNode {
    pub(super) node: NodeName,
    /// Which of its tasks.
    pub(super) instance: Option<usize>,
    /// The checkpoint of the log around it; without one, the newest that has such a task.
    pub(super) at: Option<CheckpointId>,
}

impl PathNode {
    fn new(node: impl Into<NodeName>) -> Self {
        Self {
            node: node.into(),
            instance: None,
            at: None,
        }
    }
}

impl SubgraphPath {
    /// The graph that this node is.
    pub fn new(node: impl Into<NodeName>) -> Self {
        Self(vec![PathNode::new(node)])
    }

    /// Of the last node's tasks that run side by side, that one: in the order in which they were
    /// sent, from 0.
    #[must_use]
    pub fn instance(mut self, index: usize) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.instance = Some(index);
        }
        self
    }

    /// The graph that this node is, inside the graph so far.
    #[must_use]
    pub fn then(mut self, node: impl Into<NodeName>) -> Self {
        self.0.push(PathNode::new(node));
        self
    }

    /// The same way, from that checkpoint of the log that it begins in.
    pub(super) fn starting_at(mut self, at: Option<CheckpointId>) -> Self {
        if let Some(first) = self.0.first_mut() {
            first.at = at;
        }
        self
    }

    /// This way, and then another.
    pub(super) fn join(mut self, further: Self) -> Self {
        self.0.extend(further.0);
        self
    }

    /// True when it leads through a checkpoint that is named.
    pub(super) fn names_checkpoint(&self) -> bool {
        self.0.iter().any(|node| node.at.is_some())
    }

    /// The nodes, outermost first.
    pub(super) fn nodes(&self) -> &[PathNode] {
        &self.0
    }

    /// Calls a node by the name it has today.
    pub(super) fn rename(&mut self, index: usize, name: NodeName) {
        if let Some(node) = self.0.get_mut(index) {
            node.node = name;
        }
    }

    pub(in crate::thread) fn names(&self) -> Vec<NodeName> {
        self.0.iter().map(|node| Arc::clone(&node.node)).collect()
    }

    /// The way up to that node.
    pub(super) fn up_to(&self, index: usize) -> String {
        let nodes = self.0.iter().take(index + 1).map(ToString::to_string);
        nodes.collect::<Vec<_>>().join("/")
    }
}

impl From<&str> for SubgraphPath {
    fn from(node: &str) -> Self {
        Self::new(node)
    }
}

impl From<String> for SubgraphPath {
    fn from(node: String) -> Self {
        Self::new(node)
    }
}

impl From<NodeName> for SubgraphPath {
    fn from(node: NodeName) -> Self {
        Self::new(node)
    }
}

impl<T: Into<NodeName>, const N: usize> From<[T; N]> for SubgraphPath {
    fn from(nodes: [T; N]) -> Self {
        nodes.into_iter().collect()
    }
}

/// Such as the [namespace](crate::node::Interrupt::namespace) of a question.
impl From<&[NodeName]> for SubgraphPath {
    fn from(nodes: &[NodeName]) -> Self {
        nodes.iter().cloned().collect()
    }
}

impl<T: Into<NodeName>> FromIterator<T> for SubgraphPath {
    fn from_iter<I: IntoIterator<Item = T>>(nodes: I) -> Self {
        Self(nodes.into_iter().map(PathNode::new).collect())
    }
}

impl fmt::Display for PathNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.node)?;
        match self.instance {
            Some(instance) => write!(f, "[{instance}]"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SubgraphPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.up_to(self.0.len()))
    }
}
