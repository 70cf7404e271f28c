//! How clients see the snapshots of a graph.

use langgraph::State;
use langgraph::checkpoint::Snapshot;
use langgraph::graph::Topology;
use serde::Serialize;
use serde_json::Value;

use super::checkpoint_place::CheckpointPlace;
use super::event::hide_errors;
use super::inner_states::name_inner;
use super::json::{InnerReader, snapshot_value};
use super::unwritten::Unwritten;

/// How clients see the snapshots of a graph.
pub(crate) struct View<'a> {
    pub(super) place: CheckpointPlace,
    pub(super) unwritten: &'a Unwritten,
    pub(super) inner: &'a [InnerReader],
    pub(super) topology: &'a Topology,
    /// Clients read why a node failed.
    pub(super) shows_errors: bool,
}

impl View<'_> {
    /// Returns a snapshot as clients see it.
    pub(super) fn shown<S: State<Update: Serialize>>(&self, snapshot: &Snapshot<S>) -> Value {
        let mut state = snapshot_value(snapshot, &self.place, self.unwritten, self.inner);
        name_inner(&mut state, self.topology);
        if !self.shows_errors {
            hide_errors(&mut state);
        }
        state
    }
}
