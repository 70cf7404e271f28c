//! Deep agents, one file for each part.
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod bounds;
mod builder;
mod disk;
mod exports;
mod files;
mod instructions;
mod large_results;
mod patterns;
mod permissions;
mod places;
mod recovery;
mod skills;
mod storage;
mod sub_agents;
mod support;

/// A saver that keeps bytes. The tests of `langgraph-sqlite` give `recovery` and `storage` its own.
fn saver() -> langgraph_tests::ByteSaver {
    langgraph_tests::ByteSaver::default()
}
