//! The compiled form of a graph, with indices instead of names.

use std::sync::{Arc, OnceLock};

use super::breakpoint_paths;
use super::copies::copy_of;
use super::index::{Index, names_of, sorted_by_name};
use super::stops::Stops;
use super::wiring::{Outgoing, OutgoingBuilder, PlanJoin, PlanRouter, Successors, Wiring};
use super::{Breakpoints, END, NodeName, START, StateGraph, Topology};
use crate::checkpoint::{Owner, owner_of};
use crate::error::AgentError;
use crate::graph::Around;
use crate::node::{Call, Items, NeededBy, NodeId, NodeRun, Output, PlanBound, Resources, Step};
use crate::policy::NodeCache;
use crate::spawn::Pace;
use crate::state::{FieldSet, State, TrackedState};

/// A compiled graph.
#[derive(Clone)]
pub(crate) struct Plan<S: State> {
    pub(crate) initial: S,
    pub(crate) topology: Topology,
    /// The fingerprint of the topology.
    pub(crate) fingerprint: u64,
    /// A subgraph that cannot be stored as bytes, and its state type.
    pub(crate) unstorable: Option<(NodeName, &'static str)>,
    /// The path of a node that declares that it may interrupt.
    pub(crate) interrupting: Option<String>,
    /// The names of `nodes`.
    pub(crate) names: Arc<[NodeName]>,
    /// The declared nodes, sorted by name.
    by_name: Box<[NodeId]>,
    /// START, then the nodes in the order of their declaration.
    pub(crate) nodes: Box<[PlanNode<S>]>,
    pub(crate) joins: Box<[PlanJoin]>,
    /// The sources, in the order of their places, and the target of each join.
    pub(crate) topology_joins: Box<[(Vec<NodeName>, NodeName)]>,
    /// Former names of nodes.
    aliases: Box<[(NodeName, NodeId)]>,
    pub(crate) resources: Resources,
    /// The resources that its nodes, and those of its subgraphs, always ask for.
    pub(crate) needs: Box<[NeededBy]>,
    /// The cache of the cached nodes, if there are any.
    pub(crate) cache: Option<Arc<dyn NodeCache>>,
    /// True if the first failure of a superstep stops the other tasks.
    pub(crate) fail_fast: bool,
    /// How many tasks its executor begins at a time.
    pub(crate) at_once: Option<usize>,
    /// True if a node runs as one task for each item.
    pub(crate) has_maps: bool,
    /// How often a run follows edges, where that is bounded.
    pub(crate) bounds: Arc<[PlanBound]>,
    pub(crate) fields: FieldKinds,
    /// The node of a graph that consists of one, which runs once after the input.
    pub(crate) only_node: Option<NodeId>,
    pub(crate) interrupt_before: Stops,
    pub(crate) interrupt_after: Stops,
    /// What its threads belong to, once a thread is used.
    owner: OnceLock<Arc<Owner>>,
}

#[derive(Clone)]
pub(crate) struct PlanNode<S: State> {
    pub(crate) step: Arc<dyn Step<S>>,
    pub(crate) out: Outgoing<S>,
    pub(crate) defer: bool,
    /// Finds the items, if the node runs as one task for each.
    pub(crate) items: Option<Arc<Items<S>>>,
    /// True if the node runs as one task for each item: its own, or those of a map.
    pub(crate) mapped: bool,
    /// The allowed jump targets of the node, if jumps are checked.
    pub(crate) destinations: Option<Box<[NodeId]>>,
    /// Whether its tasks end at once, when several run in parallel.
    pub(crate) pace: Pace,
}

/// The fields of each kind.
#[derive(Clone, Default)]
pub(crate) struct FieldKinds {
    pub(crate) reduced: FieldSet,
    pub(crate) ephemeral: FieldSet,
    pub(crate) untracked: FieldSet,
}

impl<S: State> Plan<S> {
    /// Returns the state that a thread begins with.
    pub(crate) fn unwritten_state(&self) -> TrackedState<S> {
        TrackedState::unwritten(Arc::new(self.initial.clone()))
    }

