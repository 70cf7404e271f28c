//! Stateful agent graphs for Rust, declared in the type system.

#[allow(unused_extern_crates)] // expansions say `::langgraph`, in this crate too
extern crate self as langgraph;

#[doc(hidden)]
pub mod __private;
pub mod checkpoint;
mod error;
pub mod graph;
pub mod message;
pub mod node;
pub mod run;
pub mod state;
pub mod stream;

pub use error::{AgentError, Failure, InvalidUpdate, Pause};
pub use graph::{CompiledStateGraph, END, START, StateGraph};
pub use langgraph_macros::graph;
pub use node::{Agent, Command, Context, Next, Node, NodeError};
pub use run::Outcome;
pub use state::State;

/// What most programs need: `use langgraph::prelude::*;`.
pub mod prelude {
    pub use crate::error::AgentError;
    pub use crate::graph;
    pub use crate::graph::{CompiledStateGraph, END, START, StateGraph};
    pub use crate::message::{Message, MessageKind};
    pub use crate::node::{Agent, Command, Context, Interrupted, Next, Node, NodeError, NodeExt};
    pub use crate::run::Outcome;
    pub use crate::state::{Plain, State};
    pub use crate::stream::{Event, EventKind, Mode};
}
