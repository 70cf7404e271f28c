//! Errors of runs, nodes, reducers and threads.

pub use langgraph_core::error::{
    AgentError, CheckpointError, ErrorKind, Failure, FormatError, Interrupted, InvalidUpdate,
    NoRuntime, NodeError, NodeTimeout, Panicked, Pause, ReducerError, SubgraphError, TaskFailure,
    TimeoutKind, Transient, WrittenBy, is_transient,
};
pub(crate) use langgraph_core::error::{catch, caught};
