//! Runs as responses.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backlog;
mod replay;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod slow_clients;
mod sse;
mod support;
