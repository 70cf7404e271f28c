//! Threads in memory.

mod administration;
mod chunk;
mod leases;
mod linked;
mod log;
mod record;
mod records;
mod saver;
mod stored_log;
mod task_records;
mod thread;

pub use saver::MemorySaver;
