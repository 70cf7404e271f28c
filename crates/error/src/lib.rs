//! Errors of runs, nodes and threads, independent of graphs.
//!
//! Programs use them as `langgraph::AgentError` and `langgraph::NodeError`. [`AgentError`] says why a run
//! ended without its result, [`NodeError`] holds whatever a node failed with, and [`ErrorKind`] sorts
//! both for a caller.

mod agent_error;
mod failure;
mod invalid_update;
mod kind;
mod no_runtime;
mod node_error;
mod node_timeout;
mod panicked;
mod pause;
mod task_failure;
mod transient;

use langgraph_checkpoint::Interrupt;

pub use agent_error::AgentError;
pub use failure::Failure;
pub use invalid_update::{InvalidUpdate, WrittenBy};
#[doc(inline)]
pub use langgraph_checkpoint::{ErrorKind, SubgraphError};
pub use no_runtime::NoRuntime;
pub use node_error::NodeError;
pub use node_timeout::{NodeTimeout, TimeoutKind};
pub use panicked::{Catch, Panicked, catch, caught, contained};
pub use pause::Pause;
pub use task_failure::TaskFailure;
pub use transient::{Transient, is_transient};

/// Questions as a sentence lists them.
fn questions(interrupts: &[Interrupt]) -> String {
    let question = |asked: &Interrupt| format!("`{}` of node `{}`", asked.key, asked.node);
    let questions: Vec<_> = interrupts.iter().map(question).collect();
    questions.join(", ")
}
