//! Errors of runs, nodes and threads.

mod agent_error;
mod failure;
mod invalid_update;
mod kind;
mod no_runtime;
mod node_error;
mod node_timeout;
mod pause;
mod subgraph_error;
mod transient;

use langgraph_topology::NodeName;

use crate::checkpoint::Interrupt;

pub use agent_error::AgentError;
pub use failure::Failure;
pub use invalid_update::{InvalidUpdate, WrittenBy};
#[doc(inline)]
pub use langgraph_checkpoint::ErrorKind;
pub use no_runtime::NoRuntime;
pub(crate) use no_runtime::runtime;
pub use node_error::NodeError;
pub use node_timeout::{NodeTimeout, TimeoutKind};
pub use pause::Pause;
pub use subgraph_error::SubgraphError;
pub use transient::is_transient;

/// Questions as a sentence lists them.
fn questions(interrupts: &[Interrupt]) -> String {
    let question = |asked: &Interrupt| format!("`{}` of node `{}`", asked.key, asked.node);
    let questions: Vec<_> = interrupts.iter().map(question).collect();
    questions.join(", ")
}

/// Joins names for a sentence.
fn list(names: &[NodeName]) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
