//! Engines that do not run.

use std::sync::Arc;

use super::Engine;
use super::budget::DEFAULT_LIMIT;
use crate::graph::{CompiledStateGraph, NodeName};
use crate::node::{Resources, Scope, Shared};
use crate::state::State;

impl<S: State> Engine<S> {
    /// Creates an engine that changes a log from outside: a thread's log, or a subgraph's.
    pub(crate) fn offline(
        graph: &CompiledStateGraph<S>,
        thread: &str,
        namespace: &[NodeName],
        resources: Resources,
        initial: Arc<S>,
    ) -> Self {
        let scope = Scope {
            names: Arc::clone(&graph.plan.names),
            limit: DEFAULT_LIMIT,
            resources,
            emitter: None,
            namespace: namespace.into(),
            heartbeat: None,
            shared: Arc::new(Shared {
                thread: Some(thread.to_owned()),
                ..Shared::default()
            }),
        };
        Self::new(graph, scope, initial)
    }
}
