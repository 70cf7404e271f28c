//! Runs as responses.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod replay;
mod sse;
mod support;
