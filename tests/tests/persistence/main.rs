//! What a thread keeps, whatever happens to its runs.
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

#[cfg(any())]
mod copying;
#[cfg(any())]
mod cut_off;
#[cfg(any())]
mod durability;
mod faults;
#[cfg(any())]
mod looking;
mod once;
#[cfg(any())]
mod pruning;
#[cfg(any())]
mod rivals;
mod saver;
mod support;
