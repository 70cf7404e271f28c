//! How often a superstep waits for the server: once; how often a reader of a thread does; and what a dropped read leaves.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::join_all;
use langgraph::checkpoint::{
    Batch, Checkpointer, Head, Leases, TaskOutcome, TaskRecord, ThreadKey,
};
use langgraph::prelude::*;
use langgraph_postgres::{Database, PostgresSaver, PostgresStore};
use langgraph_store::StoreExt;
use support::{Schema, url};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::config::Host;

#[derive(State, Clone, Debug, Default)]
struct Counter {
    turn: usize,
}

/// Turns through a router: as many as the thread is asked for.
fn graph(turns: usize) -> CompiledStateGraph<Counter> {
    let count = |state: &Counter| CounterUpdate::default().turn(state.turn + 1);
    let more = move |state: &Counter| !state.turn.is_multiple_of(turns);
    let graph = graph! {
        type State = Counter;
        START => count => if more { count } else { END };
    };
    graph.compile().unwrap()
}

/// Counts the round trips of the connections through it.
#[derive(Clone, Default)]
struct RoundTrips(Arc<AtomicUsize>);

impl RoundTrips {
    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Listens, and returns the URL of a database that is reached through it.
    async fn listen(&self) -> String {
        let config: tokio_postgres::Config = url().parse().unwrap();
        let Some(Host::Tcp(host)) = config.get_hosts().first() else {
            panic!("the server of these tests is reached by TCP");
        };
        let port = config.get_ports().first().copied().unwrap_or(5432);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap().port();
        let (server, trips) = (format!("{host}:{port}"), self.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                trips.clone().pass_on(client, &server).await;
            }
        });
        url().replace(&format!("{host}:{port}"), &format!("127.0.0.1:{here}"))
    }

    async fn pass_on(self, client: TcpStream, server: &str) {
        let server = TcpStream::connect(server).await.unwrap();
        let (from_client, to_client) = client.into_split();
        let (from_server, to_server) = server.into_split();
        let answered = Arc::new(AtomicBool::new(true));
        let asks = Arc::clone(&answered);
        let asked = move || {
            // What is sent before the server has answered belongs to the same round trip.
            if asks.swap(false, Ordering::SeqCst) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        };
        tokio::spawn(copy(from_client, to_server, asked));
        let answers = move || answered.store(true, Ordering::SeqCst);
        tokio::spawn(copy(from_server, to_client, answers));
    }
}

