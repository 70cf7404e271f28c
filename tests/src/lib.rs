//! What the project's tests share.

mod byte_saver;
pub mod golden;
mod over_memory;
pub mod parity;
mod savers;

pub use byte_saver::{ByteSaver, KeptLog};
pub use over_memory::OverMemory;
pub use savers::{Opened, open_saver};
