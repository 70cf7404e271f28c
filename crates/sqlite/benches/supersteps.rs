//! Durable supersteps a second in a file of SQLite, with 1, 16 and 64 threads:
//! `cargo bench -p langgraph-sqlite --bench supersteps`.
//!
//! What they are measured with is in `langgraph/benches/workloads`.

// A benchmark may stop when it cannot go on.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

#[path = "../../../langgraph/benches/workloads/supersteps.rs"]
mod supersteps;

use std::sync::Arc;

use langgraph_sqlite::SqliteSaver;

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let saver = SqliteSaver::open(folder.path().join("threads.db"));
        supersteps::measure("SQLite", Arc::new(saver.unwrap())).await;
    });
}
