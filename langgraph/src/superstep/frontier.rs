//! The tasks of the next superstep.

use super::route::{declared, follows_edges, resolve_target};
use super::task::Task;
use crate::error::AgentError;
use crate::graph::plan::{Arrival, Plan, Routes};
use crate::graph::{NodeName, UnfilledJoin};
use crate::node::{Argument, Jump, NodeId, Send, Target, caught};
use crate::state::{FieldSet, State};

/// On a frontier of at most this size, a search is faster than a mark for each node.
const FEW: usize = 8;

/// The tasks of the next superstep, as far as they are known.
pub(crate) struct Frontier<S: State> {
    /// Nodes in the graph's order, then sends in theirs.
    pub(crate) tasks: Vec<Task<S>>,
    /// Sends that routing has found so far; they follow the nodes.
    sends: Vec<Task<S>>,
    /// Deferred nodes that have been reached.
    pub(crate) deferred: Vec<NodeId>,
    /// The progress of each join.
    pub(crate) joins: Vec<JoinProgress>,
    /// The round in which each node was last put on the frontier; created for large frontiers.
    marks: Vec<usize>,
    /// The number of times that the frontier was sorted.
    round: usize,
}

/// The sources that a join has seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JoinProgress {
    pub(crate) sources: FieldSet,
    pub(crate) count: usize,
}

impl<S: State> Frontier<S> {
    pub(crate) fn new(plan: &Plan<S>) -> Self {
        Self {
            // Room for one task, which is enough for most frontiers.
            tasks: Vec::with_capacity(1),
            sends: Vec::new(),
            deferred: Vec::new(),
            joins: vec![JoinProgress::default(); plan.joins.len()],
            marks: Vec::new(),
            round: 1,
        }
    }

    /// Returns the next tasks. Deferred nodes run when nothing else is pending.
    pub(crate) fn next(&mut self) -> &[Task<S>] {
        self.release_deferred();
        &self.tasks
    }

    /// Returns the names of the next nodes.
    pub(crate) fn names(&self, plan: &Plan<S>) -> Vec<NodeName> {
        let mut names = Vec::with_capacity(self.tasks.len());
        for task in &self.tasks {
            names.push(plan.name(task.node));
        }
        names
    }

    /// Follows a task: its edges and its routers' answers, or its jump.
    pub(crate) fn follow(
        &mut self,
        plan: &Plan<S>,
        node: NodeId,
        jump: Jump<S>,
        routes: Vec<Routes<S>>,
    ) -> Result<(), AgentError> {
        let follows_edges = follows_edges(&jump);
        // The node's own jump comes first, so its sends run before those of its routers.
        if let Jump::To(to) = jump {
            for target in to.targets {
                self.take_target(plan, node, target, declared(plan, node))?;
            }
        }
        if follows_edges {
            let Some(node_of_plan) = plan.node(node) else {
                return Ok(());
            };
            let out = &node_of_plan.out;
            for next in &out.edges {
                self.reach(plan, *next);
            }
            for arrival in &out.joins {
                self.arrive(plan, *arrival);
            }
            for (router, routes) in out.routers.iter().zip(routes) {
                self.take_routes(plan, node, &router.arms, routes)?;
            }
        }
        Ok(())
    }

    fn take_routes(
        &mut self,
        plan: &Plan<S>,
        node: NodeId,
        arms: &[Box<[NodeId]>],
        routes: Routes<S>,
    ) -> Result<(), AgentError> {
        match routes {
            Routes::Arm(arm) => {
                for next in arms.get(arm).into_iter().flatten() {
                    self.reach(plan, *next);
                }
            }
            Routes::Targets(targets) => {
                for target in targets {
                    self.take_target(plan, node, target, None)?;
                }
            }
            Routes::Several(several) => {
                for routes in several {
                    self.take_routes(plan, node, arms, routes)?;
                }
            }
        }
        Ok(())
    }

    fn take_target(
        &mut self,
        plan: &Plan<S>,
        from: NodeId,
        target: Target<S>,
        declared: Option<&[NodeId]>,
    ) -> Result<(), AgentError> {
        match (resolve_target(plan, from, &target, declared)?, target) {
            (None, _) => {}
            (Some(node), Target::Node(_)) => self.reach(plan, node),
            (Some(node), Target::Send(Send { argument, .. })) => {
                self.sends.push(Task::sent(node, argument));
            }
        }
        Ok(())
    }

    /// Puts a node on the next frontier, once.
    fn reach(&mut self, plan: &Plan<S>, node: NodeId) {
        if self.is_reached(plan, node) {
            return;
        }
        if plan.defers(node) {
            if !self.deferred.contains(&node) {
                self.deferred.push(node);
            }
        } else {
            self.tasks.push(Task::by_edge(node));
        }
    }

