//! The compiled form of a graph, with indices instead of names.

use std::sync::{Arc, OnceLock};

use super::copies::copy_of;
use super::{Arm, Breakpoints, END, Join, NodeName, START, StateGraph, Topology};
use crate::checkpoint::{Owner, owner_of};
use crate::graph::Around;
use crate::node::{
    Call, Context, Items, NodeId, NodeRun, Output, Resources, RouterRun, Step, Target,
};
use crate::policy::NodeCache;
use crate::state::{FieldSet, State};

/// The routes that a router's answer means.
#[derive(Clone)]
pub(crate) enum Routes<S: State> {
    /// The arm at that index of the branch.
    Arm(usize),
    /// These targets.
    Targets(Vec<Target<S>>),
    /// Several of these.
    Several(Vec<Routes<S>>),
}

pub(crate) trait ErasedRouter<S: State>: Send + Sync {
    fn ask<'a>(&'a self, state: &'a S, cx: &'a Context) -> Asked<'a, S>;
}

/// The result of a call of a router.
pub(crate) enum Asked<'a, S: State> {
    /// The arm that it picked. Most routers know it at once, so nothing has to be awaited,
    /// unwrapped or dropped.
    Arm(usize),
    /// Anything else.
    Run(RouterRun<'a, Routes<S>>),
}

impl<'a, S: State> Asked<'a, S> {
    pub(crate) fn into_run(self) -> RouterRun<'a, Routes<S>> {
        match self {
            Self::Arm(arm) => RouterRun::ready(Ok(Routes::Arm(arm))),
            Self::Run(run) => run,
        }
    }
}

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
    /// The cache of the cached nodes, if there are any.
    pub(crate) cache: Option<Arc<dyn NodeCache>>,
    /// True if the first failure of a superstep stops the other tasks.
    pub(crate) fail_fast: bool,
    /// How many tasks its executor begins at a time.
    pub(crate) at_once: Option<usize>,
    /// True if a node runs as one task for each item.
    pub(crate) has_maps: bool,
    pub(crate) fields: FieldKinds,
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
}

/// The successors of a node.
#[derive(Clone)]
pub(crate) struct Outgoing<S: State> {
    /// Target nodes; edges to END are omitted, because they start nothing.
    pub(crate) edges: Box<[NodeId]>,
    pub(crate) joins: Box<[Arrival]>,
    pub(crate) routers: Box<[PlanRouter<S>]>,
    pub(crate) successors: Successors,
}

/// The kind of a node's successors.
#[derive(Clone, Copy)]
pub(crate) enum Successors {
    /// One node, which does not wait.
    One(NodeId),
    /// Those that its only router picks.
    Routed,
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

/// The fields of each kind.
#[derive(Clone, Default)]
pub(crate) struct FieldKinds {
    pub(crate) reduced: FieldSet,
    pub(crate) ephemeral: FieldSet,
    pub(crate) untracked: FieldSet,
}

/// The breakpoints of a run.
#[derive(Clone, Default)]
pub(crate) enum Stops {
    #[default]
    Never,
    Always,
    At(Box<[NodeId]>),
}

impl Stops {
    pub(crate) fn contains(&self, node: NodeId) -> bool {
        match self {
            Self::Never => false,
            Self::Always => !node.is_start(),
            Self::At(nodes) => nodes.contains(&node),
        }
    }

