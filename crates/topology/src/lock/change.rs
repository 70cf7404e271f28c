//! Changes that waiting threads do not survive.

use crate::{KeyKind, NodeName, SourceLocation, Topology};

/// A change of a graph that strands a waiting thread, or continues it with another meaning.
///
/// Its text says what to do, after the place in `graph!` that it concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakingChange {
    /// The path of nodes to the subgraph that has changed; empty for the graph itself.
    pub path: Vec<NodeName>,
    /// What has changed.
    pub what: Broken,
    /// The place that it concerns, if the graph is written with `graph!`: that of the node, of its
    /// replacement if it is gone, or of the graph.
    pub location: Option<SourceLocation>,
}

/// What a breaking change has broken. Each bears the name of its rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// A node for which a thread may wait is gone, or one of its former names.
    NodeGone {
        /// The name that the thread has stored.
        node: NodeName,
        /// A new node that may have taken its place.
        did_you_mean: Option<NodeName>,
    },
    /// A node takes another item, none any more, or one now.
    ItemChanged {
        /// The node.
        node: NodeName,
        /// The type of the item that threads have stored; nothing for a node without items.
        stored: Option<String>,
        /// The type of the item that the node takes now; nothing for a node without items.
        now: Option<String>,
    },
    /// A node runs another subgraph or agent, or none any more.
    SubgraphExchanged {
        /// The node.
        node: NodeName,
        /// The name of the subgraph or agent in which a thread may wait.
        stored: String,
    },
    /// The state has another name.
    StateRenamed {
        /// The name that threads have stored.
        stored: String,
        /// The name now.
        now: String,
    },
    /// The version of the state is lower than that of the stored values.
    VersionLowered {
        /// The version of the stored values.
        stored: u32,
        /// The version now.
        now: u32,
    },
    /// A stored field is gone, or one of its former names.
    FieldGone {
        /// The name of the field.
        field: String,
        /// The next version of the state.
        version: u32,
    },
    /// A field has another type.
    FieldRetyped {
        /// The field.
        field: String,
        /// The type of the stored values.
        stored: String,
        /// The type now.
        now: String,
        /// The next version of the state.
        version: u32,
    },
    /// The type of a field has kept its name, and no longer takes what its older form took.
    FieldReshaped {
        /// The field.
        field: String,
        /// Its type.
        ty: String,
        /// The part of the type that has changed, and what to do.
        change: String,
        /// The next version of the state.
        version: u32,
    },
    /// A field has another reducer.
    ReducerChanged {
        /// The field.
        field: String,
        /// The reducer by which threads have merged the field; empty for none.
        stored: String,
        /// The reducer now; empty for none.
        now: String,
        /// The next version of the state.
        version: u32,
    },
    /// An interrupt is gone, or takes an answer of another type.
    InterruptChanged {
        /// The node.
        node: NodeName,
        /// The key.
        key: String,
        /// The type of the answer for which threads wait; empty if it is unknown.
        stored: String,
        /// The type of the answer now; nothing if the interrupt is gone.
        now: Option<String>,
    },
    /// A tool runs without the approval of a person, or is gone.
    ApprovalGone {
        /// The node.
        node: NodeName,
        /// The tool.
        tool: String,
    },
    /// Work that is done once has another key.
    OnceRenamed {
        /// The node.
        node: NodeName,
        /// The key under which threads have stored the result.
        key: String,
    },
    /// The result of work that is done once has another type.
    OnceRetyped {
        /// The node.
        node: NodeName,
        /// The key under which threads have stored the result.
        key: String,
        /// The type of the stored result.
        stored: String,
        /// The type of the result now.
        now: String,
    },
    /// A function no longer calls a task, or the task returns another type.
    TaskChanged {
        /// The node that runs the function.
        node: NodeName,
        /// The task.
        task: String,
        /// The type of the stored result; empty if it is unknown.
        stored: String,
        /// The type of the result now; nothing if the function no longer calls the task.
        now: Option<String>,
    },
    /// The type of an answer or a result has kept its name, and no longer takes what its older form took.
    ShapeChanged {
        /// The node.
        node: NodeName,
        /// What the key names.
        kind: KeyKind,
        /// The key.
        key: String,
        /// The type.
        ty: String,
        /// The part of the type that has changed, and what to do.
        change: String,
    },
    /// A join is gone, or has other sources or another target.
    JoinChanged {
        /// The nodes that it waited for.
        sources: Vec<NodeName>,
        /// The node that ran after all of them.
        target: NodeName,
    },
    /// A node no longer leads to a node that it led to.
    RouteGone {
        /// The node at which a thread may wait.
        from: NodeName,
        /// The node that it went on to.
        to: NodeName,
    },
}

impl Broken {
    /// Returns the place in the graph of today that it concerns.
    pub(super) fn location(&self, now: &Topology) -> Option<SourceLocation> {
        let places = &now.locations;
        let place = match self {
            Self::NodeGone { did_you_mean, .. } => {
                did_you_mean.as_ref().and_then(|node| places.node(node))
            }
            Self::ItemChanged { node, .. }
            | Self::SubgraphExchanged { node, .. }
            | Self::InterruptChanged { node, .. }
            | Self::ApprovalGone { node, .. }
            | Self::OnceRenamed { node, .. }
            | Self::OnceRetyped { node, .. }
            | Self::ShapeChanged { node, .. }
            | Self::TaskChanged { node, .. } => places.node(node),
            Self::JoinChanged { target, .. } => {
                let target = now.stored_node(target);
                target.and_then(|target| places.node(&target.name))
            }
            Self::RouteGone { from, .. } => places.source(from),
            Self::StateRenamed { .. }
            | Self::VersionLowered { .. }
            | Self::FieldGone { .. }
            | Self::FieldRetyped { .. }
            | Self::FieldReshaped { .. }
            | Self::ReducerChanged { .. } => None,
        };
        place.or_else(|| places.graph())
    }

    /// Creates the finding about a key that is gone.
    pub(super) fn key_gone(node: &NodeName, kind: KeyKind, key: &str, ty: &str) -> Self {
        let (node, key) = (node.clone(), key.to_owned());
        match kind {
            KeyKind::Interrupt => Self::InterruptChanged {
                node,
                key,
                stored: ty.to_owned(),
                now: None,
            },
            KeyKind::Once => Self::OnceRenamed { node, key },
            KeyKind::Approval => Self::ApprovalGone { node, tool: key },
            KeyKind::Task => Self::TaskChanged {
                node,
                task: key,
                stored: ty.to_owned(),
                now: None,
            },
        }
    }
}