async fn copy(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, heard: impl Fn()) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut bytes).await {
        heard();
        if to.write_all(&bytes[..length]).await.is_err() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_superstep_waits_for_the_server_once() {
    const FEW: usize = 20;
    const MANY: usize = 120;
    let schema = Schema::new();
    let trips = RoundTrips::default();
    let options = schema.options().max_connections(1);
    let database = Database::connect_with(&trips.listen().await, options).await;
    let saver = PostgresSaver::new(database.unwrap());
    let term = Duration::from_secs(600);
    let held = saver.held_by("me");
    for (saver, form) in [(&saver, "plain"), (&held, "held")] {
        let count = async |thread: String, turns: usize| {
            if form == "held" {
                let taken = saver.lease(&thread, "me", term).await.unwrap();
                assert!(taken.is_none());
            }
            let before = trips.count();
            let graph = graph(turns).checkpointer(Arc::new(saver.clone()));
            graph.run(()).thread(thread).await.unwrap();
            trips.count() - before
        };
        // The first run prepares the statements of its connection.
        count(format!("{form} first"), FEW).await;
        // Now and then what was sent first is answered before the rest has left, which is counted: the fewest are right.
        let (mut few, mut many) = (usize::MAX, usize::MAX);
        for run in 0..4 {
            few = few.min(count(format!("{form} few {run}"), FEW).await);
            many = many.min(count(format!("{form} many {run}"), MANY).await);
        }
        println!("{form}: {few} round trips for {FEW} supersteps, {many} for {MANY}");
        let more = many - few;
        assert!(
            more <= MANY - FEW + 2,
            "{more} round trips for {} supersteps",
            MANY - FEW
        );
        assert!(
            more >= MANY - FEW - 2,
            "supersteps were not stored one by one: {more}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_is_read_in_the_round_trips_of_its_queries() {
    const TIMES: usize = 30;
    let schema = Schema::new();
    let trips = RoundTrips::default();
    let options = schema.options().max_connections(1);
    let database = Database::connect_with(&trips.listen().await, options).await;
    let saver = PostgresSaver::new(database.unwrap());
    graph(2)
        .checkpointer(Arc::new(saver.clone()))
        .run(())
        .thread("old")
        .await
        .unwrap();
    // That of the log with its newest checkpoints; then that of their rows, or of the end.
    for thread in ["new", "old"] {
        let key = ThreadKey::root(thread);
        // The first time prepares the statements.
        saver.load(&key, None).await.unwrap();
        let before = trips.count();
        for _ in 0..TIMES {
            let chain = saver.load(&key, None).await.unwrap();
            assert_eq!(chain.is_some(), thread == "old");
        }
        let asked = trips.count() - before;
        println!("{thread}: {asked} round trips for {TIMES} reads");
        // Now and then what was sent first is answered before the rest has left, which is counted.
        assert!(asked < TIMES * 3, "{asked} round trips to read `{thread}`");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_item_is_read_in_one_round_trip() {
    const TIMES: usize = 30;
    let schema = Schema::new();
    let trips = RoundTrips::default();
    let options = schema.options().max_connections(1);
    let database = Database::connect_with(&trips.listen().await, options).await;
    let store = PostgresStore::new(database.unwrap());
    store.put(["users"], "ada", &1).await.unwrap();
    // The first time prepares the statement.
    store.get(["users"], "ada").await.unwrap();
    let before = trips.count();
    for _ in 0..TIMES {
        assert!(store.get(["users"], "ada").await.unwrap().is_some());
    }
    assert_eq!(trips.count() - before, TIMES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_of_many_threads_share_round_trips() {
    const THREADS: usize = 40;
    let schema = Schema::new();
    let trips = RoundTrips::default();
    let database = Database::connect_with(&trips.listen().await, schema.options()).await;
    let saver = Arc::new(PostgresSaver::new(database.unwrap()));
    let graph = graph(1).checkpointer(Arc::clone(&saver));
    let mut heads = Vec::new();
    for thread in 0..THREADS {
        let key = ThreadKey::root(thread.to_string());
        graph.run(()).thread(thread.to_string()).await.unwrap();
        let head = saver.head(&key).await.unwrap().unwrap();
        heads.push((key, head));
    }
    let mut fewest = usize::MAX;
    // The first time, the connections prepare their statement.
    for round in 0..5 {
        let before = trips.count();
        let puts = heads.iter().map(|(key, head)| {
            let failed = TaskOutcome::Failed("no".to_owned());
            let batch = Batch {
                head: Some(Head::new(head.id, head.version + round)),
                tasks: vec![TaskRecord::ended(head.id, 0, failed)],
                ..Batch::default()
            };
            saver.put(key, batch)
        });
        for put in join_all(puts).await {
            put.unwrap();
        }
        fewest = fewest.min(trips.count() - before);
    }
    println!("{fewest} round trips for {THREADS} batches");
    assert!(
        fewest <= THREADS / 4,
        "{fewest} round trips for {THREADS} batches"
    );
}

#[tokio::test]
async fn a_read_that_is_dropped_leaves_no_transaction_behind() {
    let schema = Schema::new();
    let options = schema.options().max_connections(1);
    let database = Database::connect_with(&url(), options).await.unwrap();
    let saver = PostgresSaver::new(database);
    let graph = graph(1).checkpointer(Arc::new(saver.clone()));
    graph.run(()).thread("t").await.unwrap();
    let key = ThreadKey::root("t");
    let mut dropped = 0;
    for polls in 1..=12 {
        let mut read = saver.load(&key, None);
        let mut is_ready = false;
        for _ in 0..polls {
            is_ready = is_ready || (&mut read).now_or_never().is_some();
            // The connection goes on meanwhile.
            tokio::task::yield_now().await;
        }
        dropped += usize::from(!is_ready);
        drop(read);
        // On the same connection, whose transaction would only read.
        graph.run(()).thread("t").await.unwrap();
    }
    assert!(dropped > 0, "every read had ended before it was dropped");
}
