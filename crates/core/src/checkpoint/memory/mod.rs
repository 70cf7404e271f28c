//! Threads in memory.

mod administration;
mod leases;
mod log;
mod record;
mod records;
mod saver;
mod task_records;
mod thread;

pub use saver::MemorySaver;