    /// Creates the plan of a graph without problems.
    pub(crate) fn new(graph: &StateGraph<S>) -> Self {
        let mut topology = copy_of(&graph.topology);
        let mut around = Around {
            defaults: &graph.around,
            cache: graph.cache.clone(),
            cache_is_default: graph.cache.is_none(),
            graph: topology.name.as_str().into(),
        };
        for (info, node) in topology.nodes.iter_mut().zip(&graph.nodes) {
            info.max_attempts = around.max_attempts(node);
        }
        graph.add_aliases_to(&mut topology);
        let names = names_of(&topology);
        let by_name = sorted_by_name(&names);
        let index = Index {
            names: &names,
            by_name: &by_name,
        };

        let Wiring {
            outgoing,
            joins,
            join_names,
        } = Wiring::new(graph, &index);
        let nodes = plan_nodes(graph, &topology, &index, &mut around, outgoing);
        let cache = around.cache;
        let mut plan = Self {
            fields: FieldKinds::of(graph.initial.fields()),
            initial: graph.initial.clone(),
            has_maps: nodes.iter().any(|node| node.mapped),
            only_node: only_node(&nodes),
            nodes: nodes.into(),
            joins: joins.into(),
            bounds: PlanBound::all(&topology, &index),
            topology_joins: join_names.into(),
            aliases: index.aliases(graph.all_aliases()),
            resources: graph.resources.clone(),
            needs: needs(graph),
            cache,
            fail_fast: graph.fail_fast,
            at_once: None,
            fingerprint: topology.fingerprint(),
            interrupting: topology.interrupting_node(),
            unstorable: unstorable(graph),
            interrupt_before: Stops::Never,
            interrupt_after: Stops::Never,
            topology,
            owner: OnceLock::new(),
            by_name,
            names,
        };
        // The graph is checked, so its breakpoints are nodes.
        let stops = |breakpoints| plan.stops(breakpoints).unwrap_or_default();
        let before = stops(&plan.topology.interrupt_before);
        let after = stops(&plan.topology.interrupt_after);
        (plan.interrupt_before, plan.interrupt_after) = (before, after);
        plan
    }

    /// Returns what the threads of the graph belong to.
    pub(crate) fn owner(&self) -> &Arc<Owner> {
        let owner = || Arc::new(owner_of(&self.topology.name, &self.initial));
        self.owner.get_or_init(owner)
    }

    /// Returns the declared node of that name. A binary search avoids hashing.
    pub(crate) fn node_named(&self, name: &str) -> Option<NodeId> {
        self.index().of(name)
    }

    fn index(&self) -> Index<'_> {
        Index {
            names: &self.names,
            by_name: &self.by_name,
        }
    }

    /// Returns the name of a node.
    pub(crate) fn name(&self, node: NodeId) -> NodeName {
        let name = self.shared_name(node);
        name.cloned().unwrap_or_else(|| END.into())
    }

    /// As [`name`](Self::name), for a caller that may need no clone; `None` if there is no such node.
    #[inline]
    pub(crate) fn shared_name(&self, node: NodeId) -> Option<&NodeName> {
        self.names.get(node.index())
    }

    /// Returns the names of nodes.
    #[inline]
    pub(crate) fn names_of(&self, nodes: &[NodeId]) -> Vec<NodeName> {
        if nodes.is_empty() {
            return Vec::new();
        }
        self.index().names(nodes)
    }

    /// Returns the node of a stored name: START, the node with the name, or the one with the alias.
    pub(crate) fn stored_node(&self, name: &str) -> Option<NodeId> {
        if name == START {
            return Some(NodeId::START);
        }
        self.node_named(name).or_else(|| {
            let alias = self.aliases.iter().find(|(old, _)| &**old == name);
            alias.map(|(_, node)| *node)
        })
    }

    /// Returns the current name for a stored name. An unknown name stays as it is.
    pub(crate) fn renamed(&self, name: &NodeName) -> NodeName {
        let node = self.stored_node(name);
        node.map_or_else(|| Arc::clone(name), |node| self.name(node))
    }

    pub(crate) fn node(&self, node: NodeId) -> Option<&PlanNode<S>> {
        self.nodes.get(node.index())
    }

    /// Returns how quick the tasks of a node are.
    pub(crate) fn pace(&self, node: NodeId) -> Option<&Pace> {
        self.node(node).map(|node| &node.pace)
    }

    pub(crate) fn routers(&self, node: NodeId) -> &[PlanRouter<S>] {
        self.node(node).map_or(&[], |node| &node.out.routers)
    }

    /// Returns the declared nodes by name.
    pub(crate) fn declared_names(&self) -> &[NodeName] {
        self.names.get(1..).unwrap_or_default()
    }

    /// Returns true if the node waits until nothing else is pending.
    pub(crate) fn defers(&self, node: NodeId) -> bool {
        self.node(node).is_some_and(|node| node.defer)
    }

    /// Returns the function that finds the node's items, if it runs as one task for each.
    pub(crate) fn items(&self, node: NodeId) -> Option<&Items<S>> {
        self.node(node)?.items.as_deref()
    }

