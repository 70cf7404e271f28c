//! What the project's tests share.

pub mod parity;