    pub(crate) fn is_never(&self) -> bool {
        matches!(self, Self::Never)
    }
}

impl<S: State> Plan<S> {
    /// Creates the plan of a graph without problems.
    pub(crate) fn new(graph: &StateGraph<S>) -> Self {
        let mut topology = copy_of(&graph.topology);
        let mut around = Around {
            defaults: &graph.around,
            cache: graph.cache.clone(),
            graph: topology.name.as_str().into(),
        };
        for (info, node) in topology.nodes.iter_mut().zip(&graph.nodes) {
            info.max_attempts = around.max_attempts(node);
        }
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
        let waits = |node: NodeId| {
            let node = node.place().and_then(|place| graph.nodes.get(place));
            node.is_some_and(|node| node.info.defer || node.items.is_some())
        };
        let mut outgoing = outgoing.into_iter();
        let mut nodes = Vec::with_capacity(names.len());
        nodes.push(PlanNode {
            step: Arc::new(Start),
            out: outgoing.next().unwrap_or_default().build(&waits),
            defer: false,
            items: None,
            mapped: false,
            destinations: None,
        });
        let mut unstorable = None;
        for (node, out) in graph.nodes.iter().zip(outgoing) {
            nodes.push(PlanNode {
                step: around.step(node),
                out: out.build(&waits),
                defer: node.info.defer,
                items: node.items.clone(),
                mapped: node.items.is_some() || is_map_target(&topology, &node.info.name),
                destinations: index.destinations(&topology, &node.info.name),
            });
            if let (None, Some(state)) = (&unstorable, node.unstorable) {
                unstorable = Some((Arc::clone(&node.info.name), state));
            }
        }
        let cache = around.cache;
        let mut plan = Self {
            fields: FieldKinds::of(graph.initial.fields()),
            initial: graph.initial.clone(),
            has_maps: nodes.iter().any(|node| node.mapped),
            nodes: nodes.into(),
            joins: joins.into(),
            topology_joins: join_names.into(),
            aliases: index.aliases(graph.all_aliases()),
            resources: graph.resources.clone(),
            cache,
            fail_fast: graph.fail_fast,
            at_once: None,
            fingerprint: topology.fingerprint(),
            interrupting: topology.interrupting_node(),
            unstorable,
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
        let name = self.names.get(node.index());
        name.cloned().unwrap_or_else(|| END.into())
    }

    /// Returns the names of nodes.
    pub(crate) fn names_of(&self, nodes: &[NodeId]) -> Vec<NodeName> {
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

    /// Returns the breakpoints of a run, or the name of a node that does not exist.
    pub(crate) fn stops(&self, breakpoints: &Breakpoints) -> Result<Stops, NodeName> {
        self.index().stops(breakpoints)
    }
}

/// The step of START. It writes nothing: the task of START already has its result, the input.
struct Start;

impl<S: State> Step<S> for Start {
    fn call<'a>(&'a self, _: Call<'a, S>) -> NodeRun<'a, S> {
        NodeRun::ready(Ok::<Output<S>, crate::error::NodeError>(Output::none()))
    }
}

/// The successors of each node; START comes first.
struct Wiring<S: State> {
    outgoing: Vec<Builder<S>>,
    joins: Vec<PlanJoin>,
    /// The sources, in the order of their places, and the target of each join.
    join_names: Vec<(Vec<NodeName>, NodeName)>,
}

impl<S: State> Wiring<S> {
    fn new(graph: &StateGraph<S>, index: &Index<'_>) -> Self {
        let mut wiring = Self {
            outgoing: Vec::new(),
            joins: Vec::new(),
            join_names: Vec::new(),
        };
        wiring
            .outgoing
            .resize_with(index.names.len(), Builder::default);
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
        wiring
    }

    /// Returns the successors of the node of that name, or of START.
    fn behind(&mut self, name: &str, index: &Index<'_>) -> Option<&mut Builder<S>> {
        let node = if name == START {
            NodeId::START
        } else {
            index.of(name)?
        };
        self.outgoing.get_mut(node.index())
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

struct Index<'a> {
    names: &'a [NodeName],
    by_name: &'a [NodeId],
}

impl Index<'_> {
    fn of(&self, name: &str) -> Option<NodeId> {
        let at = self.by_name.binary_search_by(|index| {
            self.names
                .get(index.index())
                .map_or(std::cmp::Ordering::Greater, |known| (**known).cmp(name))
        });
        self.by_name.get(at.ok()?).copied()
    }

    /// Returns the declared nodes of these names.
    fn all(&self, names: &[NodeName]) -> Vec<NodeId> {
        names.iter().filter_map(|name| self.of(name)).collect()
    }

    fn names(&self, nodes: &[NodeId]) -> Vec<NodeName> {
        let names = nodes.iter().filter_map(|node| self.names.get(node.index()));
        names.cloned().collect()
    }

    /// Returns the nodes of each arm.
    fn arms(&self, arms: &[Arm]) -> Box<[Box<[NodeId]>]> {
        arms.iter()
            .map(|arm| self.all(&arm.targets).into())
            .collect()
    }

    /// Returns the allowed jump targets of a node, if jumps are checked.
    fn destinations(&self, topology: &Topology, node: &NodeName) -> Option<Box<[NodeId]>> {
        let lists = topology.destinations.iter();
        let declared = lists.filter(|list| list.source == *node);
        let targets = || declared.flat_map(|list| self.all(&list.targets)).collect();
        topology.closed.then(targets)
    }

    fn aliases(&self, aliases: Vec<(NodeName, NodeName)>) -> Box<[(NodeName, NodeId)]> {
        let aliases = aliases.into_iter();
        aliases
            .filter_map(|(old, node)| Some((old, self.of(&node)?)))
            .collect()
    }

    fn stops(&self, breakpoints: &Breakpoints) -> Result<Stops, NodeName> {
        Ok(match breakpoints {
            Breakpoints::None => Stops::Never,
            Breakpoints::All => Stops::Always,
            Breakpoints::Nodes(names) => {
                let find = |name: &NodeName| self.of(name).ok_or_else(|| Arc::clone(name));
                Stops::At(names.iter().map(find).collect::<Result<_, _>>()?)
            }
        })
    }
}

/// Returns true if a map runs the node as one task for each item.
fn is_map_target(topology: &Topology, node: &NodeName) -> bool {
    let arms = topology.branches.iter().flat_map(|branch| branch.arms.iter().flatten());
    let mut maps = arms.filter(|arm| arm.map);
    maps.any(|arm| arm.targets.contains(node))
}

/// Returns START, then the names of the nodes.
fn names_of(topology: &Topology) -> Arc<[NodeName]> {
    let declared = topology.nodes.iter().map(|node| Arc::clone(&node.name));
    std::iter::once(START.into()).chain(declared).collect()
}

/// Returns the declared nodes, sorted by name.
fn sorted_by_name(names: &[NodeName]) -> Box<[NodeId]> {
    let mut by_name: Vec<NodeId> = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate().skip(1) {
        let is_before = |known: &NodeId| names.get(known.index()) < Some(name);
        by_name.insert(by_name.partition_point(is_before), NodeId::at(index));
    }
    by_name.into()
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

struct Builder<S: State> {
    edges: Vec<NodeId>,
    joins: Vec<Arrival>,
    routers: Vec<PlanRouter<S>>,
}

impl_default!([S: State] Builder<S> { edges, joins, routers });

impl<S: State> Builder<S> {
    fn build(mut self, waits: &dyn Fn(NodeId) -> bool) -> Outgoing<S> {
        for PlanRouter { arms, next, .. } in &mut self.routers {
            *next = only_nodes(arms, waits);
        }
        let successors = match (&*self.edges, &*self.joins, &*self.routers) {
            ([next], [], []) if !waits(*next) => Successors::One(*next),
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
