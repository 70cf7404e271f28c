//! Batches that share a commit are stored, or refused, each by itself.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use langgraph::checkpoint::{
    Batch, CheckpointRecord, Checkpointer, Head, Leases, TaskOutcome, TaskRecord, ThreadKey,
};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_postgres::PostgresSaver;
use support::Schema;

const THREADS: usize = 40;

/// Creates the threads, and returns their heads.
async fn threads(saver: &PostgresSaver) -> Vec<(ThreadKey, Head)> {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("increment", |n: &i64| n + 1)
        .add_sequence(&["increment"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(saver.clone()));
    let mut heads = Vec::new();
    for thread in 0..THREADS {
        let key = ThreadKey::root(thread.to_string());
        graph.run(1).thread(thread.to_string()).await.unwrap();
        let head = saver.head(&key).await.unwrap().unwrap();
        heads.push((key, head));
    }
    heads
}

/// A batch with one record of the head's; for every second thread with a new checkpoint, as of a superstep.
fn batch(thread: usize, head: Head) -> Batch {
    let failed = TaskOutcome::Failed("no".to_owned());
    let new = CheckpointRecord::of_metadata(Some(head.id), BTreeMap::new());
    Batch {
        head: Some(head),
        tasks: vec![TaskRecord::ended(head.id, 0, failed)],
        checkpoints: if thread.is_multiple_of(2) {
            vec![new]
        } else {
            Vec::new()
        },
        ..Batch::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_batch_in_a_group_is_refused_alone() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let mut heads = threads(&saver).await;
    for _ in 1..4 {
        let puts = heads.iter().enumerate().map(|(index, (key, head))| {
            // Those of every third thread come late.
            let stale = index.is_multiple_of(3);
            let version = head.version + if stale { 7 } else { 0 };
            let put = saver.put(key, batch(index, Head::new(head.id, version)));
            async move { (stale, put.await) }
        });
        for (stale, put) in join_all(puts).await {
            let conflict = matches!(put, Err(CheckpointError::Conflict { head: Some(_), .. }));
            assert_eq!((stale, put.is_ok()), (conflict, !stale), "{put:?}");
        }
        for (index, (key, head)) in heads.iter_mut().enumerate() {
            let now = saver.head(key).await.unwrap().unwrap();
            let stored = !index.is_multiple_of(3);
            assert_eq!(now.version, head.version + u64::from(stored));
            assert_eq!(now.id != head.id, stored && index.is_multiple_of(2));
            *head = now;
        }
    }
}

/// What the database holds of a thread, without ids and times.
async fn rows(saver: &PostgresSaver, thread: &str) -> String {
    let client = saver.database().client().await.unwrap();
    let sql = "SELECT concat(l.version, l.status, l.rows, l.owner,
            (SELECT string_agg(concat_ws(' ', step, source, snapshot, first_row, last_row, row_count), ';' ORDER BY first_row)
                FROM thread_checkpoints WHERE log = l.id),
            (SELECT string_agg(concat_ws(' ', number, checkpoint, kind, format, version, payload), ';' ORDER BY number)
                FROM thread_rows WHERE log = l.id))
        FROM thread_logs AS l WHERE thread = $1";
    client.query_one(sql, &[&thread]).await.unwrap().get(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn supersteps_of_a_group_are_stored_as_one_alone() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let mut graph = StateGraph::<i64>::new();
    let names: Vec<_> = (0..9).map(|node| format!("node{node}")).collect();
    for name in &names {
        graph.add_node(name.clone(), |n: &i64| n + 1);
    }
    let graph = graph.add_sequence(&names).compile().unwrap();
    let graph = graph.checkpointer(Arc::new(saver.clone()));
    graph.run(1).thread("alone").await.unwrap();
    let alone = rows(&saver, "alone").await;
    assert_eq!(alone.matches(" loop ").count(), names.len() + 1, "{alone}");

    let runs = (0..THREADS).map(|thread| graph.run(1).thread(thread.to_string()));
    for run in join_all(runs.map(IntoFuture::into_future)).await {
        assert_eq!(run.unwrap().finished().unwrap(), 10);
    }
    for thread in 0..THREADS {
        assert_eq!(rows(&saver, &thread.to_string()).await, alone);
        // Reads its rows with their sums.
        let state = graph.thread(thread.to_string()).state().await.unwrap();
        assert_eq!(state.unwrap().values, 10);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_checks_the_lease_of_each_thread() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let heads = threads(&saver).await;
    let held = saver.held_by("me");
    for (index, (key, _)) in heads.iter().enumerate() {
        let holder = if index % 3 == 0 { "other" } else { "me" };
        let term = Duration::from_secs(60);
        saver.lease(&key.thread, holder, term).await.unwrap();
    }
    let puts = heads.iter().enumerate();
    let puts = puts.map(|(index, (key, head))| held.put(key, batch(index, *head)));
    for (index, put) in join_all(puts).await.into_iter().enumerate() {
        let lost = matches!(put, Err(CheckpointError::LeaseLost { .. }));
        assert_eq!((index % 3 == 0, put.is_ok()), (lost, !lost), "{put:?}");
        let holds = held.check_holder(&heads[index].0.thread).await;
        assert_eq!(holds.is_ok(), !lost, "{holds:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn batches_of_dropped_callers_hold_up_no_other() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let heads = threads(&saver).await;
    let (dropped, kept) = heads.split_at(THREADS / 2);
    let puts = |heads: &[(ThreadKey, Head)]| {
        let heads = heads.to_vec();
        let saver = saver.clone();
        async move {
            let puts = heads.iter().enumerate();
            let puts = puts.map(|(index, (key, head))| saver.put(key, batch(index, *head)));
            join_all(puts).await
        }
    };
    let first = puts(dropped);
    let begun = tokio::time::timeout(Duration::from_micros(300), first).await;
    drop(begun);
    let done = tokio::time::timeout(Duration::from_secs(20), puts(kept)).await;
    assert!(done.unwrap().iter().all(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_waits_for_a_lock_holds_up_no_other() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let heads = threads(&saver).await;
    let mut locking = saver.database().client().await.unwrap();
    let lock = locking.transaction().await.unwrap();
    let sql = "SELECT 1 FROM thread_logs WHERE thread = '7' FOR UPDATE";
    lock.query_one(sql, &[]).await.unwrap();
    let first = tokio::spawn({
        let (saver, heads) = (saver.clone(), heads.clone());
        async move {
            let puts = heads.iter().enumerate();
            let puts = puts.map(|(index, (key, head))| saver.put(key, batch(index, *head)));
            join_all(puts).await
        }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!first.is_finished(), "no group waits for the lock");
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("increment", |n: &i64| n + 1)
        .add_sequence(&["increment"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(saver.clone()));
    let run = graph.run(1).thread("new").into_future();
    let run = tokio::time::timeout(Duration::from_secs(20), run).await;
    assert_eq!(run.unwrap().unwrap().finished().unwrap(), 2);
    lock.commit().await.unwrap();
    assert!(first.await.unwrap().iter().all(Result::is_ok));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leases_of_a_group_are_taken_and_released_each_by_itself() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let term = Duration::from_secs(60);
    for thread in (0..THREADS).step_by(3) {
        let taken = saver.lease(&thread.to_string(), "other", term).await;
        assert!(taken.unwrap().is_none());
    }
    let lease = |holder: &'static str| {
        let taken = (0..THREADS).map(|thread| {
            let saver = saver.clone();
            async move { saver.lease(&thread.to_string(), holder, term).await }
        });
        join_all(taken)
    };
    for (thread, held_by) in lease("me").await.into_iter().enumerate() {
        let held_by = held_by.unwrap().map(|held_by| held_by.holder);
        let expected = (thread % 3 == 0).then(|| "other".to_owned());
        assert_eq!(held_by, expected, "{thread}");
    }
    // Two ask for each thread at the same time, and one of them has it.
    let released = (0..THREADS).map(|thread| {
        let saver = saver.clone();
        async move {
            for holder in ["me", "other"] {
                saver.release(&thread.to_string(), holder).await.unwrap();
            }
        }
    });
    join_all(released).await;
    let (one, two) = tokio::join!(lease("one"), lease("two"));
    for (one, two) in one.into_iter().zip(two) {
        let holders = [one.unwrap(), two.unwrap()].map(|held_by| held_by.map(|by| by.holder));
        let some = |holder: &str| Some(holder.to_owned());
        assert!(
            holders == [None, some("one")] || holders == [some("two"), None],
            "{holders:?}"
        );
    }
}

/// Returns true if two connections of the server wait for one another. The server ends that only after its
/// `deadlock_timeout` of a second.
async fn is_deadlocked(watcher: &PostgresSaver) -> bool {
    let client = watcher.database().client().await.unwrap();
    let sql =
        "SELECT count(*) FROM pg_stat_activity AS one, unnest(pg_blocking_pids(one.pid)) AS other
        WHERE one.wait_event_type = 'Lock' AND one.pid = ANY (pg_blocking_pids(other))";
    let found: i64 = client.query_one(sql, &[]).await.unwrap().get(0);
    found > 0
}

/// Waits for the work of two processes, and fails if they block each other.
async fn without_deadlock<T>(schema: &Schema, work: impl Future<Output = T>) -> T {
    let watcher = PostgresSaver::new(schema.connect().await);
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(Duration::from_millis(100), &mut work).await {
            Ok(done) => return done,
            Err(_) => assert!(!is_deadlocked(&watcher).await, "a deadlock"),
        }
    }
}

/// Returns two savers with connections and groups of their own, as of two processes.
async fn two_processes(schema: &Schema) -> [PostgresSaver; 2] {
    let one = PostgresSaver::new(schema.connect().await);
    [one, PostgresSaver::new(schema.connect().await)]
}

const ROUNDS: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_store_the_same_threads_wait_in_one_order() {
    let schema = Schema::new();
    let [one, two] = two_processes(&schema).await;
    let mut heads = threads(&one).await;
    for _ in 0..ROUNDS {
        let put = |saver: &PostgresSaver, (key, head): &(ThreadKey, Head)| {
            let (saver, key, head) = (saver.clone(), key.clone(), *head);
            async move { saver.put(&key, batch(0, head)).await.is_ok() }
        };
        let forwards = join_all(heads.iter().map(|thread| put(&one, thread)));
        let backwards = join_all(heads.iter().rev().map(|thread| put(&two, thread)));
        let both = async { tokio::join!(forwards, backwards) };
        let (one_stored, two_stored) = without_deadlock(&schema, both).await;
        for (one, two) in one_stored.iter().zip(two_stored.iter().rev()) {
            assert!(one ^ two, "one of both stores the superstep");
        }
        for (key, head) in &mut heads {
            *head = one.head(key).await.unwrap().unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_begin_the_same_threads_wait_in_one_order() {
    let schema = Schema::new();
    let [one, two] = two_processes(&schema).await;
    for round in 0..ROUNDS {
        let begin = |saver: &PostgresSaver, thread: usize| {
            let (saver, key) = (saver.clone(), ThreadKey::root(format!("{round}/{thread}")));
            let first = CheckpointRecord::of_metadata(None, BTreeMap::new());
            let checkpoints = vec![first];
            let batch = Batch {
                checkpoints,
                ..Batch::default()
            };
            async move { saver.put(&key, batch).await.is_ok() }
        };
        let forwards = join_all((0..THREADS).map(|thread| begin(&one, thread)));
        let backwards = join_all((0..THREADS).rev().map(|thread| begin(&two, thread)));
        let both = async { tokio::join!(forwards, backwards) };
        let (one_began, two_began) = without_deadlock(&schema, both).await;
        for (one, two) in one_began.iter().zip(two_began.iter().rev()) {
            assert!(one ^ two, "one of both begins the thread");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_ask_for_the_threads_of_each_other_wait_for_none() {
    let schema = Schema::new();
    let [one, two] = two_processes(&schema).await;
    let term = Duration::from_secs(60);
    let mut heads = threads(&one).await;
    let holder = |thread: usize| ["one", "two"][thread % 2];
    for (thread, (key, _)) in heads.iter().enumerate() {
        let taken = one.lease(&key.thread, holder(thread), term).await;
        assert!(taken.unwrap().is_none());
    }
    for _ in 0..ROUNDS {
        // Each stores supersteps of its own threads, and asks for the others.
        let act = |saver: &PostgresSaver, name: &'static str, thread: usize| {
            let (key, head) = heads[thread].clone();
            let saver = saver.clone();
            async move {
                if holder(thread) == name {
                    let put = saver.held_by(name).put(&key, batch(0, head)).await;
                    put.unwrap();
                } else {
                    let held_by = saver.lease(&key.thread, name, term).await.unwrap();
                    assert_eq!(held_by.unwrap().holder, holder(thread));
                }
            }
        };
        let forwards = join_all((0..THREADS).map(|thread| act(&one, "one", thread)));
        let backwards = join_all((0..THREADS).rev().map(|thread| act(&two, "two", thread)));
        let both = async { tokio::join!(forwards, backwards) };
        without_deadlock(&schema, both).await;
        for (key, head) in &mut heads {
            *head = one.head(key).await.unwrap().unwrap();
        }
    }
}
