//! What a long thread takes on the disk.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

#[path = "support/chat.rs"]
mod chat;

use std::future::IntoFuture as _;
use std::path::Path;
use std::sync::Arc;

use allocation_counter::{AllocationInfo, measure};
use langgraph::message::Message;
use langgraph_sqlite::{Database, Options, SqliteSaver, Synchronous};
use rusqlite::Connection;

/// The bytes of the rows that the supersteps between these numbers of messages have stored.
fn stored(path: &Path, from: i64, to: i64) -> f64 {
    let database = Connection::open(path).unwrap();
    // A checkpoint and what its task wrote are the only rows of a superstep; START's and the first
    // come before.
    let sql = "SELECT sum(octet_length(text) + coalesce(octet_length(payload), 0)) FROM thread_rows
        WHERE id & 0xffffffff BETWEEN 2 * ?1 + 2 AND 2 * ?2 + 1";
    let bytes: i64 = database
        .query_row(sql, [from, to], |row| row.get(0))
        .unwrap();
    bytes as f64 / (to - from) as f64
}

#[test]
fn j3_a_thread_of_5000_messages_takes_little_more_than_its_messages() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let options = Options::default().synchronous(Synchronous::Normal);
    let saver = SqliteSaver::new(Database::open_with(&path, options).unwrap());
    let graph = chat::chat(5_000, Arc::new(saver), |_| ()).unwrap();
    let run = graph.run(()).thread("t").limit(10_000);
    let done = runtime.block_on(run.into_future()).unwrap();
    let messages = serde_json::to_vec(&done.state().messages).unwrap().len() as f64;
    drop(graph);

    let (early, late) = (stored(&path, 100, 600), stored(&path, 4_500, 5_000));
    assert!(
        late <= 1.3 * early,
        "{late} bytes a superstep, {early} at first"
    );
    let rows = stored(&path, 1, 5_000) * 4_999.0;
    assert!(
        rows <= 1.3 * messages,
        "{rows} bytes of rows for {messages} of messages"
    );
    // The last one to close the file has moved everything into it. Two rows of this length fill two
    // thirds of a page, and three do not fit.
    let file = std::fs::metadata(&path).unwrap().len() as f64;
    assert!(
        file <= 2.0 * messages,
        "{file} bytes for {messages} of messages"
    );

    let graph = chat::chat(5_000, Arc::new(SqliteSaver::open(&path).unwrap()), |_| ()).unwrap();
    let found = runtime.block_on(graph.thread("t").state());
    let found = found.unwrap().unwrap();
    assert!(found.values == *done.state());

    // What loading allocates is what reading the messages does, and a part more; it does not read a
    // state for every superstep.
    let json = serde_json::to_vec(&found.values.messages).unwrap();
    let reading = measure(|| {
        let read: Vec<Message> = serde_json::from_slice(&json).unwrap();
        assert_eq!(read.len(), 5_000);
    });
    // On this thread the records become a state; another one reads the file.
    let loading = measure(|| {
        let loaded = runtime.block_on(graph.thread("t").state());
        assert_eq!(loaded.unwrap().unwrap().values.messages.len(), 5_000);
    });
    let ratio = |of: fn(&AllocationInfo) -> u64| of(&loading) as f64 / of(&reading) as f64;
    let (count, bytes) = (
        ratio(|info| info.count_total),
        ratio(|info| info.bytes_total),
    );
    assert!(
        count <= 3.0 && bytes <= 2.5,
        "{count} times the allocations of reading the messages, {bytes} times the bytes"
    );
}
