//! Runs: their options, their start and their outcome.

mod exit_flush;
mod future;
mod graph;
mod io;
pub(crate) mod options;
mod outcome;
mod recovery;
pub(crate) mod setup;
mod stream;
mod subgraph;
mod thread;
mod turns;

pub use crate::node::cancel::CancelToken;
pub use crate::node::persistence::Persistence;
pub use future::RunFuture;
pub use io::IoGraph;
pub use options::Run;
pub use outcome::Outcome;
pub use recovery::{ResumePending, Resumed};
pub use stream::{EventStream, StreamOptions};
pub use subgraph::MappedGraph;
