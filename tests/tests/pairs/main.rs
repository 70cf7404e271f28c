//! Features that wrap or cross a run, two at a time. `table.txt` has a cell for each pair: a test, or
//! why the two do not meet.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // also in what the tests share

mod ends;
mod models;
mod orders;
mod policies;
mod table;
mod tools;
