//! Upgrades: what each release has stored, and the next one goes on with.
//!
//! [`keep`] serves the [graphs](graphs::serve) with the program of a release, brings their threads to states in which a
//! deploy may find them, kills the server, and keeps what it had stored in a folder. The tests open a copy of each
//! folder with the program of today and go on.

#![allow(clippy::missing_errors_doc)] // whatever fails is shown as it is

mod agents;
mod api;
pub mod graphs;
mod keep;
mod kept;
mod process;
mod program;
mod states;
mod storage;
pub mod threads;

pub use api::Api;
pub use keep::keep;
pub use kept::{Kept, KeptEvent, KeptRun, releases};
pub use process::serve;
pub use program::Program;
pub use storage::{Kind, Storage};

/// The result of whatever may fail in many ways.
pub type Fallible<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;
