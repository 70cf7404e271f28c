//! The stored form of a run's values.

use std::sync::Arc;

use super::coding::Coding;
use super::whole::Whole;
use crate::checkpoint::{Encoded, Formats, Payload, PayloadValue, StoredValue};
use crate::error::{CheckpointError, FormatError};
use crate::graph::plan::Plan;
use crate::graph::routes::Routes;
use crate::node::{ErasedItem, NodeId, Target};
use crate::state::codec::encode;
use crate::state::wire::{LentUpdate, OutputWire, RoutesWire, TargetWire};
use crate::state::{FieldSet, State, StateCodec, TrackedState, Write};
use crate::task::Finished;

/// Converts values of a graph to payloads, and back.
pub(crate) struct Coder<S: State> {
    pub(crate) plan: Arc<Plan<S>>,
    pub(crate) codec: Option<StateCodec<S>>,
}

/// A value with its encoder.
pub(super) struct Coded<S: State, T> {
    pub(super) value: T,
    pub(super) coder: Arc<Coder<S>>,
}

/// The result of a node's task.
#[derive(Clone)]
pub(super) struct TaskDone<S: State> {
    pub(super) node: NodeId,
    pub(super) done: Finished<S>,
}

/// The item of a worker.
pub(super) struct SentItem(pub(super) Arc<dyn ErasedItem>);

impl<S: State> Coding<S> for TaskDone<S> {
    fn wire(
        &self,
        plan: &Plan<S>,
        codec: StateCodec<S>,
    ) -> Result<OutputWire<LentUpdate<'_>>, FormatError> {
        let mut wire = self.done.output.to_wire(codec)?;
        if let Some(node) = plan.node(self.node) {
            for (router, routes) in node.out.routers.iter().zip(self.done.routes.as_slice()) {
                wire.routes
                    .push(routes_wire(plan, codec, &router.arms, routes)?);
            }
        }
        wire.cached = self.done.cached;
        Ok(wire)
    }
}

impl<S: State> Coding<S> for Vec<Write<S>> {
    fn wire(
        &self,
        _: &Plan<S>,
        codec: StateCodec<S>,
    ) -> Result<OutputWire<LentUpdate<'_>>, FormatError> {
        let mut writes = Vec::with_capacity(self.len());
        for write in self {
            writes.push(write.to_wire(codec));
        }
        Ok(OutputWire::writes(writes))
    }
}

impl<S: State, T: Coding<S>> StoredValue for Coded<S, T> {
    fn encode(&self, _: usize, formats: &Formats) -> Result<Encoded, FormatError> {
        self.coder.encode(&self.value, formats)
    }

    fn state(&self) -> &'static str {
        std::any::type_name::<S>()
    }
}

impl StoredValue for SentItem {
    fn encode(&self, _: usize, formats: &Formats) -> Result<Encoded, FormatError> {
        formats.encode(&self.0.to_text()?, 0)
    }

    fn state(&self) -> &'static str {
        "the item of a worker"
    }
}

/// Writes routes by name: an arm is stored as its targets, because its index may change with the
/// graph.
fn routes_wire<'a, S: State>(
    plan: &Plan<S>,
    codec: StateCodec<S>,
    arms: &[Box<[NodeId]>],
    routes: &'a Routes<S>,
) -> Result<RoutesWire<LentUpdate<'a>>, FormatError> {
    Ok(match routes {
        Routes::Arm(arm) => {
            let mut wire = Vec::new();
            for node in arms.get(*arm).into_iter().flatten() {
                wire.push(TargetWire::Node(plan.name(*node)));
            }
            RoutesWire::Targets(wire)
        }
        Routes::Targets(targets) => RoutesWire::Targets(Target::all_to_wire(targets, codec)?),
        Routes::Several(several) => {
            let mut wire = Vec::with_capacity(several.len());
            for routes in several {
                wire.push(routes_wire(plan, codec, arms, routes)?);
            }
            RoutesWire::Several(wire)
        }
    })
}

impl<S: State> Coder<S> {
    #[inline]
    fn coded(self: &Arc<Self>, value: impl Coding<S>) -> PayloadValue {
        PayloadValue::of(Coded {
            value,
            coder: Arc::clone(self),
        })
    }

    pub(super) fn encode(
        &self,
        value: &impl Coding<S>,
        formats: &Formats,
    ) -> Result<Encoded, FormatError> {
        let Some(codec) = self.codec else {
            return Err(FormatError::new(CheckpointError::NotStorable {
                state: std::any::type_name::<S>(),
            }));
        };
        let wire = value.wire(&self.plan, codec)?;
        encode(&wire, formats, S::version().number)
    }

    /// Returns what is stored of a task's result.
    #[inline]
    pub(super) fn task_done(&self, node: NodeId, mut done: Finished<S>) -> TaskDone<S> {
        // A replay merges it into another state.
        done.merged = None;
        self.forget_untracked(done.output.writes.as_mut_slice());
        TaskDone { node, done }
    }

    /// Wraps a task's result until it is stored.
    pub(super) fn done(self: &Arc<Self>, node: NodeId, done: Finished<S>) -> PayloadValue {
        self.coded(self.task_done(node, done))
    }

    pub(crate) fn writes(self: &Arc<Self>, mut writes: Vec<Write<S>>) -> PayloadValue {
        self.forget_untracked(&mut writes);
        self.coded(writes)
    }

    /// Encodes a state: those of its fields that were written, if that is known.
    pub(crate) fn state(self: &Arc<Self>, mut state: TrackedState<S>) -> PayloadValue {
        let untracked = &self.plan.fields.untracked;
        if !untracked.is_empty() {
            Arc::make_mut(&mut state.state).reset(untracked);
            state.written.remove(untracked);
        }
        self.coded(Whole(state))
    }

    /// Removes the untracked fields of an update.
    #[inline]
    pub(super) fn forget_untracked_of(&self, update: Option<&mut S::Update>) {
        let untracked = &self.plan.fields.untracked;
        if let Some(update) = update.filter(|_| !untracked.is_empty()) {
            self.plan.initial.discard(update, untracked);
        }
    }

    /// Removes untracked fields, which are never stored, whatever the saver.
    #[inline]
    fn forget_untracked(&self, writes: &mut [Write<S>]) {
        if !self.plan.fields.untracked.is_empty() {
            self.forget_fields(writes, &self.plan.fields.untracked);
        }
    }

    fn forget_fields(&self, writes: &mut [Write<S>], untracked: &FieldSet) {
        for write in writes {
            match write {
                Write::Update(update) | Write::Overwrite(update) => {
                    self.plan.initial.discard(update, untracked);
                }
                Write::State(whole) => whole.reset(untracked),
            }
        }
    }

    pub(crate) fn item(item: Arc<dyn ErasedItem>) -> Payload {
        Payload::of(SentItem(item))
    }
}
