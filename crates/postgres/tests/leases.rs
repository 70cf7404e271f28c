//! What waits for the disk: supersteps, and not the leases under which they are stored.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use langgraph::checkpoint::Leases;
use langgraph::prelude::*;
use langgraph_postgres::{Database, PostgresSaver};
use support::{Schema, url};

const TERM: Duration = Duration::from_secs(30);

/// A saver whose commits wait for the disk, and that notes for each change of a table if its commit does.
async fn saver(schema: &Schema) -> PostgresSaver {
    let url = url();
    let separator = if url.contains('?') { '&' } else { '?' };
    let url = format!("{url}{separator}options=-c%20synchronous_commit%3Don");
    let database = Database::connect_with(&url, schema.options()).await;
    let database = database.unwrap();
    let mut sql = "CREATE TABLE noted (change text, synced text);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO noted VALUES (TG_OP || ' ' || TG_TABLE_NAME, current_setting('synchronous_commit'));
            RETURN NULL;
        END $$;"
        .to_owned();
    for table in ["thread_leases", "thread_checkpoints"] {
        sql += "CREATE TRIGGER note AFTER INSERT OR UPDATE OR DELETE ON ";
        sql += table;
        sql += " FOR EACH STATEMENT EXECUTE FUNCTION note();";
    }
    let client = database.client().await.unwrap();
    client.batch_execute(&sql).await.unwrap();
    PostgresSaver::new(database)
}

/// Returns what was noted of changes with that text, and forgets all that was noted.
async fn noted(saver: &PostgresSaver, change: &str) -> Vec<String> {
    let client = saver.database().client().await.unwrap();
    let sql = "WITH gone AS (DELETE FROM noted RETURNING *)
        SELECT DISTINCT synced FROM gone WHERE change LIKE $1";
    let rows = client.query(sql, &[&format!("%{change}%")]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn leases_do_not_wait_for_the_disk_and_what_is_stored_under_them_does() {
    let schema = Schema::new();
    let saver = saver(&schema).await;
    assert!(saver.lease("t", "me", TERM).await.unwrap().is_none());
    assert_eq!(noted(&saver, "INSERT thread_leases").await, ["off"]);
    assert!(saver.renew("t", "me", TERM).await.unwrap());
    assert_eq!(noted(&saver, "UPDATE thread_leases").await, ["off"]);
    saver.release("t", "me").await.unwrap();
    assert_eq!(noted(&saver, "DELETE thread_leases").await, ["off"]);

    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("increment", |n: &i64| n + 1)
        .add_sequence(&["increment"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(saver.clone()));
    assert_eq!(
        graph.run(1).thread("t").await.unwrap().finished().unwrap(),
        2
    );
    assert_eq!(noted(&saver, "thread_checkpoints").await, ["on"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_that_share_a_commit_do_not_wait_for_the_disk() {
    let schema = Schema::new();
    let saver = saver(&schema).await;
    let names: Vec<_> = (0..40).map(|thread| thread.to_string()).collect();
    let taken = names.iter().map(|name| saver.lease(name, "me", TERM));
    for taken in join_all(taken).await {
        assert!(taken.unwrap().is_none());
    }
    assert_eq!(noted(&saver, "INSERT thread_leases").await, ["off"]);
    let released = names.iter().map(|name| saver.release(name, "me"));
    for released in join_all(released).await {
        released.unwrap();
    }
    assert_eq!(noted(&saver, "DELETE thread_leases").await, ["off"]);
}
