//! What expansions call. Not part of the public API: it changes without notice.

use crate::graph::{Arm, NodeName, StateGraph};
use crate::node::{Context, RouterRun, Send};
use crate::state::State;

pub use crate::graph::Pick;

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
