//! Runs: the superstep loop, and what starts and ends it.

mod cancel;
mod commit;
mod execute;
mod machine;
mod options;
mod outcome;
mod panic;
mod route;
mod stream;
mod subgraph;
mod tell;

pub use cancel::CancelToken;
pub use options::Run;
pub use outcome::Outcome;
pub use stream::{EventStream, StreamOptions};
pub use subgraph::MappedGraph;
