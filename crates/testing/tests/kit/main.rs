//! Contexts, recorded models, paths of runs, evaluations, replays and tests made of threads: in one program, as they share
//! the engine for numbers and for messages.

#![allow(clippy::unwrap_used, clippy::panic)] // clippy does not know that helpers of tests are tests

mod agents;
mod cassettes;
mod context;
mod evaluation;
mod export;
mod failed_calls;
mod replay;
mod traces;
