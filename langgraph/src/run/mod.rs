//! Runs: the superstep loop, and what starts and ends it.

mod alone;
mod cancel;
mod coder;
mod commit;
mod execute;
mod exit;
mod history;
mod housekeeping;
mod inside;
mod io;
mod joins;
mod known;
mod load;
mod machine;
mod options;
mod outcome;
mod panic;
mod pending;
mod persistence;
mod record;
mod rivals;
mod route;
mod stream;
mod stride;
mod subgraph;
mod tell;
mod threads;
pub(crate) mod tip;
mod update;

pub use cancel::CancelToken;
pub use housekeeping::Keep;
pub use io::IoGraph;
pub use options::Run;
pub use outcome::Outcome;
pub use pending::Resumed;
pub use persistence::Persistence;
pub use rivals::OnConflict;
pub use stream::{EventStream, StreamOptions};
pub use subgraph::MappedGraph;
pub use update::{StateUpdate, ThreadUpdate};

pub(crate) use panic::catch;
