//! Errors of runs, nodes and threads.

pub use langgraph_error::{
    AgentError, ErrorKind, Failure, InvalidUpdate, NoRuntime, NodeError, NodeTimeout, Panicked,
    Pause, SubgraphError, TaskFailure, TimeoutKind, Transient, WrittenBy, is_transient,
};
