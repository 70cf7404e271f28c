//! Connections that end while a thread is worked on: nothing that was acknowledged is lost, and
//! nothing runs again.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use langgraph::error::{AgentError, CheckpointError};
use langgraph::prelude::*;
use langgraph_postgres::{Database, PostgresSaver};
use support::{Schema, url};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::{Client, NoTls};

const NODES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

#[derive(State, Clone, Debug, Default)]
struct Trail {
    #[reducer(append)]
    visits: Vec<String>,
}

/// A graph that visits its nodes in order; each says that it has started, and waits for a word.
struct Work {
    graph: CompiledStateGraph<Trail>,
    started: UnboundedReceiver<String>,
    go_on: UnboundedSender<()>,
    schema: Schema,
}

impl Work {
    async fn new() -> Self {
        let schema = Schema::new();
        let between = if url().contains('?') { '&' } else { '?' };
        let named = format!("{}{between}application_name={}", url(), schema.name());
        let database = Database::connect_with(&named, schema.options()).await;
        let (start, started) = unbounded_channel();
        let (go_on, wait) = unbounded_channel();
        let wait = Arc::new(tokio::sync::Mutex::new(wait));
        let mut graph = StateGraph::<Trail>::new();
        for name in NODES {
            let (start, wait) = (start.clone(), Arc::clone(&wait));
            graph.add_node(name, move |_: Trail| {
                let (start, wait) = (start.clone(), Arc::clone(&wait));
                async move {
                    start.send(name.to_owned()).unwrap();
                    wait.lock().await.recv().await.unwrap();
                    TrailUpdate::default().visits(vec![name.to_owned()])
                }
            });
        }
        graph.add_sequence(&NODES);
        let saver = Arc::new(PostgresSaver::new(database.unwrap()));
        Self {
            graph: graph.compile().unwrap().checkpointer(saver),
            started,
            go_on,
            schema,
        }
    }

    /// Starts a run.
    fn begin(&self) -> JoinHandle<Result<Outcome<Trail>, AgentError>> {
        let graph = self.graph.clone();
        tokio::spawn(async move { graph.run(()).thread("t").await })
    }

    /// The node that starts next.
    async fn next(&mut self) -> String {
        let next = timeout(Duration::from_secs(60), self.started.recv()).await;
        next.unwrap().unwrap()
    }

    /// Ends the connections of the saver, all or those that wait for a lock, and says how many. They
    /// are gone then.
    async fn cut(&self, client: &Client, waiting: bool) -> usize {
        let sql = "SELECT pid FROM pg_stat_activity, pg_terminate_backend(pid)
            WHERE application_name = $1 AND (wait_event_type = 'Lock' OR NOT $2)";
        let name = self.schema.name();
        let cut = client.query(sql, &[&name, &waiting]).await.unwrap();
        let cut: Vec<i32> = cut.iter().map(|row| row.get(0)).collect();
        let left = "SELECT FROM pg_stat_activity WHERE pid = ANY ($1)";
        while !client.query(left, &[&cut]).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        cut.len()
    }

    /// Lets all that is left run, and says which nodes started.
    async fn rest(&mut self) -> (Result<Vec<String>, AgentError>, Vec<String>) {
        for _ in NODES {
            self.go_on.send(()).unwrap();
        }
        let outcome = self.graph.thread("t").proceed().await;
        let started = std::iter::from_fn(|| self.started.try_recv().ok()).collect();
        (
            outcome.map(|outcome| outcome.finished().unwrap().visits),
            started,
        )
    }
}

async fn connected() -> Client {
    let (client, connection) = tokio_postgres::connect(&url(), NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn a_run_goes_on_with_new_connections() {
    let mut work = Work::new().await;
    let client = connected().await;
    let running = work.begin();
    for name in NODES {
        assert_eq!(work.next().await, name);
        // They are idle: that they are gone is seen before they are used.
        assert!(work.cut(&client, false).await >= 1, "{name}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        work.go_on.send(()).unwrap();
    }
    let state = running.await.unwrap().unwrap().finished().unwrap();
    assert_eq!(state.visits, NODES);
    let snapshot = work.graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.values.visits, NODES);
}

#[tokio::test]
async fn a_run_whose_record_is_cut_off_fails_and_goes_on_where_the_log_ends() {
    let mut work = Work::new().await;
    let client = connected().await;
    let running = work.begin();
    for name in ["a", "b"] {
        assert_eq!(work.next().await, name);
        work.go_on.send(()).unwrap();
    }
    assert_eq!(work.next().await, "c");
    // The record of `c` has to wait, and its connection ends while it does.
    let lock = format!(
        "BEGIN; LOCK TABLE {}.thread_logs IN ACCESS EXCLUSIVE MODE",
        work.schema.name()
    );
    client.batch_execute(&lock).await.unwrap();
    work.go_on.send(()).unwrap();
    let other = connected().await;
    let cut = async {
        while work.cut(&other, true).await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(60), cut).await.unwrap();
    // The run says that it is over, which waits too.
    client.batch_execute("ROLLBACK").await.unwrap();
    let ended = timeout(Duration::from_secs(60), running).await;
    let error = ended.unwrap().unwrap().unwrap_err();
    assert!(
        matches!(error, AgentError::Checkpoint(CheckpointError::Storage(_))),
        "{error:?}"
    );

    // What was acknowledged is there, and `c` was not.
    let snapshot = work.graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(snapshot.values.visits, ["a", "b"]);
    assert_eq!(&*snapshot.next[0], "c");
    let (visits, started) = work.rest().await;
    assert_eq!(visits.unwrap(), NODES);
    assert_eq!(started, NODES[2..]);
}
