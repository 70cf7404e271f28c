//! What expansions call. Not part of the public API: it changes without notice.

mod update;

use crate::graph::{Arm, NodeName, StateGraph};
use crate::node::{Context, IntoOutput, RouterRun, Send};
use crate::state::State;

pub use crate::graph::Pick;
pub use serde;
pub use update::{
    ByFunction, ByValue, IntoReducer, ReadField, closure_reducer, merge_field, merged, read_fields,
    reducer, reducers, see_messages,
};

/// What the arguments of a `#[tool]` function derive.
#[cfg(feature = "agent")]
pub use {schemars, serde, serde_json};

/// An empty graph in which every route is known.
pub fn closed<S: State + Default>() -> StateGraph<S> {
    StateGraph::new().closed()
}

/// Asks `router` after `source`; it picks one of `arms`: label, targets, and whether the arm is a
/// map.
pub fn add_switch<S: State>(
    graph: &mut StateGraph<S>,
    source: &str,
    arms: &[(&str, &[&str], bool)],
    router: impl for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Pick<S>>
    + std::marker::Send
    + Sync
    + 'static,
) {
    let arms = arms.iter().map(|(label, targets, map)| Arm {
        label: (*label).to_owned(),
        targets: targets.iter().map(|name| NodeName::from(*name)).collect(),
        map: *map,
    });
    graph.add_switch(source, arms.collect(), router);
}

/// Asks `sends` after `source` for the tasks of `worker`.
pub fn add_map<S: State>(
    graph: &mut StateGraph<S>,
    source: &str,
    worker: &str,
    sends: impl for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Vec<Send<S>>>
    + std::marker::Send
    + Sync
    + 'static,
) {
    graph.add_each(source, worker, sends);
}

/// Checks that a node of a graph over `S` may return `O`.
pub fn answers<S: State, O: IntoOutput<S>>() {}
