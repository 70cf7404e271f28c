//! What a superstep of a long thread costs.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

#[path = "../../sqlite/tests/support/chat.rs"]
mod chat;
mod support;

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use langgraph_postgres::PostgresSaver;
use support::{Schema, url};

/// Windows of supersteps: after 100 messages, and before 5,000.
const EARLY: Range<usize> = 100..600;
const LATE: Range<usize> = 4_400..4_900;
const MESSAGES: usize = 5_000;

/// The median time between two supersteps.
fn time(begun: &[Instant]) -> Duration {
    let mut times: Vec<_> = begun.windows(2).map(|pair| pair[1] - pair[0]).collect();
    times.sort();
    times[times.len() / 2]
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
    let schema = Schema::new();
    let begun = Arc::new(Mutex::new(Vec::with_capacity(MESSAGES)));
    let watch = {
        let begun = Arc::clone(&begun);
        move |_| begun.lock().unwrap().push(Instant::now())
    };
    let saver = Arc::new(PostgresSaver::new(schema.connect().await));
    let graph = chat::chat(MESSAGES, saver, watch).unwrap();
    let run = graph.run(()).thread("t").limit(2 * MESSAGES);
    assert_eq!(run.await.unwrap().into_state().messages.len(), MESSAGES);

    let begun = begun.lock().unwrap().clone();
    let (early, late) = (time(&begun[EARLY]), time(&begun[LATE]));
    let ratio = late.as_secs_f64() / early.as_secs_f64();
    println!("a superstep: {early:?} at first, {late:?} at last, {ratio:.2} times as long");
    // At most 1.3 on an idle machine; other tests may run beside this one.
    assert!(ratio <= 1.6, "{early:?} at first, {late:?} at last");

    let (early, late) = (stored(&schema, EARLY).await, stored(&schema, LATE).await);
    println!("bytes: {early:.0} at first, {late:.0} at last");
    assert!(late <= 1.3 * early, "{late} bytes, {early} at first");
}
