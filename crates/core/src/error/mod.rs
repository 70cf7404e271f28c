//! Errors of runs, nodes, reducers and threads.
//!
//! [`AgentError`] says why a run ended without its result, [`NodeError`] holds what a node failed
//! with, [`CheckpointError`] says why a thread cannot be read or written, and [`ErrorKind`] sorts
//! all of them for a caller.

mod agent_error;
mod checkpoint_error;
mod error_kind;
mod failure;
mod format_error;
mod interrupted;
mod into_agent_error;
mod invalid_update;
mod kind;
mod missing_resource;
mod no_runtime;
mod node_error;
mod node_timeout;
mod panicked;
mod pause;
mod quoted;
mod reducer_error;
mod subgraph_error;
mod task_failure;
mod transient;

pub use agent_error::AgentError;
pub use checkpoint_error::CheckpointError;
pub use error_kind::ErrorKind;
pub use failure::Failure;
pub use format_error::FormatError;
pub use interrupted::Interrupted;
pub use invalid_update::{InvalidUpdate, WrittenBy};
pub use missing_resource::MissingResource;
pub use no_runtime::NoRuntime;
pub use node_error::NodeError;
pub use node_timeout::{NodeTimeout, TimeoutKind};
pub use panicked::Panicked;
pub use pause::Pause;
pub use reducer_error::ReducerError;
pub use subgraph_error::SubgraphError;
pub use task_failure::TaskFailure;
pub use transient::{Transient, is_transient};
