//! Threads in memory.

mod administration;
mod few;
mod leases;
mod log;
mod record;
mod records;
mod saver;
mod thread;

pub use saver::MemorySaver;
