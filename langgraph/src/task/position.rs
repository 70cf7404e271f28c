//! The position of a run.

use std::sync::Arc;

use crate::checkpoint::{JoinRecord, UnfilledJoin};
use crate::error::{AgentError, Failure, NodeError};
use crate::graph::NodeKind;
use crate::graph::plan::Plan;
use crate::node::{NodeId, Scope};
use crate::state::{State, TrackedState, WrittenFields};
use crate::task::{JoinProgress, unfilled_joins};

/// The position of a run: what its tasks read, and what its events and records refer to.
pub(crate) struct Position<S: State> {
    pub(crate) plan: Arc<Plan<S>>,
    pub(crate) scope: Arc<Scope>,
    /// Shared while several tasks read it, and while a reader of events has it: then the next merge copies it.
    pub(crate) state: Arc<S>,
    /// The fields of the state that were written; complete only if the run is stored or emits events.
    pub(crate) written: WrittenFields,
    /// The superstep, counted over the life of the thread; -1 before START's.
    pub(crate) step: i64,
}

impl<S: State> Clone for Position<S> {
    fn clone(&self) -> Self {
        Self {
            plan: Arc::clone(&self.plan),
            scope: Arc::clone(&self.scope),
            state: Arc::clone(&self.state),
            written: self.written.clone(),
            step: self.step,
        }
    }
}

impl<S: State> Position<S> {
    /// Creates the position of a graph before its first superstep.
    #[inline]
    pub(crate) fn new(
        plan: &Arc<Plan<S>>,
        scope: impl Into<Arc<Scope>>,
        TrackedState { state, written }: TrackedState<S>,
    ) -> Self {
        Self {
            plan: Arc::clone(plan),
            scope: scope.into(),
            state,
            written,
            step: -1,
        }
    }

    /// Returns the superstep as nodes see it.
    pub(crate) fn shown_step(&self) -> usize {
        usize::try_from(self.step).unwrap_or(0)
    }

    /// Returns the state as events show it.
    pub(crate) fn tracked_state(&self) -> TrackedState<S> {
        TrackedState {
            state: Arc::clone(&self.state),
            written: self.written.clone(),
        }
    }

    /// Notes for the reader of the events which fields were written when the run ended.
    pub(crate) fn note_end(&self) {
        if let Some(start) = &self.scope.shared.start {
            start.note_written(&self.written);
        }
    }

    /// Puts the state back to an earlier one.
    pub(crate) fn restore(&mut self, TrackedState { state, written }: TrackedState<S>) {
        self.state = state;
        self.written = written;
    }

    /// Puts ephemeral fields back to their defaults.
    pub(crate) fn reset_ephemeral(&mut self) {
        let ephemeral = &self.plan.fields.ephemeral;
        if !ephemeral.is_empty() {
            Arc::make_mut(&mut self.state).reset(ephemeral);
            self.written.remove(ephemeral);
        }
    }

    /// Returns true if the graph is a subgraph in a run.
    pub(crate) fn is_subgraph(&self) -> bool {
        !self.scope.path.is_root()
    }

    /// Returns the joins that wait: those that subgraphs have left when they ended, then the graph's own.
    #[inline]
    pub(crate) fn unfilled_joins(&self, joins: &[JoinProgress]) -> Vec<UnfilledJoin> {
        let Scope { path, shared, .. } = &*self.scope;
        let mut all = shared.unfilled_joins_below(path);
        if !joins.is_empty() {
            all.extend(unfilled_joins(joins, &self.plan.topology_joins, path));
        }
        all
    }

    /// Returns true if there are [unfilled joins](Self::unfilled_joins).
    #[inline]
    pub(crate) fn has_unfilled_joins(&self, joins: &[JoinProgress]) -> bool {
        self.may_have_unfilled_joins(joins) && !self.unfilled_joins(joins).is_empty()
    }

    /// Reports the [unfilled joins](Self::unfilled_joins) of a graph that has ended.
    #[inline]
    pub(crate) fn report_unfilled_joins(&self, joins: &[JoinProgress]) {
        if self.may_have_unfilled_joins(joins) {
            let unfilled = self.unfilled_joins(joins);
            self.scope.shared.report_unfilled_joins(unfilled);
        }
    }

    #[inline]
    fn may_have_unfilled_joins(&self, joins: &[JoinProgress]) -> bool {
        !joins.is_empty() || self.scope.shared.had_unfilled_joins()
    }

    /// Returns the records of the joins that the subgraphs of a node have left.
    #[inline]
    pub(crate) fn joins_left_in(&self, node: NodeId) -> Vec<JoinRecord> {
        let Scope { path, shared, .. } = &*self.scope;
        let mut left = shared.unfilled_joins_below(path);
        if left.is_empty() {
            return Vec::new();
        }
        let name = self.plan.name(node);
        left.retain(|join| join.namespace.get(path.len()) == Some(&name));
        left.into_iter()
            .map(|join| join.into_record(path))
            .collect()
    }

    /// Adds the position to the error of a node.
    pub(crate) fn failure(&self, node: NodeId, error: NodeError) -> AgentError {
        // A subgraph's error already says what failed and where.
        let error = match error.into_agent() {
            Ok(inner) => return inner,
            Err(error) => error,
        };
        let name = self.plan.name(node);
        let namespace = self.scope.path.to_vec();
        let source = Failure::from(error);
        let nodes = &self.plan.topology.nodes;
        let info = node.place().and_then(|place| nodes.get(place));
        match info.map(|info| &info.kind) {
            Some(NodeKind::Remote { agent }) => AgentError::Remote {
                node: name,
                namespace,
                agent: agent.clone(),
                source,
            },
            _ => AgentError::Node {
                node: name,
                namespace,
                source,
            },
        }
    }
}
