//! What a test simulates.

use std::sync::Arc;
use std::time::Duration;

use langgraph::graph::CompiledStateGraph;
use langgraph::interrupt::Interrupt;
use langgraph::run::Run;
use langgraph::state::State;
use langgraph::thread::Thread;
use langgraph_agent::ChatModel;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::blocking::BlockedNodes;
use super::fault::Fault;
use super::saver::SaverLink;
use crate::intercepted::InterceptedSaver;

/// Starts the first run of a thread, with the input of a number.
pub(super) type Begin<S> = dyn Fn(&Thread<S>, u64) -> Run<S> + Send + Sync;

/// Answers an interrupt.
pub(super) type Answers = dyn Fn(&Interrupt) -> Value + Send + Sync;

/// Makes the model of a thread, which has a number.
pub(super) type Models = dyn Fn(u64) -> Arc<dyn ChatModel> + Send + Sync;

/// Attaches a saver of bytes to a graph.
pub(super) type Attach<S> =
    fn(CompiledStateGraph<S>, Arc<InterceptedSaver<SaverLink>>) -> CompiledStateGraph<S>;

/// What a test simulates: the graph, its clients, and their limits.
pub(super) struct Setup<S: State> {
    pub(super) graph: CompiledStateGraph<S>,
    pub(super) threads: usize,
    pub(super) begin: Arc<Begin<S>>,
    pub(super) answer: Arc<Answers>,
    pub(super) by_key: bool,
    pub(super) model: Option<Arc<Models>>,
    pub(super) faults: Vec<Fault>,
    /// The time without an event after which a thread counts as stuck.
    pub(super) patience: Duration,
    pub(super) blocked: BlockedNodes,
    pub(super) attach: Attach<S>,
    pub(super) json: fn(&S) -> Value,
}

impl<S: State> Setup<S>
where
    S::Update: Serialize + DeserializeOwned,
{
    pub(super) fn new(graph: &CompiledStateGraph<S>) -> Self {
        Self {
            graph: graph.clone(),
            threads: 1,
            begin: Arc::new(|thread, _| thread.run(())),
            answer: Arc::new(|_| Value::Bool(true)),
            by_key: false,
            model: None,
            faults: Fault::ALL.to_vec(),
            patience: Duration::from_secs(3600),
            blocked: BlockedNodes::default(),
            attach: |graph, saver| graph.checkpointer(saver),
            json: |state| {
                let unwritable = |error: serde_json::Error| Value::String(error.to_string());
                serde_json::to_value(S::Update::from(state.clone())).unwrap_or_else(unwritable)
            },
        }
    }
}
