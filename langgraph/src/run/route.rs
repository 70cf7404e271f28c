//! Finding the tasks of the next superstep.

use super::ended::{Unsettled, settle};
use super::look::follows_edges;
use super::machine::Machine;
use super::panic::{Panicked, catch};
use super::task::Task;
use crate::AgentError;
use crate::graph::plan::{Arrival, Plan, Routes};
use crate::graph::{END, START, UnknownKey};
use crate::node::{Context, Jump, NodeError, Send, Target};
use crate::state::State;

/// On a frontier of so many nodes it is quicker to look for one than to keep a note of each.
const FEW: usize = 8;

/// Asks the routers of a task that looks at `view`. What they answer leads somewhere.
pub(crate) async fn ask<S: State>(
    plan: &Plan<S>,
    node: usize,
    view: &S,
    cx: &Context,
) -> Result<Vec<Routes<S>>, Unsettled> {
    cx.begin_routing();
    let routers = &plan.outgoing(node).routers;
    let mut answers = Vec::with_capacity(routers.len());
    for router in routers {
        let asked = catch(|| router.router.ask(view, cx).into_run()).await;
        answers.push(check_answer(plan, node, cx, asked)?);
    }
    Ok(answers)
}

/// What a router answered, if it leads somewhere and waits for nothing.
#[allow(clippy::result_large_err)] // moved once, where a task ends
pub(crate) fn check_answer<S: State>(
    plan: &Plan<S>,
    node: usize,
    cx: &Context,
    answer: Result<Routes<S>, NodeError>,
) -> Result<Routes<S>, Unsettled> {
    let answer = answer.map_err(|error| router_error(plan, node, error));
    let routes = settle(answer, cx)?;
    check_routes(plan, node, &routes).map_err(NodeError::from_agent)?;
    Ok(routes)
}

/// The error of a router, as its node's: a key that is not in the path map is one of routing, and a
/// panic says where it was.
fn router_error<S: State>(plan: &Plan<S>, node: usize, error: NodeError) -> NodeError {
    match error.downcast_ref::<UnknownKey>() {
        Some(unknown) => NodeError::from_agent(AgentError::Routing {
            node: plan.node_name(node),
            target: unknown.key.to_string(),
            problem: unknown.to_string(),
        }),
        None => match error.downcast_ref::<Panicked>() {
            Some(panicked) => panicked.of_router().into(),
            None => error,
        },
    }
}

/// Fails when a task jumps where there is no way: the error is the task's own.
pub(crate) fn check_jump<S: State>(
    plan: &Plan<S>,
    node: usize,
    jump: &Jump<S>,
) -> Result<(), NodeError> {
    if let Jump::To(to) = jump {
        for target in &to.targets {
            way(plan, node, target, declared(plan, node)).map_err(NodeError::from_agent)?;
        }
    }
    Ok(())
}

fn check_routes<S: State>(
    plan: &Plan<S>,
    node: usize,
    routes: &Routes<S>,
) -> Result<(), AgentError> {
    match routes {
        Routes::Arm(_) => Ok(()),
        Routes::Targets(targets) => targets
            .iter()
            .try_for_each(|target| way(plan, node, target, None).map(drop)),
        Routes::Several(several) => several
            .iter()
            .try_for_each(|routes| check_routes(plan, node, routes)),
    }
}

/// The nodes that `node` says it may go to, if it says so.
fn declared<S: State>(plan: &Plan<S>, node: usize) -> Option<&[usize]> {
    plan.nodes.get(node)?.destinations.as_deref()
}

