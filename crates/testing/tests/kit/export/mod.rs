//! Tests that are made of stored threads.

mod change;
mod desk;
mod files;
mod lanes;
mod mistakes;
mod regressions;
mod secrets;
mod shop;
