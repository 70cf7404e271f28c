//! What a graph looks like, as data: names and lines, no code and no state type.
//!
//! Validation, lints, drawing and the description that a server hands out all read this one
//! structure. It is the same whether the graph was written with the builder or with `graph!`.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of a node. Cheap to clone.
pub type NodeName = Arc<str>;

/// The virtual node every run starts from.
pub const START: &str = "__start__";

/// The virtual node that ends a branch.
pub const END: &str = "__end__";

/// A graph as data: its nodes, and every line that can be followed between them.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Topology {
    /// The graph's name, shown in drawings and traces.
    pub name: String,
    /// The nodes in the order in which they were added, without [`START`] and [`END`].
    pub nodes: Vec<NodeInfo>,
    /// Unconditional edges, in the order in which they were added.
    pub edges: Vec<Edge>,
    /// Edges that wait for several nodes.
    pub joins: Vec<Join>,
    /// Conditional edges.
    pub branches: Vec<Branch>,
    /// Where nodes that decide for themselves say they may go (`planner => goto [a, END]`).
    pub destinations: Vec<Destinations>,
    /// The fields of the state, as far as they are known before a run.
    #[cfg_attr(feature = "serde", serde(default))]
    pub fields: Vec<FieldInfo>,
    /// Breakpoints before nodes.
    pub interrupt_before: Breakpoints,
    /// Breakpoints after nodes.
    pub interrupt_after: Breakpoints,
    /// True when every route is known: the graph was written with `graph!`.
    ///
    /// Lints are errors there, and a jump that is not declared is one at run time.
    pub closed: bool,
}

/// A field of the state that a graph works on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FieldInfo {
    /// The field's name.
    pub name: String,
    /// True when a reducer merges the writes, so that several nodes may write it side by side.
    pub reduced: bool,
}

impl FieldInfo {
    /// A field of that name.
    pub fn new(name: impl Into<String>, reduced: bool) -> Self {
        Self {
            name: name.into(),
            reduced,
        }
    }
}

/// One node of a [`Topology`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct NodeInfo {
    /// The name under which the node was added.
    pub name: NodeName,
    /// What stands behind the name.
    pub kind: NodeKind,
    /// True for a node that waits until nothing else is pending.
    pub defer: bool,
    /// True when the node's output type can name the next node (`Next`, `Command`).
    pub may_goto: bool,
    /// Attempts allowed by the node's retry policies; 1 without any.
    pub max_attempts: u32,
    /// The fields the node says it writes, when it says so.
    pub writes: Option<Vec<String>>,
    /// The doc comment of the node's function.
    pub docs: Option<String>,
    /// Labels the user gave the node.
    pub metadata: BTreeMap<String, String>,
    /// Tags the user gave the node.
    pub tags: Vec<String>,
}

impl NodeInfo {
    /// A plain function node of that name.
    pub fn new(name: impl AsRef<str>) -> Self {
        Self {
            name: name.as_ref().into(),
            kind: NodeKind::Function,
            defer: false,
            may_goto: false,
            max_attempts: 1,
            writes: None,
            docs: None,
            metadata: BTreeMap::new(),
            tags: Vec::new(),
        }
    }
}

/// What stands behind a node's name.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum NodeKind {
    /// Code of this process.
    Function,
    /// A node that takes an item of its own instead of the state alone; started by sends.
    Worker,
    /// Another graph.
    Subgraph(Box<Topology>),
    /// An agent somewhere else.
    Remote {
        /// The agent's id.
        agent: String,
    },
}

/// An unconditional edge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Edge {
    /// A node, or [`START`].
    pub from: NodeName,
    /// A node, or [`END`].
    pub to: NodeName,
}

/// An edge that waits for all of its sources: `[a, b] => c`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Join {
    /// The nodes that are waited for.
    pub sources: Vec<NodeName>,
    /// The node that runs once all of them have.
    pub target: NodeName,
}

/// A conditional edge: code picks one of its arms.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Branch {
    /// The node (or [`START`]) after which the router is asked.
    pub source: NodeName,
    /// The ways it can answer; `None` when it may name any node.
    pub arms: Option<Vec<Arm>>,
}

/// One answer of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Arm {
    /// The key, or the pattern of the `match` arm, as drawn on the line.
    pub label: String,
    /// Where it leads: nodes or [`END`]; several start side by side, none ends the branch.
    pub targets: Vec<NodeName>,
    /// True when the target runs once per item of a list (`for … in …`).
    pub map: bool,
}

/// Where a node that decides for itself says it may go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Destinations {
    /// The node that decides.
    pub source: NodeName,
    /// Nodes, or [`END`].
    pub targets: Vec<NodeName>,
}

/// The nodes at which a run pauses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Breakpoints {
    /// Nowhere.
    #[default]
    None,
    /// At every node.
    All,
    /// At these nodes.
    Nodes(Vec<NodeName>),
}

impl Topology {
    /// The node of that name.
    pub fn node(&self, name: &str) -> Option<&NodeInfo> {
        self.nodes.iter().find(|node| &*node.name == name)
    }
}
