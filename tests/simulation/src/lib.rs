//! A network in one process: what is sent over it is late or lost, and machines crash and are cut off.
//!
//! The tests of `langgraph-nats` use it, and so does the seed that drives servers, relay, agents and workers: the test
//! `simulation` of this package.

mod net;
mod panics;
mod weather;

pub use net::{Machine, Net};
pub use panics::noting_panics;
pub use weather::{Conditions, Weather};
