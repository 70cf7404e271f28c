//! Errors of runs, nodes and threads.

mod agent_error;
mod failure;
mod invalid_update;
mod kind;
mod no_runtime;
mod node_error;
mod node_timeout;
mod pause;
mod task_failure;
mod transient;

use crate::checkpoint::Interrupt;

pub use agent_error::AgentError;
pub use failure::Failure;
pub use invalid_update::{InvalidUpdate, WrittenBy};
pub(crate) use langgraph_checkpoint::quoted as list;
#[doc(inline)]
pub use langgraph_checkpoint::{ErrorKind, SubgraphError};
pub use no_runtime::NoRuntime;
pub(crate) use no_runtime::runtime;
pub use node_error::NodeError;
pub use node_timeout::{NodeTimeout, TimeoutKind};
pub use pause::Pause;
pub use task_failure::TaskFailure;
pub use transient::{Transient, is_transient};

/// Questions as a sentence lists them.
fn questions(interrupts: &[Interrupt]) -> String {
    let question = |asked: &Interrupt| format!("`{}` of node `{}`", asked.key, asked.node);
    let questions: Vec<_> = interrupts.iter().map(question).collect();
    questions.join(", ")
}
