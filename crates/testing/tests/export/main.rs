//! Tests that are made of stored threads.
#![allow(clippy::unwrap_used, clippy::panic)] // clippy does not know that helpers of tests are tests

mod change;
mod desk;
mod files;
mod lanes;
mod mistakes;
mod regressions;
mod secrets;
mod shop;
