//! Entrypoints and their tasks: in one program, as they share the engine for the state of a task.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod attempts;
mod budget;
mod calls;
mod crash;
mod keys;
mod options;
mod threads;
