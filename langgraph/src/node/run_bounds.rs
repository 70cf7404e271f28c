//! How often a run follows the edges that have a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::NodeId;
use crate::checkpoint::FollowedRecord;
use crate::error::AgentError;
use langgraph_topology::NodeName;

/// How often a run follows an edge.
#[derive(Clone)]
pub(crate) struct PlanBound {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) at_most: u32,
    /// Where the run goes after that.
    pub(crate) exit: Exit,
    /// True if the edge itself has no way out: no exit, or exits in a circle, each an edge with a bound.
    pub(crate) fails: bool,
    pub(crate) names: [NodeName; 2],
}

/// Where a run goes that would follow an edge too often.
#[derive(Clone, Copy)]
pub(crate) enum Exit {
    /// Nowhere: it fails.
    Fails,
    /// Its branch ends.
    End,
    Node(NodeId),
}

impl PlanBound {
    /// Returns the error of a run that would follow the edge too often.
    #[cold]
    pub(crate) fn reached(&self) -> AgentError {
        let [from, to] = self.names.clone();
        AgentError::BoundReached {
            from,
            to,
            at_most: self.at_most,
        }
    }
}

/// The edges of a graph that have a bound, and how often a run has followed them. Clones count together: the
/// supersteps of the run count, and its nodes read.
#[derive(Clone)]
pub(crate) struct RunBounds {
    bounds: Arc<[PlanBound]>,
    /// By index of the bounds.
    times: Arc<[AtomicU32]>,
}

impl RunBounds {
    /// Counts from 0; `None` if no edge has a bound.
    pub(crate) fn new(bounds: &Arc<[PlanBound]>) -> Option<Self> {
        if bounds.is_empty() {
            return None;
        }
        Some(Self {
            bounds: Arc::clone(bounds),
            times: bounds.iter().map(|_| AtomicU32::new(0)).collect(),
        })
    }

    /// Returns the bounds, by index.
    pub(crate) fn bounds(&self) -> &[PlanBound] {
        &self.bounds
    }

    /// Returns how often the run has followed an edge.
    #[inline]
    pub(crate) fn times(&self, index: usize) -> u32 {
        let times = self.times.get(index);
        times.map_or(0, |times| times.load(Ordering::Relaxed))
    }

    /// Sets how often the run has followed an edge. Only one task does, between the supersteps.
    #[inline]
    pub(crate) fn set(&self, index: usize, count: u32) {
        if let Some(times) = self.times.get(index) {
            times.store(count, Ordering::Relaxed);
        }
    }

    /// Counts from 0 again.
    pub(crate) fn reset(&self) {
        for times in &*self.times {
            times.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the counts of the edges that were followed.
    pub(crate) fn records(&self) -> Vec<FollowedRecord> {
        let bounds = self.bounds.iter().zip(0..);
        let counted = bounds.map(|(bound, index)| (bound, self.times(index)));
        let followed = counted.filter(|(_, times)| *times > 0);
        let records = followed.map(|(bound, times)| {
            let [from, to] = bound.names.clone();
            FollowedRecord { from, to, times }
        });
        records.collect()
    }

    /// Restores the counts of the edges that still have a bound. `now` returns the present name of a node.
    pub(crate) fn restore(&self, records: &[FollowedRecord], now: impl Fn(&NodeName) -> NodeName) {
        for record in records {
            let names = [now(&record.from), now(&record.to)];
            if let Some(index) = self.bounds.iter().position(|bound| bound.names == names) {
                self.set(index, record.times);
            }
        }
    }

    /// Checks that the run may follow the edge so many times more.
    ///
    /// # Errors
    ///
    /// That of its bound.
    pub(crate) fn check(&self, edge: (&str, &str), times: usize) -> Result<(), AgentError> {
        for (bound, index) in self.bounds.iter().zip(0..) {
            let [from, to] = &bound.names;
            let left = bound.at_most.saturating_sub(self.times(index));
            let may = usize::try_from(left).map_or(true, |left| times <= left);
            if (&**from, &**to) == edge && bound.fails && !may {
                return Err(bound.reached());
            }
        }
        Ok(())
    }
}
