//! How often a run has followed the edges that have a bound.

use crate::error::AgentError;
use crate::graph::plan::{Plan, PlanNode};
use crate::graph::plan_bound::{Exit, PlanBound};
use crate::node::NodeId;
use crate::state::State;
use crate::task::Task;

/// Counts the edges of a run that have a bound.
pub(crate) struct Followed {
    /// By index of the plan's bounds.
    pub(crate) times: Box<[u32]>,
    /// The edges that were followed in this superstep.
    now: Vec<usize>,
}

impl Followed {
    pub(crate) fn new<S: State>(plan: &Plan<S>) -> Self {
        Self {
            times: plan.bounds.iter().map(|_| 0).collect(),
            now: Vec::new(),
        }
    }

    /// Begins a superstep, in which an edge counts once.
    pub(crate) fn begin_superstep(&mut self) {
        self.now.clear();
    }

    /// Follows the only edge of a superstep if the run `goes_on` over it; returns its target.
    #[inline]
    pub(crate) fn only_next<S: State>(
        &mut self,
        plan: &Plan<S>,
        (from, node): (NodeId, &PlanNode<S>),
        picked: Option<usize>,
        goes_on: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        let out = &node.out;
        if let Some(next) = out.only_next(picked) {
            return Some(next).filter(|next| goes_on(*next));
        }
        let next = out.only_counted(picked).filter(|next| goes_on(*next))?;
        self.passes(plan, from, next).then_some(next)
    }

    /// Follows the only edge of a superstep; returns false, and does not, if its bound is reached.
    fn passes<S: State>(&mut self, plan: &Plan<S>, from: NodeId, to: NodeId) -> bool {
        let mut bounds = plan.bounds.iter().zip(&mut self.times);
        match bounds.find(|(bound, _)| (bound.from, bound.to) == (from, to)) {
            None => true,
            Some((bound, times)) if *times < bound.at_most => {
                *times += 1;
                true
            }
            Some(_) => false,
        }
    }

    /// Follows an edge; a send counts each time. Returns where it leads: to its target, or if its bound is
    /// reached, to the exit, which is `None` for END. Without an exit, or if the bounds of all exits are reached, it
    /// leads to the target, and [`check`](Self::check) fails there: the superstep that leads to it counts.
    ///
    /// # Errors
    ///
    /// If the bound of a send is reached that has no exit left: the superstep that sends does not count.
    pub(crate) fn pass<S: State>(
        &mut self,
        plan: &Plan<S>,
        from: NodeId,
        to: NodeId,
        sent: bool,
    ) -> Result<Option<NodeId>, AgentError> {
        if plan.bounds.is_empty() {
            return Ok(Some(to));
        }
        let mut target = to;
        // The edge to an exit may have a bound too.
        for _ in 0..=plan.bounds.len() {
            let mut bounds = plan.bounds.iter().enumerate();
            let bound = bounds.find(|(_, bound)| (bound.from, bound.to) == (from, target));
            let Some((index, bound)) = bound else {
                return Ok(Some(target));
            };
            if self.count(index, bound.at_most, sent && target == to) {
                return Ok(Some(target));
            }
            target = match bound.exit {
                Exit::Fails if sent && target == to => return Err(bound.reached()),
                Exit::Fails => {
                    self.exceed(index, bound.at_most);
                    return Ok(Some(target));
                }
                Exit::End => return Ok(None),
                Exit::Node(exit) => exit,
            };
        }
        // The exits lead to each other in a circle.
        let mut bounds = plan.bounds.iter().enumerate();
        match bounds.find(|(_, bound)| (bound.from, bound.to) == (from, to)) {
            Some((_, bound)) if sent => Err(bound.reached()),
            Some((index, bound)) => {
                self.exceed(index, bound.at_most);
                Ok(Some(to))
            }
            None => Ok(None),
        }
    }

    /// Counts an edge beyond its bound.
    fn exceed(&mut self, index: usize, at_most: u32) {
        if let Some(times) = self.times.get_mut(index) {
            *times = at_most.saturating_add(1);
        }
    }

    /// Checks that no edge to these tasks was followed beyond its bound.
    ///
    /// # Errors
    ///
    /// That of the bound.
    #[inline]
    pub(crate) fn check<S: State>(
        &self,
        plan: &Plan<S>,
        tasks: &[Task<S>],
    ) -> Result<(), AgentError> {
        let mut bounds = plan.bounds.iter().zip(&self.times);
        let exceeded = bounds.find(|(bound, times)| {
            **times > bound.at_most && bound.fails && leads_to(bound, tasks)
        });
        exceeded.map_or(Ok(()), |(bound, _)| Err(bound.reached()))
    }

    /// Forgets that edges were followed beyond their bounds which lead to none of the tasks that are kept.
    pub(crate) fn forget_exceeded<S: State>(&mut self, plan: &Plan<S>, kept: &[Task<S>]) {
        for (bound, times) in plan.bounds.iter().zip(&mut self.times) {
            if !leads_to(bound, kept) {
                *times = bound.at_most.min(*times);
            }
        }
    }

    /// Counts an edge; returns false if its bound is reached.
    fn count(&mut self, index: usize, at_most: u32, sent: bool) -> bool {
        if !sent && self.now.contains(&index) {
            return true;
        }
        let Some(times) = self.times.get_mut(index).filter(|times| **times < at_most) else {
            return false;
        };
        *times += 1;
        if !sent {
            self.now.push(index);
        }
        true
    }
}

fn leads_to<S: State>(bound: &PlanBound, tasks: &[Task<S>]) -> bool {
    tasks.iter().any(|task| task.node == bound.to)
}
