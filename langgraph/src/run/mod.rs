//! Runs: their options, their start and their outcome.

mod function_call;
mod future;
mod graph;
mod graph_call;
mod graph_node;
mod io;
mod mapped_graph;
mod only_node;
mod recovery;
#[allow(clippy::module_inception)] // the type has the name of the module
mod run;
mod stream;
mod subgraph;
mod thread;

pub use crate::graph::run_options::RunOptions;
pub use crate::node::cancel::CancelToken;
pub use crate::node::persistence::Persistence;
pub use crate::session::Outcome;
#[doc(hidden)]
pub use function_call::{BegunCall, FunctionCall};
pub use future::RunFuture;
pub use graph_call::GraphCall;
pub use io::IoGraph;
pub use mapped_graph::MappedGraph;
pub use recovery::{ResumePending, Resumed};
pub use run::Run;
pub use stream::EventStream;
