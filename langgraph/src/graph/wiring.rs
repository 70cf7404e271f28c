//! The successors of a graph's nodes, by index.

use std::sync::Arc;

use super::index::Index;
use super::routes::ErasedRouter;
use super::{Join, NodeName, StateGraph};
use crate::node::NodeId;
use crate::state::State;

/// The successors of a node.
#[derive(Clone)]
pub(crate) struct Outgoing<S: State> {
    /// Target nodes; edges to END are omitted, because they start nothing.
    pub(crate) edges: Box<[NodeId]>,
    pub(crate) joins: Box<[Arrival]>,
    pub(crate) routers: Box<[PlanRouter<S>]>,
    pub(crate) successors: Successors,
}

impl<S: State> Outgoing<S> {
    /// Returns the only node that follows, by the only edge or in the arm that the only router has picked, if
    /// it does not wait.
    #[inline]
    pub(crate) fn only_next(&self, arm: Option<usize>) -> Option<NodeId> {
        match (self.successors, &*self.routers, arm) {
            (Successors::One(next), ..) => Some(next),
            (Successors::Routed, [router], Some(arm)) => *router.next.get(arm)?,
            _ => None,
        }
    }

    /// Returns true if nothing follows.
    #[inline]
    pub(crate) const fn ends(&self) -> bool {
        matches!(self.successors, Successors::None)
    }

    /// As [`only_next`](Self::only_next), for edges that are counted.
    pub(crate) fn only_counted(&self, arm: Option<usize>) -> Option<NodeId> {
        match (self.successors, &*self.edges, &*self.routers, arm) {
            (Successors::Counted, [next], [], None) => Some(*next),
            (Successors::Counted, [], [router], Some(arm)) => *router.next.get(arm)?,
            _ => None,
        }
    }
}

/// The kind of a node's successors.
#[derive(Clone, Copy)]
pub(crate) enum Successors {
    /// One node, which does not wait.
    One(NodeId),
    /// Those that its only router picks.
    Routed,
    /// One of both, and an edge has a bound.
    Counted,
    /// None: the node leads to END.
    None,
    /// Anything else.
    Several,
}

/// The place of a node among the sources of a join.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) join: usize,
    pub(crate) source: usize,
}

#[derive(Clone)]
pub(crate) struct PlanRouter<S: State> {
    pub(crate) router: Arc<dyn ErasedRouter<S>>,
    /// The nodes of each arm.
    pub(crate) arms: Box<[Box<[NodeId]>]>,
    /// For each arm its only node, if that node does not wait.
    pub(crate) next: Box<[Option<NodeId>]>,
}

#[derive(Clone)]
pub(crate) struct PlanJoin {
    pub(crate) target: NodeId,
    pub(crate) sources: usize,
}

/// The successors of each node; START comes first.
pub(super) struct Wiring<S: State> {
    pub(super) outgoing: Vec<OutgoingBuilder<S>>,
    pub(super) joins: Vec<PlanJoin>,
    /// The sources, in the order of their places, and the target of each join.
    pub(super) join_names: Vec<(Vec<NodeName>, NodeName)>,
}

impl<S: State> Wiring<S> {
    pub(super) fn new(graph: &StateGraph<S>, index: &Index<'_>) -> Self {
        let mut wiring = Self {
            outgoing: Vec::new(),
            joins: Vec::new(),
            join_names: Vec::new(),
        };
        wiring
            .outgoing
            .resize_with(index.names.len(), OutgoingBuilder::default);
        for edge in &graph.topology.edges {
            if let (Some(out), Some(to)) = (wiring.behind(&edge.from, index), index.of(&edge.to))
                && !out.edges.contains(&to)
            {
                out.edges.push(to);
            }
        }
        for join in &graph.topology.joins {
            wiring.join(join, index);
        }
        for (branch, router) in graph.topology.branches.iter().zip(&graph.routers) {
            let arms = index.arms(branch.arms.as_deref().unwrap_or_default());
            if let Some(out) = wiring.behind(&branch.source, index) {
                let router = Arc::clone(router);
                out.routers.push(PlanRouter {
                    router,
                    arms,
                    next: Box::default(),
                });
            }
        }
        for bound in &graph.topology.edge_bounds {
            if let Some(out) = wiring.behind(&bound.from, index) {
                out.is_bounded = true;
            }
        }
        wiring
    }

    /// Returns the successors of the node of that name, or of START.
    fn behind(&mut self, name: &str, index: &Index<'_>) -> Option<&mut OutgoingBuilder<S>> {
        self.outgoing.get_mut(index.source(name)?.index())
    }

    fn join(&mut self, join: &Join, index: &Index<'_>) {
        // A join into END starts nothing.
        let Some(target) = index.of(&join.target) else {
            return;
        };
        let mut sources = index.all(&join.sources);
        NodeId::sort(&mut sources);
        let join_index = self.joins.len();
        for (source, from) in sources.iter().enumerate() {
            if let Some(out) = self.outgoing.get_mut(from.index()) {
                out.joins.push(Arrival {
                    join: join_index,
                    source,
                });
            }
        }
        let names = index.names(&sources);
        self.join_names.push((names, Arc::clone(&join.target)));
        self.joins.push(PlanJoin {
            target,
            sources: sources.len(),
        });
    }
}

pub(super) struct OutgoingBuilder<S: State> {
    edges: Vec<NodeId>,
    joins: Vec<Arrival>,
    routers: Vec<PlanRouter<S>>,
    /// True if an edge of the node has a bound.
    is_bounded: bool,
}

impl_default!([S: State] OutgoingBuilder<S> { edges, joins, routers, is_bounded });

impl<S: State> OutgoingBuilder<S> {
    pub(super) fn build(mut self, waits: &dyn Fn(NodeId) -> bool) -> Outgoing<S> {
        for PlanRouter { arms, next, .. } in &mut self.routers {
            *next = only_nodes(arms, waits);
        }
        let successors = match (&*self.edges, &*self.joins, &*self.routers) {
            ([], [], []) => Successors::None,
            ([next], [], []) if waits(*next) => Successors::Several,
            ([_], [], []) | ([], [], [_]) if self.is_bounded => Successors::Counted,
            ([next], [], []) => Successors::One(*next),
            ([], [], [_]) => Successors::Routed,
            _ => Successors::Several,
        };
        Outgoing {
            edges: self.edges.into(),
            joins: self.joins.into(),
            routers: self.routers.into(),
            successors,
        }
    }
}

/// Returns, for each arm, its only node, if that node does not wait.
fn only_nodes(arms: &[Box<[NodeId]>], waits: &dyn Fn(NodeId) -> bool) -> Box<[Option<NodeId>]> {
    let mut nodes = Vec::with_capacity(arms.len());
    for arm in arms {
        nodes.push(match **arm {
            [only] if !waits(only) => Some(only),
            _ => None,
        });
    }
    nodes.into()
}