    /// Marks a node as reached; returns true if it was already.
    fn is_reached(&mut self, plan: &Plan<S>, node: NodeId) -> bool {
        if self.tasks.len() < FEW {
            return self.tasks.iter().any(|task| task.node == node);
        }
        // 0 means never.
        let stamp = self.round;
        if self.tasks.len() == FEW {
            self.marks.resize(plan.nodes.len(), 0);
            for task in &self.tasks {
                if let Some(mark) = self.marks.get_mut(task.node.index()) {
                    *mark = stamp;
                }
            }
        }
        let mark = self.marks.get_mut(node.index());
        mark.is_some_and(|mark| std::mem::replace(mark, stamp) == stamp)
    }

    fn arrive(&mut self, plan: &Plan<S>, arrival: Arrival) {
        let (Some(seen), Some(join)) = (
            self.joins.get_mut(arrival.join),
            plan.joins.get(arrival.join),
        ) else {
            return;
        };
        if !seen.sources.contains(arrival.source) {
            seen.sources.insert(arrival.source);
            seen.count += 1;
        }
        if seen.count == join.sources {
            *seen = JoinProgress::default();
            self.reach(plan, join.target);
        }
    }

    /// Creates the tasks that a command from outside starts beside the pending ones.
    pub(crate) fn joining(
        &mut self,
        plan: &Plan<S>,
        state: &S,
        jump: Jump<S>,
    ) -> Result<Vec<Task<S>>, AgentError> {
        let pending = std::mem::take(&mut self.tasks);
        if let Jump::To(to) = jump {
            for target in to.targets {
                self.take_target(plan, NodeId::START, target, None)?;
            }
        }
        self.put_in_order();
        if pending.is_empty() {
            self.release_deferred();
        }
        let mut new = std::mem::replace(&mut self.tasks, pending);
        // A pending node runs only once.
        new.retain(|task| {
            let plain = |task: &Task<S>| task.argument.is_none() || task.is_item_of(plan);
            let known = |pending: &Task<S>| pending.node == task.node && plain(pending);
            task.argument.is_some() || !self.tasks.iter().any(known)
        });
        spread(&mut new, plan, state);
        Ok(new)
    }

    /// Replaces nodes that run as one task for each item by those tasks, behind the other tasks.
    pub(crate) fn spread(&mut self, plan: &Plan<S>, state: &S) {
        spread(&mut self.tasks, plan, state);
    }

    /// Sorts the next frontier: nodes as the graph declares them, then sends.
    pub(crate) fn put_in_order(&mut self) {
        self.round += 1;
        if self.tasks.len() > 1 {
            self.tasks.sort_unstable_by_key(|task| task.node);
        }
        self.tasks.append(&mut self.sends);
    }

    /// Inserts a task at its place in the order of [`put_in_order`](Self::put_in_order), and
    /// returns the place.
    pub(crate) fn insert(&mut self, task: Task<S>) -> usize {
        let behind = |other: &Task<S>| other.argument.is_some() || other.node > task.node;
        let sent = task.argument.is_some();
        let place = self.tasks.iter().position(|other| !sent && behind(other));
        let place = place.unwrap_or(self.tasks.len());
        self.tasks.insert(place, task);
        place
    }

    /// Releases deferred nodes when nothing else is pending.
    pub(crate) fn release_deferred(&mut self) {
        if self.tasks.is_empty() && !self.deferred.is_empty() {
            NodeId::sort(&mut self.deferred);
            for node in &self.deferred {
                self.tasks.push(Task::by_edge(*node));
            }
            self.deferred.clear();
        }
    }

    /// Returns the joins with some of their sources, but not all.
    pub(crate) fn unfilled_joins(
        &self,
        plan: &Plan<S>,
        namespace: &[NodeName],
    ) -> Vec<UnfilledJoin> {
        if self.joins.is_empty() {
            return Vec::new();
        }
        unfilled(&self.joins, &plan.topology_joins, namespace)
    }
}

fn unfilled(
    joins: &[JoinProgress],
    names: &[(Vec<NodeName>, NodeName)],
    namespace: &[NodeName],
) -> Vec<UnfilledJoin> {
    let joins = joins.iter().zip(names);
    let unfilled = joins.filter(|(seen, _)| seen.count > 0);
    let report = unfilled.map(|(seen, (sources, target))| {
        UnfilledJoin::new(namespace, sources, target, |index, _| {
            seen.sources.contains(index)
        })
    });
    report.collect()
}

fn spread<S: State>(tasks: &mut Vec<Task<S>>, plan: &Plan<S>, state: &S) {
    let mut spread = Vec::new();
    tasks.retain(|task| {
        let Some(items) = plan.items(task.node).filter(|_| task.is_plain()) else {
            return true;
        };
        // The node itself runs, and reports the panic, if its items cannot be found.
        let items = caught(|| items(state)).unwrap_or_default();
        let before = spread.len();
        for item in items {
            spread.push(Task::sent(task.node, Argument::Item(item)));
        }
        spread.len() == before
    });
    tasks.append(&mut spread);
}
