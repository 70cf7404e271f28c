//! What the project's tests share.

mod byte_saver;
pub mod parity;

pub use byte_saver::ByteSaver;
