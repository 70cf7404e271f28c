//! Graphs that ask agents elsewhere: through a network in the process, and through a relay.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // also in what the tests share

mod agents;
mod asking;
mod budgets;
#[path = "../../../../tests/src/fixtures/time_limit.rs"]
mod ends;
mod every_row;
mod failing;
mod mail;
mod refused;
mod relay;
mod streaming;
mod threads;
