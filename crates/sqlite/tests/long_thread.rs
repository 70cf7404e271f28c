//! What a long thread takes on the disk.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

#[path = "support/chat.rs"]
mod chat;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

#[tokio::test]
async fn j3_a_thread_of_5000_messages_takes_little_more_than_its_messages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let options = Options::default().synchronous(Synchronous::Normal);
    let saver = SqliteSaver::new(Database::open_with(&path, options).unwrap());
    let graph = chat::chat(5_000, Arc::new(saver), |_| ()).unwrap();
    let done = graph.run(()).thread("t").limit(10_000).await.unwrap();
    let messages = serde_json::to_vec(&done.state().messages).unwrap().len() as f64;
    drop(graph);

    let (early, late) = (stored(&path, 100, 600), stored(&path, 4_500, 5_000));
    assert!(
        late <= 1.3 * early,
        "{late} bytes a superstep, {early} at first"
    );
    // The last one to close the file has moved everything into it.
    let file = std::fs::metadata(&path).unwrap().len() as f64;
    assert!(
        file <= 1.5 * messages,
        "{file} bytes for {messages} of messages"
    );

    let graph = chat::chat(5_000, Arc::new(SqliteSaver::open(&path).unwrap()), |_| ()).unwrap();
    let found = graph.thread("t").state().await.unwrap().unwrap();
    assert!(found.values == *done.state());

    // Without optimization, and beside other tests: a bound for what it should not become again.
    let json = serde_json::to_vec(&found.values.messages).unwrap();
    let (mut reading, mut loading) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        let start = Instant::now();
        let read: Vec<Message> = serde_json::from_slice(&json).unwrap();
        reading = reading.min(start.elapsed());
        let start = Instant::now();
        let loaded = graph.thread("t").state().await.unwrap().unwrap();
        loading = loading.min(start.elapsed());
        assert_eq!(read.len(), loaded.values.messages.len());
    }
    let ratio = loading.as_secs_f64() / reading.as_secs_f64();
    assert!(
        ratio <= 12.0,
        "{ratio} times as long as reading the messages"
    );
}
