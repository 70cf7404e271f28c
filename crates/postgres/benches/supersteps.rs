//! Durable supersteps a second in PostgreSQL, with 1, 16 and 64 threads:
//! `POSTGRES_DURABLE=yes tests/servers.sh cargo bench -p langgraph-postgres --bench supersteps`.
//!
//! What they are measured with is in `langgraph/benches/workloads`.

// A benchmark may stop when it cannot go on.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]
// Tests use the rest.
#![allow(dead_code)]

#[path = "../../../langgraph/benches/workloads/supersteps.rs"]
mod supersteps;
#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;

use langgraph_postgres::{Database, Options, PostgresSaver};
use support::{Schema, url};

fn main() {
    if std::env::var("DATABASE_URL").is_err() {
        println!("DATABASE_URL is not set: nothing is measured; see tests/servers.sh");
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let schema = Schema::new();
    runtime.block_on(async {
        let options = Options::default().schema(schema.name());
        let database = Database::connect_with(&url(), options).await.unwrap();
        let saver = Arc::new(PostgresSaver::new(database));
        supersteps::measure("PostgreSQL", saver).await;
    });
}
