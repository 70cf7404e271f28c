//! Long logs of the saver in memory.

// A failed test may stop.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use langgraph_core::checkpoint::{
    Administration, Base, Batch, CheckpointId, CheckpointRecord, Checkpointer, Few, ListOptions,
    MemorySaver, Prune, Source, TaskOutcome, TaskRecord, TaskSpec, ThreadKey,
};
use langgraph_core::error::CheckpointError;

/// More than the saver allocates together.
const CHECKPOINTS: usize = 150;

fn checkpoint(id: CheckpointId, base: Option<CheckpointId>) -> CheckpointRecord {
    CheckpointRecord {
        id,
        base: base.map(|id| Base {
            id,
            with_tasks: true,
        }),
        source: Source::Loop,
        tasks: Few::one(TaskSpec::new("node".into(), None)),
        ..CheckpointRecord::of_metadata(base, BTreeMap::new())
    }
}

/// Stores checkpoints with a record each, in this order of their ids, and checks what is read.
async fn write_and_read(order: impl Fn(usize) -> usize) {
    let saver = MemorySaver::new();
    let key = ThreadKey::root("t");
    let mut sorted: Vec<CheckpointId> = Vec::new();
    for _ in 0..CHECKPOINTS {
        sorted.push(CheckpointId::after(sorted.last().copied()));
    }
    let ids: Vec<_> = (0..CHECKPOINTS).map(|index| sorted[order(index)]).collect();
    let mut head = None;
    for (index, id) in ids.iter().enumerate() {
        let base = index.checked_sub(1).map(|before| ids[before]);
        let failed = TaskOutcome::Failed(index.to_string());
        let batch = Batch {
            head,
            checkpoints: vec![checkpoint(*id, base)],
            tasks: vec![TaskRecord::ended(*id, 0, failed)],
            ..Batch::default()
        };
        head = batch.next_head();
        saver.put(&key, batch).await.unwrap();
    }
    let read = saver.load(&key, None).await.unwrap().unwrap();
    assert_eq!(read.records.len(), CHECKPOINTS);
    for (index, stored) in read.records.iter().enumerate() {
        assert_eq!(stored.checkpoint.id, ids[index]);
        assert_eq!(&*stored.checkpoint.tasks[0].node, "node");
        assert_eq!(stored.tasks.len(), 1);
        let outcome = &stored.tasks[0].outcome;
        let failed = index.to_string();
        assert!(matches!(outcome, Some(TaskOutcome::Failed(error)) if *error == failed));
    }

    // Pruning one log leaves its copy as it was.
    saver.copy_thread("t", "copy").await.unwrap();
    let prune = Prune {
        fold: Vec::new(),
        delete: ids[CHECKPOINTS / 2..].to_vec(),
    };
    saver.prune(&key, prune).await.unwrap();
    let list = |thread: &str| {
        let key = ThreadKey::root(thread);
        let saver = &saver;
        async move { saver.list(&key, ListOptions::new()).await.unwrap() }
    };
    assert_eq!(list("t").await.len(), CHECKPOINTS / 2);
    let newest_first: Vec<_> = ids.iter().rev().copied().collect();
    assert_eq!(list("copy").await, newest_first);
}

#[tokio::test]
async fn a_long_log_keeps_its_records() {
    write_and_read(|index| index).await;
}

#[tokio::test]
async fn a_log_takes_checkpoints_whose_ids_go_back() {
    write_and_read(|index| CHECKPOINTS - 1 - index).await;
    write_and_read(|index| index * 77 % CHECKPOINTS).await;
}

#[test]
fn a_write_needs_no_future_and_leaves_the_batch_empty() {
    let saver = MemorySaver::new();
    let id = CheckpointId::after(None);
    let mut batch = Batch {
        checkpoints: vec![checkpoint(id, None)],
        ..Batch::default()
    };
    let key = ThreadKey::root("t");
    assert!(matches!(saver.put_now(&key, &mut batch), Some(Ok(()))));
    assert!(batch.checkpoints.is_empty());
    // The head that the batch names is no longer the head.
    batch.checkpoints.push(checkpoint(id, None));
    let refused = saver.put_now(&key, &mut batch);
    assert!(matches!(
        refused,
        Some(Err(CheckpointError::Conflict { .. }))
    ));
}
