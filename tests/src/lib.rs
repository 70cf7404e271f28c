//! What the project's tests share.

pub mod bytes;
pub mod parity;
