//! Engines that run nothing, and change a log from outside.

use std::sync::Arc;

use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::{Resources, RunBounds, Scope, Shared};
use crate::state::{State, TrackedState};
use crate::superstep::{DEFAULT_LIMIT, Engine, RunBreakpoints};
use crate::task::Position;

/// Creates an engine that changes a log from outside: a thread's log, or a subgraph's.
pub(in crate::thread) fn offline<S: State>(
    graph: &CompiledStateGraph<S>,
    shared: Shared,
    namespace: &[NodeName],
    resources: Resources,
    initial: TrackedState<S>,
) -> Engine<S> {
    let scope = Scope {
        names: Arc::clone(&graph.plan.names),
        limit: DEFAULT_LIMIT,
        bounds: RunBounds::new(&graph.plan.bounds),
        resources,
        emitter: None,
        path: Arc::<[_]>::from(namespace).into(),
        heartbeat: None,
        finished_calls: None,
        shared: Arc::new(shared),
    };
    let position = Position::new(&graph.plan, scope, initial);
    let breakpoints = RunBreakpoints::new(&graph.plan, [None, None]);
    Engine::new(position, breakpoints, graph.state_codec())
}
