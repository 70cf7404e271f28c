//! Threads that an earlier version has stored in a database.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph_postgres::PostgresSaver;
use langgraph_tests::golden::{check, folder};
use support::{Schema, url};
use tokio_postgres::NoTls;

mod support;

#[tokio::test]
async fn a_schema_of_an_earlier_version_is_read_and_gone_on_with() {
    // A dump of schema 3, written by the code of its time.
    let dump = std::fs::read_to_string(folder().join("postgres-3.sql")).unwrap();
    let schema = Schema::new();
    let (client, connection) = tokio_postgres::connect(&url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = dump.replace("{schema}", schema.name());
    client.batch_execute(&sql).await.unwrap();
    let saver: Arc<dyn Checkpointer> = Arc::new(PostgresSaver::new(schema.connect().await));
    check(&saver).await.unwrap();
    let sql = format!("SELECT version FROM {}.schema_version", schema.name());
    let version: i32 = client.query_one(&sql, &[]).await.unwrap().get(0);
    assert!(version > 3);
}
