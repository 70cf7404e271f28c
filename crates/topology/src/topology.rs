//! A graph as data: names and edges, without code and without a state type.
//!
//! Validation, lints, drawing and the description that a server publishes all read this one
//! structure. The builder and `graph!` make the same one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{Calls, EdgeBound, KeyInfo, Locations, ToolInfo};

/// The name of a node. Cheap to clone.
pub type NodeName = Arc<str>;

/// The virtual node where every run starts.
pub const START: &str = "__start__";

/// The virtual node where a branch ends.
pub const END: &str = "__end__";

/// A graph as data: its nodes, and every edge between them.
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
    /// The declared jump targets of nodes (`planner => goto [a, END]`).
    pub destinations: Vec<Destinations>,
    /// How often runs follow edges, where that is bounded.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub edge_bounds: Vec<EdgeBound>,
    /// The fields that have a value when a run starts, if the graph declares them.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub input: Option<Vec<String>>,
    /// The fields that others than nodes read, if the graph declares them.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub output: Option<Vec<String>>,
    /// The fields of the state, as far as they are known before a run.
    #[cfg_attr(feature = "serde", serde(default))]
    pub fields: Vec<FieldInfo>,
    /// The type of the state, if it is known.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub state: Option<StateInfo>,
    /// Breakpoints before nodes.
    pub interrupt_before: Breakpoints,
    /// Breakpoints after nodes.
    pub interrupt_after: Breakpoints,
    /// Where it is written, if that was with `graph!`.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub locations: Locations,
    /// True if every route is known: the graph was written with `graph!`.
    ///
    /// Lints are errors there, and an undeclared jump is an error at run time.
    pub closed: bool,
}

/// The type of the state that a graph works on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StateInfo {
    /// Its name, without modules.
    pub name: String,
    /// Its former names.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub aliases: Vec<String>,
    /// Its version.
    pub version: u32,
    /// True if a function converts values of older versions.
    pub migrates: bool,
}

impl StateInfo {
    /// Creates the description of a type without versions.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// A field of the state that a graph works on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct FieldInfo {
    /// The field's name.
    pub name: String,
    /// True if a reducer merges the writes, so that several parallel nodes may write it.
    pub reduced: bool,
    /// The text of its type; empty if it is unknown.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "String::is_empty")
    )]
    pub ty: String,
    /// What the JSON of its values is made of, as [`KeyInfo::shape`]; empty if the text of the type says it, or
    /// if it is unknown. The serialized form does not have it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub shape: String,
    /// The name of its reducer; empty if it has none or the name is unknown.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "String::is_empty")
    )]
    pub reducer: String,
    /// Its former names.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub aliases: Vec<String>,
    /// True if it lives for the run and is never stored.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub untracked: bool,
}

impl FieldInfo {
    /// Creates a field.
    pub fn new(name: impl Into<String>, reduced: bool) -> Self {
        Self {
            name: name.into(),
            reduced,
            ..Self::default()
        }
    }

    /// Sets the text of its type.
    #[must_use]
    pub fn typed(mut self, ty: impl Into<String>) -> Self {
        self.ty = ty.into();
        self
    }
}

/// One node of a [`Topology`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
#[allow(clippy::struct_excessive_bools)] // each is an option of its own
pub struct NodeInfo {
    /// The name under which the node was added.
    pub name: NodeName,
    /// What the node is.
    pub kind: NodeKind,
    /// True for a node that waits until nothing else is pending.
    pub defer: bool,
    /// True if the node declares that it may interrupt.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub interrupts: bool,
    /// True if the node may run in another process.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub anywhere: bool,
    /// True if the node's output type can name the next node (`Next`, `Command`).
    pub may_goto: bool,
    /// Attempts allowed by the node's retry policies; 1 without any.
    pub max_attempts: u32,
    /// The fields that the node declares to write, if it declares them.
    pub writes: Option<Vec<String>>,
    /// The fields that the node reads at most, if they are known.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub reads: Option<Vec<String>>,
    /// The fields that the node writes at most, if they are known.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub may_write: Option<Vec<String>>,
    /// The doc comment of the node's function.
    pub docs: Option<String>,
    /// Its former names: threads that wait for one of them continue with this node.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub aliases: Vec<String>,
    /// The calls of its function that threads remember by a key, as far as they are known.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub keys: Vec<KeyInfo>,
    /// What it declares to call.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Calls::is_empty")
    )]
    pub calls: Calls,
    /// The tools that it runs, as far as they are known.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Vec::is_empty")
    )]
    pub tools: Vec<ToolInfo>,
    /// The type of a worker's item, without modules; empty if it is unknown.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "String::is_empty")
    )]
    pub item: String,
    /// Labels the user gave the node.
    pub metadata: BTreeMap<String, String>,
    /// Tags the user gave the node.
    pub tags: Vec<String>,
}

