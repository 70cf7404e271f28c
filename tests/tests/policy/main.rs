//! What surrounds a node: retries, time limits, caches, error handlers, middleware.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_wraps,
    reason = "helpers of tests are tests; the shapes of nodes and routers are the runtime's"
)]

mod cache;
mod cached_messages;
mod defaults;
mod error_handler;
mod middleware;
mod retry;
mod timeout;
