//! Tool turns whose thread is kept in PostgreSQL, beside a loop that inserts the same updates by hand:
//! `tests/servers.sh cargo bench -p langgraph-postgres --bench workloads`.
//!
//! What they are measured with is in `langgraph/benches/workloads`.

// A benchmark may stop when it cannot go on.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss)]
// The other benchmarks use the rest.
#![allow(dead_code)]

#[path = "../../../langgraph/benches/workloads/measure.rs"]
mod measure;
#[path = "../../../langgraph/benches/workloads/react.rs"]
mod react;
#[path = "../tests/support/mod.rs"]
mod support;
#[path = "../../../langgraph/benches/workloads/table.rs"]
mod table;
#[path = "../../../langgraph/benches/workloads/thread.rs"]
mod thread;
#[path = "../../../langgraph/benches/workloads/timing.rs"]
mod timing;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use langgraph::checkpoint::Durability;
use langgraph::prelude::*;
use langgraph_postgres::PostgresSaver;
use measure::{Pair, Work, work};
use react::{Chat, ChatUpdate};
use support::{Schema, url};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

const TURNS: usize = 100;
/// The threads of the loops by hand, of which no two have one together.
static THREADS: AtomicI64 = AtomicI64::new(0);

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
    let mut criterion = criterion::Criterion::default()
        .sample_size(10)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(200))
        .configure_from_args();
    let schema = Schema::new();
    let saver = runtime.block_on(async { PostgresSaver::new(schema.connect().await) });
    let saver = Arc::new(saver);
    let mut rows = Vec::new();
    for (name, durability) in [
        ("ReAct turns, PostgreSQL, Sync", Durability::Sync),
        ("ReAct turns, PostgreSQL, Async", Durability::Async),
        ("ReAct turns, PostgreSQL, Exit", Durability::Exit),
    ] {
        let saver = Arc::clone(&saver);
        let ours = thread::stored(TURNS, durability, move |graph| {
            graph.checkpointer(Arc::clone(&saver))
        });
        let by_hand = runtime.block_on(by_hand(&schema));
        let pair = Pair::new(name, TURNS, ours, by_hand);
        rows.extend(timing::bench(&pair, &mut criterion, &runtime));
    }
    criterion.final_summary();
    if !rows.is_empty() {
        table::show(&rows, "workloads-postgres");
    }
}

/// The same turns as a loop: every update is written as JSON and inserted before the next node runs.
async fn by_hand(schema: &Schema) -> Work {
    let (client, connection) = tokio_postgres::connect(&url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let table = format!("{}.updates", schema.name());
    let sql = format!(
        "CREATE TABLE IF NOT EXISTS {table}
        (thread bigint, step bigint, written bytea, PRIMARY KEY (thread, step))"
    );
    client.batch_execute(&sql).await.unwrap();
    let sql = format!("INSERT INTO {table} VALUES ($1, $2, $3)");
    let insert = client.prepare(&sql).await.unwrap();
    let by_hand = Arc::new((client, insert));
    work(move || {
        let by_hand = Arc::clone(&by_hand);
        let thread = THREADS.fetch_add(1, Ordering::Relaxed);
        async move {
            let (mut state, mut step) = (Chat::default(), 0);
            take(&by_hand, &mut state, thread, &mut step, react::input()).await;
            loop {
                let update = react::model(&state, TURNS).await;
                take(&by_hand, &mut state, thread, &mut step, update).await;
                if !react::wants_tool(&state) {
                    break;
                }
                let update = react::tool(&state).await;
                take(&by_hand, &mut state, thread, &mut step, update).await;
            }
            assert_eq!(state.messages.len(), 2 * TURNS + 2);
        }
    })
}

async fn take(
    (client, insert): &(Client, Statement),
    state: &mut Chat,
    thread: i64,
    step: &mut i64,
    mut update: ChatUpdate,
) {
    state.prepare(&mut update);
    let json = serde_json::to_vec(&update.messages).unwrap();
    let row: [&(dyn ToSql + Sync); 3] = [&thread, &*step, &json];
    client.execute(insert, &row).await.unwrap();
    state.try_merge(update).unwrap();
    *step += 1;
}