    /// Returns true if the node runs as one task for each item.
    pub(crate) fn is_mapped(&self, node: NodeId) -> bool {
        self.has_maps && self.node(node).is_some_and(|node| node.mapped)
    }

    /// Returns the breakpoints of a run.
    ///
    /// # Errors
    ///
    /// If a node does not exist.
    pub(crate) fn stops(&self, breakpoints: &Breakpoints) -> Result<Stops, AgentError> {
        let stops = self.index().stops(breakpoints);
        stops.map_err(|node| breakpoint_paths::unknown(&node))
    }
}

/// The step of START. It writes nothing: the task of START already has its result, the input.
struct Start;

impl<S: State> Step<S> for Start {
    fn call<'a>(&'a self, _: Call<'a, S>) -> NodeRun<'a, S> {
        NodeRun::ready(Ok::<Output<S>, crate::error::NodeError>(Output::none()))
    }
}

impl FieldKinds {
    fn of(fields: &[crate::state::Field]) -> Self {
        let those = |is: fn(&crate::state::Field) -> bool| {
            fields
                .iter()
                .enumerate()
                .filter(|(_, field)| is(field))
                .map(|(index, _)| index)
                .collect()
        };
        Self {
            reduced: those(crate::state::Field::is_reduced),
            ephemeral: those(crate::state::Field::is_ephemeral),
            untracked: those(crate::state::Field::is_untracked),
        }
    }
}

/// Returns true if a map runs the node as one task for each item.
fn is_map_target(topology: &Topology, node: &NodeName) -> bool {
    let arms = topology
        .branches
        .iter()
        .flat_map(|branch| branch.arms.iter().flatten());
    let mut maps = arms.filter(|arm| arm.map);
    maps.any(|arm| arm.targets.contains(node))
}

/// Returns START and the nodes, each inside its policies.
fn plan_nodes<S: State>(
    graph: &StateGraph<S>,
    topology: &Topology,
    index: &Index<'_>,
    around: &mut Around<'_, S>,
    outgoing: Vec<OutgoingBuilder<S>>,
) -> Vec<PlanNode<S>> {
    let waits = |node: NodeId| {
        let node = node.place().and_then(|place| graph.nodes.get(place));
        node.is_some_and(|node| node.info.defer || node.items.is_some())
    };
    let mut outgoing = outgoing.into_iter();
    let mut nodes = Vec::with_capacity(graph.nodes.len() + 1);
    nodes.push(PlanNode {
        step: Arc::new(Start),
        out: outgoing.next().unwrap_or_default().build(&waits),
        defer: false,
        items: None,
        mapped: false,
        destinations: None,
        pace: Pace::default(),
    });
    for (node, out) in graph.nodes.iter().zip(outgoing) {
        nodes.push(PlanNode {
            step: around.step(node),
            out: out.build(&waits),
            defer: node.info.defer,
            items: node.items.clone(),
            mapped: node.items.is_some() || is_map_target(topology, &node.info.name),
            destinations: index.destinations(topology, &node.info.name),
            pace: Pace::default(),
        });
    }
    nodes
}

/// Returns the only node besides START, if it follows START once and nothing follows it.
fn only_node<S: State>(nodes: &[PlanNode<S>]) -> Option<NodeId> {
    let [start, node] = nodes else { return None };
    let Successors::One(next) = start.out.successors else {
        return None;
    };
    let out = &node.out;
    let ends = out.edges.is_empty() && out.joins.is_empty() && out.routers.is_empty();
    ends.then_some(next)
}

/// Returns the first node that cannot be stored as bytes, and its state type.
fn unstorable<S: State>(graph: &StateGraph<S>) -> Option<(NodeName, &'static str)> {
    let mut nodes = graph.nodes.iter();
    nodes.find_map(|node| Some((Arc::clone(&node.info.name), node.unstorable?)))
}

/// Returns what the nodes need. A node that may run in another process is given its resources there.
fn needs<S: State>(graph: &StateGraph<S>) -> Box<[NeededBy]> {
    let mut all = Vec::new();
    for node in graph.nodes.iter().filter(|node| !node.info.anywhere) {
        let name = &node.info.name;
        for resource in &node.needs {
            all.push(NeededBy {
                namespace: Vec::new(),
                node: Arc::clone(name),
                resource: *resource,
            });
        }
        if let Some(inner) = node.step.graph() {
            for mut need in inner.graph.needs() {
                need.namespace.insert(0, Arc::clone(name));
                all.push(need);
            }
        }
    }
    all.into()
}
