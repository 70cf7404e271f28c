//! What a superstep of a long thread costs.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

#[path = "../../sqlite/tests/support/chat.rs"]
mod chat;
mod support;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use langgraph_postgres::PostgresSaver;
use support::{Schema, url};

/// Windows of supersteps: after 100 messages, and before 5,000.
const EARLY: Range<usize> = 100..600;
const LATE: Range<usize> = 4_400..4_900;

/// The rows that statements have looked at in the schema's tables, so far.
async fn looked_at(schema: &Schema) -> i64 {
    let connected = tokio_postgres::connect(&url(), tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    let sql =
        "SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::int8
        FROM pg_stat_user_tables WHERE schemaname = $1";
    // A connection reports what it has done when it ends, which is soon.
    let (mut rows, mut same) = (0, 0);
    while same < 4 {
        tokio::time::sleep(Duration::from_millis(250)).await;
        let now = client
            .query_one(sql, &[&schema.name()])
            .await
            .unwrap()
            .get(0);
        same = if now == rows { same + 1 } else { 0 };
        rows = now;
    }
    rows
}

/// Talks on a new thread until there are so many messages, and returns how many rows were read.
async fn talk(messages: usize) -> (Schema, i64) {
    let schema = Schema::new();
    let saver = Arc::new(PostgresSaver::new(schema.connect().await));
    let graph = chat::chat(messages, saver, |_| ()).unwrap();
    let run = graph.run(()).thread("t").limit(2 * messages);
    assert_eq!(
        run.await.unwrap().finished().unwrap().messages.len(),
        messages
    );
    drop(graph);
    let rows = looked_at(&schema).await;
    assert!(rows > 0, "the server counts nothing");
    (schema, rows)
}

/// The rows that a superstep looks at, between these numbers of messages.
async fn rows_per_superstep(range: Range<usize>) -> (Schema, f64) {
    let (_, before) = talk(range.start).await;
    let (schema, after) = talk(range.end).await;
    (schema, (after - before) as f64 / range.len() as f64)
}

/// The bytes that the thread's rows of a superstep hold, from one number of messages to another.
async fn stored(schema: &Schema, range: Range<usize>) -> f64 {
    let connected = tokio_postgres::connect(&url(), tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    let sql = format!(
        "SELECT sum(octet_length(text) + coalesce(octet_length(payload), 0))::int8
         FROM (SELECT text, payload FROM {}.thread_rows ORDER BY number OFFSET $1 LIMIT $2) rows",
        schema.name()
    );
    // A checkpoint and what its task wrote.
    let [first, rows] = [range.start, range.len()].map(|n| 2 * i64::try_from(n).unwrap());
    let row = client.query_one(&sql, &[&first, &rows]).await.unwrap();
    row.get::<_, i64>(0) as f64 / range.len() as f64
}

#[tokio::test]
async fn j3_a_superstep_at_5000_messages_costs_what_one_at_100_does() {
    let (_, early) = rows_per_superstep(EARLY).await;
    let (schema, late) = rows_per_superstep(LATE).await;
    println!("rows a superstep looks at: {early:.1} at first, {late:.1} at last");
    assert!(late <= 1.3 * early, "{late} rows, {early} at first");

    let (early, late) = (stored(&schema, EARLY).await, stored(&schema, LATE).await);
    println!("bytes: {early:.0} at first, {late:.0} at last");
    assert!(late <= 1.3 * early, "{late} bytes, {early} at first");
}
