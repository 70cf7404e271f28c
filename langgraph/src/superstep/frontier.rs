//! The tasks of a superstep, and what leads to those of the next one.

use super::end::{End, Stop};
use crate::checkpoint::merge_order;
use crate::error::AgentError;
use crate::graph::plan::{Plan, PlanNode};
use crate::graph::routes::{Routed, Routes};
use crate::graph::targets::{declared, follows_edges, resolve_target};
use crate::graph::wiring::Arrival;
use crate::node::{Argument, Jump, NodeId, Send, Target, caught};
use crate::state::State;
use crate::task::{Followed, JoinProgress, Pending, Position, Task, TaskResult};

/// The tasks of a superstep, and what is known of the next one.
pub(crate) struct Frontier<S: State> {
    /// The current tasks: nodes in the graph's order, then sends in theirs.
    pub(crate) tasks: Vec<Task<S>>,
    /// The order in which the results of the tasks are merged and followed; empty if it is theirs.
    pub(crate) order: Vec<usize>,
    /// Nodes that routing has reached so far, for the next superstep, as the graph declares them.
    reached: Vec<Task<S>>,
    /// Sends that routing has found so far; they follow the nodes.
    sends: Vec<Task<S>>,
    /// Deferred nodes that have been reached.
    pub(crate) deferred: Vec<NodeId>,
    /// The progress of each join.
    pub(crate) joins: Vec<JoinProgress>,
    /// How often edges that have a bound were followed.
    pub(crate) followed: Followed,
    /// True if a source has arrived at a join since joins were last filled.
    arrived: bool,
    /// The nodes that joins have started when they were last filled.
    pub(crate) joined: Vec<NodeId>,
}

impl<S: State> Frontier<S> {
    #[inline]
    pub(crate) fn new(Position { plan, scope, .. }: &Position<S>) -> Self {
        Self {
            tasks: Vec::new(),
            order: Vec::new(),
            reached: Vec::new(),
            sends: Vec::new(),
            deferred: Vec::new(),
            joins: plan.joins.iter().map(|_| JoinProgress::default()).collect(),
            followed: Followed::new(scope),
            arrived: false,
            joined: Vec::new(),
        }
    }

    /// Follows the only edge that the only task picks, if the run `goes_on` over it: the task is that of its target
    /// then, which is returned.
    #[inline]
    pub(super) fn follow_only(
        &mut self,
        from: (NodeId, &PlanNode<S>),
        picked: Option<usize>,
        goes_on: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        let next = self.followed.only_next(from, picked, goes_on)?;
        self.tasks.first_mut()?.node = next;
        Some(next)
    }

    /// Follows the results of the current tasks, in order. Then the tasks are those of the next
    /// superstep.
    #[inline]
    pub(super) fn advance(
        &mut self,
        position: &Position<S>,
        results: &mut [TaskResult<S>],
    ) -> Result<(), Stop> {
        if let ([task], [TaskResult::Finished(done)]) = (&mut *self.tasks, &*results)
            && matches!(done.output.jump, Jump::Edges)
            && let Some(node) = position.plan.node(task.node)
            && self.reached.is_empty()
        {
            if let Some(next) = node.out.only_next(done.routes.only_arm()) {
                if task.is_plain() {
                    task.node = next;
                } else {
                    *task = Task::by_edge(next);
                }
                return Ok(());
            }
            if node.out.ends() {
                self.tasks.clear();
                self.release_deferred();
                return Ok(());
            }
        }
        self.advance_all(position, results)
    }

    fn advance_all(
        &mut self,
        position: &Position<S>,
        results: &mut [TaskResult<S>],
    ) -> Result<(), Stop> {
        let plan = &*position.plan;
        self.followed.begin_superstep();
        let order = std::mem::take(&mut self.order);
        let rest = order.len()..results.len();
        for index in order.into_iter().chain(rest) {
            let node = self.tasks.get(index).map(|task| task.node);
            if let (Some(node), Some(TaskResult::Finished(done))) = (node, results.get_mut(index)) {
                let routes = std::mem::take(&mut done.routes);
                match std::mem::replace(&mut done.output.jump, Jump::Edges) {
                    Jump::Parent(parent) => return Err(End::Parent(parent).into()),
                    jump => self.follow(plan, node, jump, routes)?,
                }
            }
        }
        self.fill_joins(plan);
        self.tasks.clear();
        self.begin_next(position);
        Ok(())
    }

