//! What can be put around a node: retries, time limits, caches, error handlers, middleware.

mod cache;
mod defaults;
mod handler;
mod middleware;
mod retry;
mod support;
mod timeout;