impl NodeInfo {
    /// Creates a plain function node.
    pub fn new(name: impl AsRef<str>) -> Self {
        Self {
            name: name.as_ref().into(),
            kind: NodeKind::Function,
            defer: false,
            interrupts: false,
            anywhere: false,
            may_goto: false,
            max_attempts: 1,
            writes: None,
            reads: None,
            may_write: None,
            docs: None,
            aliases: Vec::new(),
            keys: Vec::new(),
            calls: Calls::default(),
            tools: Vec::new(),
            item: String::new(),
            metadata: BTreeMap::new(),
            tags: Vec::new(),
        }
    }
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum NodeKind {
    /// Code of this process.
    Function,
    /// A node that also takes an item; sends start it.
    Worker,
    /// Another graph.
    Subgraph(Box<Topology>),
    /// A remote agent.
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
    /// The nodes that it waits for.
    pub sources: Vec<NodeName>,
    /// The node that runs after all of them.
    pub target: NodeName,
}

/// A conditional edge: code chooses one of its arms.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Branch {
    /// The node (or [`START`]) whose router decides.
    pub source: NodeName,
    /// The possible answers; `None` if the router may name any node.
    pub arms: Option<Vec<Arm>>,
}

/// One answer of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Arm {
    /// The key, or the pattern of the `match` arm, as drawn on the line.
    pub label: String,
    /// Its targets: nodes or [`END`]; several start in parallel, an empty list ends the branch.
    pub targets: Vec<NodeName>,
    /// True when the target runs once per item of a list (`for … in …`).
    pub map: bool,
}

/// The declared jump targets of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Destinations {
    /// The node that jumps.
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
    /// Returns the node of that name.
    pub fn node(&self, name: &str) -> Option<&NodeInfo> {
        #[cfg(test)]
        crate::algo::work::count(self.nodes.len());
        self.nodes.iter().find(|node| &*node.name == name)
    }

    /// Returns the node that continues what a thread has stored under a name: the node of that name, or else
    /// the one that has it as an alias.
    pub fn stored_node(&self, name: &str) -> Option<&NodeInfo> {
        let mut nodes = self.nodes.iter();
        let called = |node: &&NodeInfo| node.aliases.iter().any(|alias| alias == name);
        self.node(name).or_else(|| nodes.find(called))
    }

    /// Returns the node at a path through subgraphs, such as `research:search`. Names of nodes have no
    /// colons.
    pub fn node_at(&self, path: &str) -> Option<&NodeInfo> {
        let Some((name, rest)) = path.split_once(':') else {
            return self.node(path);
        };
        match &self.node(name)?.kind {
            NodeKind::Subgraph(inner) => inner.node_at(rest),
            _ => None,
        }
    }

    /// Returns the path of the first node, also of a subgraph, that declares that it may interrupt.
    pub fn interrupting_node(&self) -> Option<String> {
        self.nodes.iter().find_map(|node| match &node.kind {
            _ if node.interrupts => Some(node.name.to_string()),
            NodeKind::Subgraph(inner) => {
                let path = inner.interrupting_node()?;
                Some(format!("{}/{path}", node.name))
            }
            _ => None,
        })
    }
}
