//! What a graph is served with.

use std::collections::BTreeMap;

use langgraph::State;
use serde_json::Value;

use super::any_thread::Open;
use super::interrupt_schema::InterruptSchema;
use super::json::InnerReader;
use super::unwritten::Unwritten;
use crate::RunContext;

/// Says what is wrong with a context.
pub(crate) type ContextCheck = fn(&RunContext) -> Result<(), String>;

/// What a graph is served with.
pub(crate) struct GraphOptions<S: State> {
    pub(crate) schemas: Schemas,
    /// Says what is wrong with what a run is given beside the input.
    pub(crate) check: Option<ContextCheck>,
    pub(crate) unwritten: Unwritten,
    pub(crate) inner: Vec<InnerReader>,
    /// One for each state that a subgraph may have: that of the graph, then those of `inner`.
    pub(crate) open: Vec<Open<S>>,
}

/// The JSON Schemas of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Schemas {
    /// The schema of the input.
    pub input: Value,
    /// The schema of the output.
    pub output: Value,
    /// The schema of the state.
    pub state: Value,
    /// The schema of what runs are given beside the input; null if the graph has not declared it.
    pub context: Value,
    /// The schemas of interrupts and their answers, by the keys of the interrupts: those that the graph has
    /// declared, and those that its nodes' functions show.
    pub interrupts: BTreeMap<String, InterruptSchema>,
    /// The schema of custom events; null if the graph has not declared it.
    pub custom_event: Value,
}
