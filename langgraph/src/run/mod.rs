//! Runs: the superstep loop, and what starts and ends it.

mod alone;
mod asked;
mod cancel;
pub(crate) mod coder;
pub(crate) mod commit;
mod crew;
mod drive;
pub(crate) mod end;
pub(crate) mod ended;
mod execute;
mod exit;
mod failure;
mod io;
mod joins;
pub(crate) mod log;
pub(crate) mod look;
pub(crate) mod machine;
pub(crate) mod options;
mod outcome;
mod panic;
mod persistence;
pub(crate) mod prepare;
pub(crate) mod record;
mod route;
mod several;
mod side_by_side;
mod start;
mod stream;
mod stride;
mod subgraph;
pub(crate) mod task;
mod tell;
mod thread;
pub(crate) mod tip;
mod turn;

pub use cancel::CancelToken;
pub use io::IoGraph;
pub use options::Run;
pub use outcome::Outcome;
pub use persistence::Persistence;
pub use stream::{EventStream, StreamOptions};
pub use subgraph::MappedGraph;

pub(crate) use panic::catch;