/// The node that a target names, if `from` may go there; none for [`END`].
fn way<S: State>(
    plan: &Plan<S>,
    from: usize,
    target: &Target<S>,
    declared: Option<&[usize]>,
) -> Result<Option<usize>, AgentError> {
    let (Target::Node(name) | Target::Send(Send { node: name, .. })) = target;
    let problem = match (plan.index_of(name), target) {
        (Some(node), _) if declared.is_none_or(|declared| declared.contains(&node)) => {
            return Ok(Some(node));
        }
        (Some(_), _) if declared.is_some_and(<[usize]>::is_empty) => format!(
            "it does not say that it may go to `{name}`; say so beside its edges: `{} => goto [{name}];`",
            plan.node_name(from)
        ),
        (Some(_), _) => format!(
            "`{name}` is not among the nodes it says it may go to; add it to its `goto [..]`"
        ),
        (None, Target::Node(_)) if &**name == END => return Ok(None),
        (None, _) if &**name == END => "a send needs a node; `END` runs nothing".to_owned(),
        (None, _) if &**name == START => "`START` is no target: a run starts there once".to_owned(),
        (None, _) => {
            let names = plan.names.iter();
            let known: Vec<_> = names.map(|name| format!("`{name}`")).collect();
            format!("there is no node `{name}` (nodes: {})", known.join(", "))
        }
    };
    Err(AgentError::Routing {
        node: plan.node_name(from),
        target: name.to_string(),
        problem,
    })
}

impl<S: State> Machine<S> {
    /// Follows a task's answer: its edges and what its routers said, or where it jumps.
    pub(crate) fn follow(
        &mut self,
        plan: &Plan<S>,
        node: usize,
        jump: Jump<S>,
        routes: Vec<Routes<S>>,
    ) -> Result<(), AgentError> {
        let follows_edges = follows_edges(&jump);
        // What the node says itself comes first, so its sends run before those of its routers.
        if let Jump::To(to) = jump {
            for target in to.targets {
                self.take_target(node, target, declared(plan, node))?;
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
        match (way(&self.plan, from, &target, declared)?, target) {
            (None, _) => {}
            (Some(node), Target::Node(_)) => self.reach(node),
            (Some(node), Target::Send(Send { argument, .. })) => {
                self.sends.push(Task::sent(node, argument));
            }
        }
        Ok(())
    }

    /// Puts a node on the next frontier, once.
    fn reach(&mut self, node: usize) {
        if self.is_reached(node) {
            return;
        }
        if self.plan.defers(node) {
            if !self.deferred.contains(&node) {
                self.deferred.push(node);
            }
        } else if node < self.plan.nodes.len() {
            self.frontier.push(Task::by_edge(node));
        }
    }

    /// True when the node is on the next frontier; from now on it is.
    fn is_reached(&mut self, node: usize) -> bool {
        if self.frontier.len() < FEW {
            return self.frontier.iter().any(|task| task.node == node);
        }
        // The stamp is of the superstep that has just run; 0 means never.
        let stamp = self.taken + 1;
        if self.frontier.len() == FEW {
            self.marks.resize(self.plan.nodes.len(), 0);
            for task in &self.frontier {
                if let Some(mark) = self.marks.get_mut(task.node) {
                    *mark = stamp;
                }
            }
        }
        let mark = self.marks.get_mut(node);
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
            *seen = super::machine::Seen::default();
            self.reach(join.target);
        }
    }

    /// The tasks that a command from outside starts beside what is pending.
    pub(crate) fn joining(&mut self, jump: Jump<S>) -> Result<Vec<Task<S>>, AgentError> {
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
    pub(crate) fn settle(&mut self) {
        if self.frontier.len() > 1 {
            self.frontier.sort_unstable_by_key(|task| task.node);
        }
        self.frontier.append(&mut self.sends);
    }

    /// Puts a task into the frontier where [`settle`](Self::settle) would have it, and says where.
    pub(crate) fn insert(&mut self, task: Task<S>) -> usize {
        let start = self.plan.nodes.len();
        let behind = |other: &Task<S>| {
            other.argument.is_some() || other.node != start && other.node > task.node
        };
        let sent = task.argument.is_some();
        let place = self
            .frontier
            .iter()
            .position(|other| !sent && behind(other));
        let place = place.unwrap_or(self.frontier.len());
        self.frontier.insert(place, task);
        place
    }

    /// Deferred nodes run when nothing else is pending.
    pub(crate) fn release_deferred(&mut self) {
        if self.frontier.is_empty() && !self.deferred.is_empty() {
            self.deferred.sort_unstable();
            self.frontier
                .extend(self.deferred.drain(..).map(Task::by_edge));
        }
    }
}
