//! What a run is given, as it is stored and as clients see it.

mod checkpoint_ref;
mod mode;
mod run_spec;
mod strategy;

pub(crate) use checkpoint_ref::{CheckpointRef, checkpoint_id};
pub(crate) use mode::{Mode, graph_modes};
pub(crate) use run_spec::{RunCommand, RunConfig, RunDurability, RunSpec};
pub(crate) use strategy::Strategy;
