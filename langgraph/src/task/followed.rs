//! How often a run has followed the edges that have a bound.

use crate::error::AgentError;
use crate::graph::plan::PlanNode;
use crate::node::{Exit, NodeId, PlanBound, RunBounds, Scope};
use crate::state::State;
use crate::task::Task;

/// Counts the edges of a run that have a bound.
pub(crate) struct Followed {
    /// The counts, which the run's nodes read; `None` if no edge has a bound.
    counts: Option<RunBounds>,
    /// The edges that were followed in this superstep.
    now: Vec<usize>,
}

impl Followed {
    /// Counts from 0.
    pub(crate) fn new(scope: &Scope) -> Self {
        let counts = scope.bounds.clone();
        if let Some(counts) = &counts {
            counts.reset();
        }
        Self {
            counts,
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
        (from, node): (NodeId, &PlanNode<S>),
        picked: Option<usize>,
        goes_on: impl Fn(NodeId) -> bool,
    ) -> Option<NodeId> {
        let out = &node.out;
        if let Some(next) = out.only_next(picked) {
            return Some(next).filter(|next| goes_on(*next));
        }
        let next = out.only_counted(picked).filter(|next| goes_on(*next))?;
        self.passes(from, next).then_some(next)
    }

    /// Follows the only edge of a superstep; returns false, and does not, if its bound is reached.
    fn passes(&self, from: NodeId, to: NodeId) -> bool {
        let Some(counts) = &self.counts else {
            return true;
        };
        let Some((index, bound)) = bound_of(counts, from, to) else {
            return true;
        };
        let times = counts.times(index);
        if times < bound.at_most {
            counts.set(index, times + 1);
        }
        times < bound.at_most
    }

    /// Follows an edge; a send counts each time. Returns where it leads: to its target, or if its bound is
    /// reached, to the exit, which is `None` for END. Without an exit, or if the bounds of all exits are reached, it
    /// leads to the target, and [`check`](Self::check) fails there: the superstep that leads to it counts.
    ///
    /// # Errors
    ///
    /// If the bound of a send is reached that has no exit left: the superstep that sends does not count.
    pub(crate) fn pass(
        &mut self,
        from: NodeId,
        to: NodeId,
        sent: bool,
    ) -> Result<Option<NodeId>, AgentError> {
        let (Some(counts), now) = (&self.counts, &mut self.now) else {
            return Ok(Some(to));
        };
        let mut target = to;
        // The edge to an exit may have a bound too.
        for _ in 0..=counts.bounds().len() {
            let Some((index, bound)) = bound_of(counts, from, target) else {
                return Ok(Some(target));
            };
            if count(counts, now, index, bound.at_most, sent && target == to) {
                return Ok(Some(target));
            }
            target = match bound.exit {
                Exit::Fails if sent && target == to => return Err(bound.reached()),
                Exit::Fails => {
                    exceed(counts, index, bound.at_most);
                    return Ok(Some(target));
                }
                Exit::End => return Ok(None),
                Exit::Node(exit) => exit,
            };
        }
        // The exits lead to each other in a circle.
        match bound_of(counts, from, to) {
            Some((_, bound)) if sent => Err(bound.reached()),
            Some((index, bound)) => {
                exceed(counts, index, bound.at_most);
                Ok(Some(to))
            }
            None => Ok(None),
        }
    }

    /// Checks that no edge to these tasks was followed beyond its bound.
    ///
    /// # Errors
    ///
    /// That of the bound.
    #[inline]
    pub(crate) fn check<S: State>(&self, tasks: &[Task<S>]) -> Result<(), AgentError> {
        let Some(counts) = &self.counts else {
            return Ok(());
        };
        let mut bounds = counts.bounds().iter().zip(0..);
        let exceeded = bounds.find(|(bound, index)| {
            counts.times(*index) > bound.at_most && bound.fails && leads_to(bound, tasks)
        });
        exceeded.map_or(Ok(()), |(bound, _)| Err(bound.reached()))
    }

    /// Forgets that edges were followed beyond their bounds which lead to none of the tasks that are kept.
    pub(crate) fn forget_exceeded<S: State>(&self, kept: &[Task<S>]) {
        let Some(counts) = &self.counts else {
            return;
        };
        for (bound, index) in counts.bounds().iter().zip(0..) {
            if !leads_to(bound, kept) {
                counts.set(index, bound.at_most.min(counts.times(index)));
            }
        }
    }
}

/// Returns the bound of an edge.
fn bound_of(counts: &RunBounds, from: NodeId, to: NodeId) -> Option<(usize, &PlanBound)> {
    let mut bounds = counts.bounds().iter().enumerate();
    bounds.find(|(_, bound)| (bound.from, bound.to) == (from, to))
}

/// Counts an edge beyond its bound.
fn exceed(counts: &RunBounds, index: usize, at_most: u32) {
    counts.set(index, at_most.saturating_add(1));
}

/// Counts an edge, once in a superstep and each send; returns false if its bound is reached.
fn count(counts: &RunBounds, now: &mut Vec<usize>, index: usize, at_most: u32, sent: bool) -> bool {
    if !sent && now.contains(&index) {
        return true;
    }
    let times = counts.times(index);
    if times >= at_most {
        return false;
    }
    counts.set(index, times + 1);
    if !sent {
        now.push(index);
    }
    true
}

fn leads_to<S: State>(bound: &PlanBound, tasks: &[Task<S>]) -> bool {
    tasks.iter().any(|task| task.node == bound.to)
}
