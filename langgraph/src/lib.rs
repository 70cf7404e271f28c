//! Stateful agent graphs for Rust, declared in the type system.

#[allow(unused_extern_crates)] // expansions say `::langgraph`, in this crate too
extern crate self as langgraph;

#[doc(hidden)]
pub mod __private;
#[cfg(feature = "agent")]
pub mod agent;
pub mod checkpoint;
mod error;
pub mod graph;
pub mod message;
pub mod node;
pub mod remote;
pub mod run;
pub mod state;
pub mod stream;

pub use error::{AgentError, Failure, InvalidUpdate, Pause};
pub use graph::{CompiledStateGraph, END, START, StateGraph};
#[cfg(feature = "agent")]
pub use langgraph_macros::tool;
#[doc(inline)]
pub use langgraph_macros::{State, graph, node};
pub use node::{Agent, Command, Context, Next, Node, NodeError};
pub use run::Outcome;
pub use state::State;

/// What most programs need: `use langgraph::prelude::*;`.
pub mod prelude {
    #[cfg(feature = "agent")]
    pub use crate::agent::{ChatModel, ChatModelExt};
    pub use crate::error::AgentError;
    pub use crate::graph::{CompiledStateGraph, END, START, StateGraph};
    pub use crate::message::{Message, MessageKind};
    pub use crate::node::{Agent, Command, Context, Interrupted, Next, Node, NodeError, NodeExt};
    pub use crate::run::Outcome;
    pub use crate::state::Plain;
    // `State` is the trait and its derive.
    pub use crate::State;
    pub use crate::stream::{Event, EventKind, Mode};
    #[cfg(feature = "agent")]
    pub use langgraph_macros::tool;
    pub use langgraph_macros::{graph, node};
}
