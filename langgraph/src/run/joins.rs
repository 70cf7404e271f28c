//! Joins that have not fired when a run ends.

use std::sync::PoisonError;

use super::machine::Machine;
use crate::graph::UnfilledJoin;
use crate::state::State;

impl<S: State> Machine<S> {
    /// The joins of this graph that have seen some of their sources.
    pub(crate) fn unfilled_joins(&self) -> Vec<UnfilledJoin> {
        let joins = self.joins.iter().zip(&self.plan.topology_joins);
        let unfilled = joins.filter(|(seen, _)| seen.count > 0);
        let report = unfilled.map(|(seen, (sources, target))| {
            UnfilledJoin::new(&self.scope.namespace, sources, target, |index, _| {
                seen.sources.contains(index)
            })
        });
        report.collect()
    }

    /// Notes for the whole run what this graph has left waiting.
    pub(crate) fn report_unfilled_joins(&self) {
        let mut unfilled = self.unfilled_joins();
        if unfilled.is_empty() {
            return;
        }
        let shared = self.scope.shared.unfilled_joins.lock();
        let mut shared = shared.unwrap_or_else(PoisonError::into_inner);
        // A graph that is called in a loop says it once.
        unfilled.retain(|join| !shared.contains(join));
        shared.append(&mut unfilled);
    }

    /// What all graphs of the run have left waiting.
    pub(crate) fn reported_joins(&self) -> Vec<UnfilledJoin> {
        let shared = self.scope.shared.unfilled_joins.lock();
        std::mem::take(&mut *shared.unwrap_or_else(PoisonError::into_inner))
    }
}
