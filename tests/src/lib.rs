//! What the project's tests share.

mod byte_saver;
mod over_memory;
pub mod parity;
mod savers;

pub use byte_saver::ByteSaver;
pub use over_memory::OverMemory;
pub use savers::{Opened, open_saver};
