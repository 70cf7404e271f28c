//! Paths to subgraphs.

use std::fmt;
use std::sync::Arc;

use langgraph_topology::NodeName;

use langgraph_core::checkpoint::CheckpointId;

use crate::node::TaskChoice;

/// The path to a subgraph: the nodes that lead to it, outermost first.
///
/// If several tasks of a node run in parallel (sends), [`instance`](Self::instance) selects one. [`task`](Self::task)
/// selects any task by its id, also one of an earlier superstep.
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

/// A node on the path to a graph.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathNode {
    /// The node.
    pub node: NodeName,
    /// Which of its tasks; `None` means the only one of its superstep.
    pub task: Option<TaskChoice>,
    /// The checkpoint of the parent's log; `None` means the newest with such a task.
    pub at: Option<CheckpointId>,
}

impl PathNode {
    fn new(node: impl Into<NodeName>) -> Self {
        Self {
            node: node.into(),
            task: None,
            at: None,
        }
    }
}

impl SubgraphPath {
    /// Creates the path to the graph in this node.
    pub fn new(node: impl Into<NodeName>) -> Self {
        Self(vec![PathNode::new(node)])
    }

    /// Selects one of the last node's parallel tasks: its number in the order of the sends, from 0.
    #[must_use]
    pub fn instance(self, index: usize) -> Self {
        self.choose(TaskChoice::Number(index))
    }

    /// Selects a task of the last node by its [id](crate::checkpoint::Snapshot::task_id), which its events have too. It
    /// may be of an earlier superstep, and of another branch of the thread.
    #[must_use]
    pub fn task(self, id: impl Into<Arc<str>>) -> Self {
        self.choose(TaskChoice::Id(id.into()))
    }

    fn choose(mut self, task: TaskChoice) -> Self {
        if let Some(last) = self.0.last_mut() {
            last.task = Some(task);
        }
        self
    }

    /// Extends the path to the graph in this node of the current graph.
    #[must_use]
    pub fn then(mut self, node: impl Into<NodeName>) -> Self {
        self.0.push(PathNode::new(node));
        self
    }

    /// Returns the path from that checkpoint of its first log.
    pub fn starting_at(mut self, at: Option<CheckpointId>) -> Self {
        if let Some(first) = self.0.first_mut() {
            first.at = at;
        }
        self
    }

    /// Appends another path.
    pub fn join(mut self, further: Self) -> Self {
        self.0.extend(further.0);
        self
    }

    /// Returns true if it names a checkpoint.
    pub fn names_checkpoint(&self) -> bool {
        self.0.iter().any(|node| node.at.is_some())
    }

    /// Returns the nodes, outermost first.
    pub fn nodes(&self) -> &[PathNode] {
        &self.0
    }

    /// Changes the name of a node to its current one.
    pub fn rename(&mut self, index: usize, name: NodeName) {
        if let Some(node) = self.0.get_mut(index) {
            node.node = name;
        }
    }

    /// Returns the names of the nodes.
    pub fn names(&self) -> Vec<NodeName> {
        self.0.iter().map(|node| Arc::clone(&node.node)).collect()
    }

    /// Returns the path up to that node.
    pub fn up_to(&self, index: usize) -> String {
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

/// Converts a [namespace](crate::interrupt::Interrupt::namespace) of an interrupt.
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
        match &self.task {
            Some(TaskChoice::Number(number)) => write!(f, "[{number}]"),
            Some(TaskChoice::Id(id)) => write!(f, ":{id}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for SubgraphPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.up_to(self.0.len()))
    }
}
