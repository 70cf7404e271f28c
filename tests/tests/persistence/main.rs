//! What a thread keeps when its runs fail, stop or are cut off.
#![allow(clippy::panic, clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod bare;
mod copying;
mod cut_off;
mod draining;
mod durability;
mod faults;
mod looking;
mod model;
mod once;
mod panics;
mod pruning;
mod rivals;
mod saver;
mod stopping;
mod support;
mod turns;
mod upkeep;
