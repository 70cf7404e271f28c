//! A node whose tasks run in another process.

use std::ptr;
use std::sync::{Arc, Weak};

use langgraph_core::Lock;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Executor;
use super::call::{Slot, TaskCall};
use crate::error::NodeError;
use crate::graph::CompiledStateGraph;
use crate::log::TaskPosition;
use crate::node::{Call, ErasedItem, NodeRun, Output, Step, whole};
use crate::state::codec::write_text;
use crate::state::wire::{OutputWire, WriteWire};
use crate::state::{State, StateCodec};
use langgraph_topology::NodeKind;

impl<S: State> CompiledStateGraph<S>
where
    S::Update: Serialize + DeserializeOwned,
{
    /// Returns the graph with an executor: nodes that may run [anywhere](crate::graph::NodeExt::anywhere)
    /// run where it says.
    #[must_use]
    pub fn executor(mut self, executor: impl Executor) -> Self {
        let plan = Arc::make_mut(&mut self.plan);
        plan.at_once = executor.at_once();
        let shared = Arc::new(RemoteSteps {
            executor: Box::new(executor),
            codec: StateCodec::serde(),
            graph: plan.topology.name.clone(),
            fingerprint: plan.fingerprint,
            initial: plan.initial.clone(),
            slots: Lock::default(),
        });
        let infos = plan.topology.nodes.iter();
        for (info, node) in infos.zip(plan.nodes.iter_mut().skip(1)) {
            if info.anywhere && !matches!(info.kind, NodeKind::Subgraph(_)) {
                node.step = Arc::new(RemoteStep {
                    local: Arc::clone(&node.step),
                    shared: Arc::clone(&shared),
                });
            }
        }
        self
    }
}

struct RemoteStep<S: State> {
    /// The node itself, for a task that a worker runs.
    local: Arc<dyn Step<S>>,
    shared: Arc<RemoteSteps<S>>,
}

struct RemoteSteps<S: State> {
    executor: Box<dyn Executor>,
    codec: StateCodec<S>,
    graph: String,
    fingerprint: u64,
    initial: S,
    /// The texts of the snapshots of running tasks, by the snapshots' addresses. A text lives as long
    /// as a task that borrows its snapshot, so the address is that of no other state.
    slots: Lock<Vec<(usize, Weak<Slot>)>>,
}

impl<S: State> RemoteSteps<S> {
    fn slot(&self, state: &S) -> Arc<Slot> {
        let address = ptr::from_ref(state).addr();
        let mut slots = self.slots.lock();
        slots.retain(|(_, slot)| slot.strong_count() > 0);
        let known = slots.iter().find(|(known, _)| *known == address);
        if let Some(slot) = known.and_then(|(_, slot)| slot.upgrade()) {
            return slot;
        }
        let slot = Arc::default();
        slots.push((address, Arc::downgrade(&slot)));
        slot
    }

    fn text(&self, state: &S) -> Result<String, NodeError> {
        let state = self.codec.give(whole(state));
        Ok(write_text(&OutputWire::writes(vec![WriteWire::State(
            state,
        )]))?)
    }

    async fn run(&self, call: Call<'_, S>) -> Result<Output<S>, NodeError> {
        let cx = call.cx;
        let encode = || self.text(call.state);
        // Not that of the context, which would keep it until the superstep ends.
        let new = || langgraph_core::new_id().to_string();
        let task = TaskCall {
            cx,
            item: call.item.map(ErasedItem::to_text).transpose()?,
            identity: cx.place().map_or_else(new, TaskPosition::identity),
            graph: &self.graph,
            fingerprint: self.fingerprint,
            slot: self.slot(call.state),
            encode: &encode,
        };
        let reply = self.executor.run(task).await?;
        reply.take(cx, self.codec, &self.initial)
    }
}

impl<S: State> Step<S> for RemoteStep<S> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        if call.cx.reporter().is_some() {
            return self.local.call(call);
        }
        NodeRun::future(self.shared.run(call))
    }

    fn check_item(&self, item: &dyn ErasedItem, node: &str) -> Result<(), NodeError> {
        self.local.check_item(item, node)
    }

    fn code(&self) -> &'static str {
        self.local.code()
    }
}
