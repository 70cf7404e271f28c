//! Finding the tasks of the next superstep.

use super::execute::follows_edges;
use super::machine::{Machine, Task};
use super::panic::catch;
use crate::AgentError;
use crate::graph::plan::{Arrival, Plan, Routes};
use crate::graph::{END, START, UnknownKey};
use crate::node::{Context, Jump, NodeError, Send, Target};
use crate::state::State;

/// The error of a router, as its node's: a key that is not in the path map is one of routing.
pub(super) fn router_error<S: State>(plan: &Plan<S>, node: usize, error: NodeError) -> NodeError {
    match error.downcast_ref::<UnknownKey>() {
        Some(unknown) => NodeError::from_agent(AgentError::Routing {
            node: plan.node_name(node),
            target: unknown.key.to_string(),
            problem: unknown.to_string(),
        }),
        None => error,
    }
}

impl<S: State> Machine<S> {
    /// Asks the routers of the only task of a superstep: they look at the state behind the commit,
    /// which is the snapshot and this task's writes.
    pub(super) async fn ask_routers(
        &self,
        plan: &Plan<S>,
        node: usize,
        cx: &Context,
    ) -> Result<Vec<Routes<S>>, AgentError> {
        let routers = &plan.outgoing(node).routers;
        let mut routes = Vec::with_capacity(routers.len());
        for router in routers {
            let asked = catch(|| router.router.ask(&self.state, cx)).await;
            routes.push(asked.map_err(|error| {
                let error = router_error(plan, node, error);
                self.failure(node, error)
            })?);
        }
        Ok(routes)
    }

    /// Follows a task's answer: its edges and what its routers said, or where it jumps.
    pub(super) fn follow(
        &mut self,
        plan: &Plan<S>,
        node: usize,
        jump: Jump<S>,
        routes: Vec<Routes<S>>,
    ) -> Result<(), AgentError> {
        let follows_edges = follows_edges(&jump);
        // What the node says itself comes first, so its sends run before those of its routers.
        if let Jump::To(to) = jump {
            let source = plan.nodes.get(node);
            let declared = source.and_then(|node| node.destinations.as_deref());
            for target in to.targets {
                self.take_target(node, target, declared)?;
            }
        }
        if follows_edges {
            let out = plan.outgoing(node);
            for next in &out.edges {
                self.reach(*next);
            }
            for arrival in &out.joins {
                self.arrive(plan, *arrival);
            }
            for (router, routes) in out.routers.iter().zip(routes) {
                self.take_routes(node, &router.arms, routes)?;
            }
        }
        Ok(())
    }

    fn take_routes(
        &mut self,
        node: usize,
        arms: &[Box<[usize]>],
        routes: Routes<S>,
    ) -> Result<(), AgentError> {
        match routes {
            Routes::Arm(arm) => {
                for next in arms.get(arm).into_iter().flatten() {
                    self.reach(*next);
                }
            }
            Routes::Targets(targets) => {
                for target in targets {
                    self.take_target(node, target, None)?;
                }
            }
            Routes::Several(several) => {
                for routes in several {
                    self.take_routes(node, arms, routes)?;
                }
            }
        }
        Ok(())
    }

    fn take_target(
        &mut self,
        from: usize,
        target: Target<S>,
        declared: Option<&[usize]>,
    ) -> Result<(), AgentError> {
        match target {
            Target::Node(name) if &*name == END => Ok(()),
            Target::Node(name) => {
                let next = self.find(from, &name, declared)?;
                self.reach(next);
                Ok(())
            }
            Target::Send(Send { node: name, .. }) if &*name == END => Err(self.no_such_way(
                from,
                &name,
                "a send needs a node; `END` runs nothing".to_owned(),
            )),
            Target::Send(Send {
                node: name,
                argument,
            }) => {
                let node = self.find(from, &name, declared)?;
                self.sends.push(Task::sent(node, argument));
                Ok(())
            }
        }
    }

    /// The node of that name, if `from` may go there.
    fn find(
        &self,
        from: usize,
        name: &str,
        declared: Option<&[usize]>,
    ) -> Result<usize, AgentError> {
        let problem = match self.plan.index_of(name) {
            Some(node) if declared.is_none_or(|declared| declared.contains(&node)) => {
                return Ok(node);
            }
            Some(_) => format!(
                "`{name}` is not among the nodes it says it may go to; add it to its `goto [..]`"
            ),
            None if name == START => "`START` is no target: a run starts there once".to_owned(),
            None => {
                let names = self.plan.names.iter();
                let known: Vec<_> = names.map(|name| format!("`{name}`")).collect();
                format!("there is no node `{name}` (nodes: {})", known.join(", "))
            }
        };
        Err(self.no_such_way(from, name, problem))
    }

    fn no_such_way(&self, from: usize, target: &str, problem: String) -> AgentError {
        AgentError::Routing {
            node: self.plan.node_name(from),
            target: target.to_owned(),
            problem,
        }
    }

    /// Puts a node on the next frontier, once.
    fn reach(&mut self, node: usize) {
        // The stamp is of the superstep that has just run; 0 means never.
        let stamp = self.taken + 1;
        match self.marks.get_mut(node) {
            Some(mark) if *mark == stamp => return,
            Some(mark) => *mark = stamp,
            None => return,
        }
        if self.plan.nodes.get(node).is_some_and(|node| node.defer) {
            if !self.deferred.contains(&node) {
                self.deferred.push(node);
            }
        } else {
            self.frontier.push(Task::by_edge(node));
        }
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
            *seen = super::machine::Seen::default();
            self.reach(join.target);
        }
    }

    /// The tasks that a command from outside starts beside what is pending.
    pub(super) fn joining(&mut self, jump: Jump<S>) -> Result<Vec<Task<S>>, AgentError> {
        let pending = std::mem::take(&mut self.frontier);
        let start = self.plan.nodes.len();
        if let Jump::To(to) = jump {
            for target in to.targets {
                self.take_target(start, target, None)?;
            }
        }
        self.settle();
        if pending.is_empty() {
            self.release_deferred();
        }
        let mut new = std::mem::replace(&mut self.frontier, pending);
        // A node that is pending runs once.
        new.retain(|task| {
            let known = |pending: &Task<S>| pending.node == task.node && pending.argument.is_none();
            task.argument.is_some() || !self.frontier.iter().any(known)
        });
        Ok(new)
    }

    /// Puts the next frontier in its order: nodes as the graph declares them, then sends.
    pub(super) fn settle(&mut self) {
        if self.frontier.len() > 1 {
            self.frontier.sort_unstable_by_key(|task| task.node);
        }
        self.frontier.append(&mut self.sends);
    }

    /// Deferred nodes run when nothing else is pending.
    pub(super) fn release_deferred(&mut self) {
        if self.frontier.is_empty() && !self.deferred.is_empty() {
            self.deferred.sort_unstable();
            self.frontier
                .extend(self.deferred.drain(..).map(Task::by_edge));
        }
    }
}
