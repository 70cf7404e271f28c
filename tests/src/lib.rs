//! What the project's tests share.

mod byte_saver;
pub mod parity;
mod savers;

pub use byte_saver::ByteSaver;
pub use savers::{Opened, open_saver};