    /// Keeps the current tasks for which `stays` holds beside what is reached next.
    pub(crate) fn keep(&mut self, stays: impl Fn(&Task<S>) -> bool) {
        for task in std::mem::take(&mut self.tasks) {
            if stays(&task) {
                let place = self.place_in_reached(task.node);
                self.reached.insert(place, task);
            }
        }
        self.followed.forget_exceeded(&self.reached);
    }

    /// Makes what was reached the tasks. Deferred nodes run when nothing else is pending; a node of a
    /// map becomes a task for each item.
    fn begin_next(&mut self, position: &Position<S>) {
        self.take_reached();
        self.release_deferred();
        if position.plan.has_maps {
            expand_maps(&mut self.tasks, &position.plan, &position.state);
        }
        free_if_long(&mut self.tasks);
    }

    /// Adds what was reached to the tasks: nodes, then sends.
    fn take_reached(&mut self) {
        if !self.deferred.is_empty() {
            // A deferred node that was pending, and that an edge has reached again, waits again.
            let deferred = &self.deferred;
            self.reached.retain(|task| !deferred.contains(&task.node));
        }
        self.tasks.append(&mut self.reached);
        self.tasks.append(&mut self.sends);
    }

    /// Returns the tasks, and what waits behind them.
    pub(crate) fn pending(&self) -> Pending<'_, S> {
        Pending {
            tasks: &self.tasks,
            deferred: &self.deferred,
            joins: &self.joins,
        }
    }

    /// Follows a task: its edges and its routers' answers, or its jump.
    fn follow(
        &mut self,
        plan: &Plan<S>,
        node: NodeId,
        jump: Jump<S>,
        answers: Routed<S>,
    ) -> Result<(), AgentError> {
        let follows_edges = follows_edges(&jump);
        // The node's own jump comes first, so its sends run before those of its routers.
        if let Jump::To(to) = jump {
            for target in to.targets {
                self.take_target(plan, node, target, declared(plan, node))?;
            }
        }
        if follows_edges && let Some(PlanNode { out, .. }) = plan.node(node) {
            for next in &out.edges {
                self.go(plan, node, *next)?;
            }
            for arrival in &out.joins {
                self.arrive(*arrival);
            }
            for (router, routes) in out.routers.iter().zip(answers.into_vec()) {
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
                let mut nodes = arms.get(arm).into_iter().flatten();
                nodes.try_for_each(|next| self.go(plan, node, *next))
            }
            Routes::Targets(targets) => {
                let mut targets = targets.into_iter();
                targets.try_for_each(|target| self.take_target(plan, node, target, None))
            }
            Routes::Several(several) => {
                let mut several = several.into_iter();
                several.try_for_each(|routes| self.take_routes(plan, node, arms, routes))
            }
        }
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
            (Some(node), Target::Node(_)) => self.go(plan, from, node)?,
            (Some(node), Target::Send(Send { argument, .. })) => {
                match self.followed.pass(from, node, true)? {
                    Some(to) if to == node => self.sends.push(Task::sent(node, argument)),
                    Some(exit) => self.reach(plan, exit),
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Follows an edge.
    fn go(&mut self, plan: &Plan<S>, from: NodeId, to: NodeId) -> Result<(), AgentError> {
        if let Some(to) = self.followed.pass(from, to, false)? {
            self.reach(plan, to);
        }
        Ok(())
    }

    /// Puts a node on the next frontier.
    fn reach(&mut self, plan: &Plan<S>, node: NodeId) {
        if plan.defers(node) {
            if !self.deferred.contains(&node) {
                self.deferred.push(node);
            }
            return;
        }
        let place = self.place_in_reached(node);
        // A node runs once, however often it was reached; a task that was kept comes first.
        let before = place
            .checked_sub(1)
            .and_then(|before| self.reached.get(before));
        if before.is_none_or(|before| before.node != node) {
            self.reached.insert(place, Task::by_edge(node));
        }
    }

    /// Returns the place behind the tasks of that node.
    fn place_in_reached(&self, node: NodeId) -> usize {
        if self.reached.last().is_none_or(|last| last.node <= node) {
            return self.reached.len();
        }
        self.reached.partition_point(|task| task.node <= node)
    }

    fn arrive(&mut self, arrival: Arrival) {
        if let Some(seen) = self.joins.get_mut(arrival.join)
            && !seen.sources.contains(arrival.source)
        {
            seen.sources.insert(arrival.source);
            seen.count += 1;
            self.arrived = true;
        }
    }

    /// Reaches the targets of joins that have all their sources: once all tasks have arrived, since
    /// several tasks of a node are one source.
    fn fill_joins(&mut self, plan: &Plan<S>) {
        if !std::mem::take(&mut self.arrived) {
            return;
        }
        self.joined.clear();
        for (index, join) in plan.joins.iter().enumerate() {
            if let Some(seen) = self.joins.get_mut(index)
                && seen.count == join.sources
            {
                *seen = JoinProgress::default();
                self.joined.push(join.target);
                self.reach(plan, join.target);
            }
        }
    }

    /// Returns the tasks that a command from outside adds beside the pending ones.
    pub(crate) fn added(
        &mut self,
        position: &Position<S>,
        jump: Jump<S>,
    ) -> Result<Vec<Task<S>>, AgentError> {
        let plan = &*position.plan;
        let pending = std::mem::take(&mut self.tasks);
        if let Jump::To(to) = jump {
            for target in to.targets {
                self.take_target(plan, NodeId::START, target, None)?;
            }
        }
        self.take_reached();
        if pending.is_empty() {
            self.release_deferred();
        }
        let mut added = std::mem::replace(&mut self.tasks, pending);
        // A pending node runs only once.
        let runs_once = |task: &&Task<S>| task.argument.is_none() || task.is_item_of(plan);
        added.retain(|task| {
            let mut pending = self.tasks.iter().filter(runs_once);
            task.argument.is_some() || !pending.any(|pending| pending.node == task.node)
        });
        expand_maps(&mut added, plan, &position.state);
        Ok(added)
    }

    /// Inserts a task at its place in the order of the tasks, and
    /// returns the place.
    pub(crate) fn insert(&mut self, task: Task<S>) -> usize {
        let place = self.tasks.iter().position(|other| is_behind(other, &task));
        let place = place.unwrap_or(self.tasks.len());
        self.tasks.insert(place, task);
        place
    }

    /// Returns the order of the results with those of tasks that are `added` behind: they are merged at their places, and
    /// keep their numbers. It is empty if it is that of the tasks.
    pub(crate) fn order_with(&self, added: &[Task<S>]) -> Vec<usize> {
        let tasks: Vec<&Task<S>> = self.tasks.iter().chain(added).collect();
        let mut order: Vec<usize> = self.merge_order(self.tasks.len()).collect();
        for (number, task) in tasks.iter().enumerate().skip(self.tasks.len()) {
            let behind = |other: &usize| {
                tasks
                    .get(*other)
                    .is_some_and(|other| is_behind(other, task))
            };
            let place = order.iter().position(behind).unwrap_or(order.len());
            order.insert(place, number);
        }
        if order.is_sorted() { Vec::new() } else { order }
    }

    /// Returns the numbers of the first tasks, in the order in which their results are merged and followed.
    pub(super) fn merge_order(&self, tasks: usize) -> impl Iterator<Item = usize> {
        merge_order(&self.order, tasks)
    }

    /// Makes deferred nodes the tasks when nothing else is pending.
    pub(crate) fn release_deferred(&mut self) {
        if self.tasks.is_empty() && !self.deferred.is_empty() {
            NodeId::sort(&mut self.deferred);
            let nodes = self.deferred.drain(..);
            self.tasks.extend(nodes.map(Task::by_edge));
        }
    }
}

/// Returns true if a task comes behind one that was added: a node behind it, or a send.
fn is_behind<S: State>(task: &Task<S>, added: &Task<S>) -> bool {
    added.argument.is_none() && (task.argument.is_some() || task.node > added.node)
}

/// Replaces the node of a map by a task for each item, after the other tasks.
fn expand_maps<S: State>(tasks: &mut Vec<Task<S>>, plan: &Plan<S>, state: &S) {
    let mut expanded = Vec::new();
    tasks.retain(|task| {
        let Some(items) = plan.items(task.node).filter(|_| task.is_plain()) else {
            return true;
        };
        // The node itself runs, and reports the panic, if its items cannot be found.
        let items = caught(|| items(state)).unwrap_or_default();
        let before = expanded.len();
        let item_task = |item| Task::sent(task.node, Argument::Item(item));
        expanded.extend(items.into_iter().map(item_task));
        expanded.len() == before
    });
    tasks.append(&mut expanded);
}

/// Frees the memory of a long list that holds little: one wide superstep must not hold it for the
/// rest of the run.
fn free_if_long<T>(list: &mut Vec<T>) {
    const LONG: usize = 64;
    if list.capacity() > LONG && list.len() <= LONG {
        list.shrink_to(LONG);
    }
}
