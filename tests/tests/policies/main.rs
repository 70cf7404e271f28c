//! What can be put around a node: retries, time limits, caches, error handlers, middleware.

// What a test calls may panic like the test.
#![allow(clippy::unwrap_used)]

mod cache;
mod defaults;
#[path = "../support/ends.rs"]
mod ends;
mod handler;
mod middleware;
mod retry;
mod support;
mod timeout;
