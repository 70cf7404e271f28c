//! Batches that share a commit are stored, or refused, each by itself.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use langgraph::checkpoint::{
    Batch, CheckpointId, Checkpointer, Head, Leases, TaskOutcome, TaskRecord, ThreadKey,
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

/// A batch with one record of the head's.
fn batch(head: Head, checkpoint: CheckpointId) -> Batch {
    let failed = TaskOutcome::Failed("no".to_owned());
    Batch {
        head: Some(head),
        tasks: vec![TaskRecord::ended(checkpoint, 0, failed)],
        ..Batch::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stale_batch_in_a_group_is_refused_alone() {
    let schema = Schema::new();
    let saver = PostgresSaver::new(schema.connect().await);
    let heads = threads(&saver).await;
    for round in 1..4 {
        let puts = heads.iter().enumerate().map(|(index, (key, head))| {
            // Those of every third thread come late.
            let stale = index % 3 == 0;
            let version = head.version + if stale { round + 7 } else { round - 1 };
            let head = Head::new(head.id, version);
            let saver = &saver;
            async move { (stale, saver.put(key, batch(head, head.id)).await) }
        });
        for (stale, put) in join_all(puts).await {
            let conflict = matches!(put, Err(CheckpointError::Conflict { head: Some(_), .. }));
            assert_eq!((stale, put.is_ok()), (conflict, !stale), "{put:?}");
        }
        for (index, (key, head)) in heads.iter().enumerate() {
            let now = saver.head(key).await.unwrap().unwrap();
            let stored = if index % 3 == 0 { 0 } else { round };
            assert_eq!(now.version, head.version + stored);
        }
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
    let puts = heads.iter().map(|(key, head)| {
        let (held, head) = (&held, *head);
        async move { held.put(key, batch(head, head.id)).await }
    });
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
            let puts = heads.iter().map(|(key, head)| {
                let (saver, head) = (&saver, *head);
                async move { saver.put(key, batch(head, head.id)).await }
            });
            join_all(puts).await
        }
    };
    let first = puts(dropped);
    let begun = tokio::time::timeout(Duration::from_micros(300), first).await;
    drop(begun);
    let done = tokio::time::timeout(Duration::from_secs(20), puts(kept)).await;
    assert!(done.unwrap().iter().all(Result::is_ok));
}
