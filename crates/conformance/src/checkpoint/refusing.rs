//! Batches that a saver refuses, and what a refused batch leaves.

use std::sync::Arc;
use std::time::SystemTime;

use super::log::{Log, checkpoint, entry, finished};
use super::{Savers, administration};
use crate::case::{Problem, holds, refused, same};
use langgraph::checkpoint::{Batch, CheckpointId, Head, RunStatus, ThreadFilter, ThreadKey};
use langgraph::error::CheckpointError;
use serde_json::json;

crate::case::cases! {
    Savers:
    an_empty_batch_fences_writers_of_the_old_version,
    a_batch_for_another_head_is_refused,
    a_new_log_is_refused_where_there_is_one,
    a_batch_for_a_log_that_is_not_there_is_refused,
    a_refused_batch_leaves_nothing,
    what_is_nested_too_deeply_is_refused_or_read,
    deep_metadata_of_a_run_is_refused_and_the_thread_lives,
}

async fn an_empty_batch_fences_writers_of_the_old_version(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    let known = log.head;
    log.put(Batch::default()).await?;
    let head = saver.head(&log.key).await?;
    same("the head", head, Some(Head::new(id, 2)))?;
    let late = Batch {
        head: known,
        tasks: vec![finished(id, 0, &json!("late"))],
        ..Batch::default()
    };
    let put = saver.put(&log.key, late).await;
    refused("the old version", put, is_conflict(known, log.head))?;
    same("the records", log.values(None).await?, Vec::new())
}

fn is_conflict(batch: Option<Head>, stored: Option<Head>) -> impl Fn(&CheckpointError) -> bool {
    move |error| match error {
        CheckpointError::Conflict {
            thread,
            known,
            head,
        } => thread == "t" && *known == batch && *head == stored,
        _ => false,
    }
}

async fn a_batch_for_another_head_is_refused(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let old = log.step(|_| ()).await?;
    let new = log.step(|_| ()).await?;
    let wrong = [
        Head::new(old, 1),
        Head::new(old, 2),
        Head::new(new, 1),
        Head::new(new, 3),
        Head::new(new, 0),
    ];
    for head in wrong {
        let mut batch = Batch {
            head: Some(head),
            ..Batch::default()
        };
        let put = saver.put(&log.key, batch.clone()).await;
        refused("an empty batch", put, is_conflict(Some(head), log.head))?;
        batch.checkpoints = vec![checkpoint(log.next_id(), Some(old))];
        let put = saver.put(&log.key, batch).await;
        refused("a checkpoint", put, is_conflict(Some(head), log.head))?;
    }
    log.head_is_known().await?;
    log.step(|_| ()).await?;
    log.head_is_known().await
}

async fn a_new_log_is_refused_where_there_is_one(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.step(|_| ()).await?;
    let batch = Batch {
        checkpoints: vec![checkpoint(log.next_id(), None)],
        ..Batch::default()
    };
    let put = saver.put(&log.key, batch).await;
    refused("a checkpoint", put, is_conflict(None, log.head))?;
    let put = saver.put(&log.key, Batch::default()).await;
    refused("an empty batch", put, is_conflict(None, log.head))?;
    log.head_is_known().await
}

async fn a_batch_for_a_log_that_is_not_there_is_refused(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let key = ThreadKey::root("t");
    let head = Some(Head::new(CheckpointId::after(None), 1));
    let mut batch = Batch {
        head,
        ..Batch::default()
    };
    let put = saver.put(&key, batch.clone()).await;
    refused("an empty batch", put, is_conflict(head, None))?;
    batch.checkpoints = vec![checkpoint(CheckpointId::after(None), None)];
    let put = saver.put(&key, batch).await;
    refused("a checkpoint", put, is_conflict(head, None))?;
    same("the head", saver.head(&key).await?, None)?;
    same("logs", administration(&saver)?.logs("t").await?, Vec::new())
}

async fn a_refused_batch_leaves_nothing(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    let known = log.head;
    log.put(Batch::default()).await?;
    let (before, usage) = (
        log.chain(None).await?,
        administration(&saver)?.usage("t").await?,
    );
    let new = log.next_id();
    let batch = Batch {
        head: known,
        checkpoints: vec![checkpoint(new, Some(id))],
        tasks: vec![finished(id, 0, &json!(1)), finished(new, 0, &json!(2))],
        entries: vec![entry(id, &json!(3))],
        status: RunStatus::Running,
        wake_at: Some(SystemTime::UNIX_EPOCH),
        owner: None,
    };
    let put = saver.put(&log.key, batch).await;
    refused("the batch", put, is_conflict(known, log.head))?;
    same("the chain", log.chain(None).await?, before)?;
    same("its own chain", log.links(Some(new)).await?, Vec::new())?;
    same(
        "the usage",
        administration(&saver)?.usage("t").await?,
        usage,
    )?;
    let threads = administration(&saver)?
        .threads(ThreadFilter::default())
        .await?;
    holds(
        "nothing runs",
        threads.iter().all(|thread| !thread.status.is_running()),
    )
}

/// A list in a list in a list …
fn nested(depth: usize) -> serde_json::Value {
    (1..depth).fold(json!([]), |inner, _| json!([inner]))
}

async fn what_is_nested_too_deeply_is_refused_or_read(savers: &Savers<'_>) -> Result<(), Problem> {
    for depth in [10, 100, 120, 124, 125, 126, 127, 128, 200] {
        let saver = savers.open().await?;
        let mut log = Log::root(&saver, "t");
        let mut expected = vec![log.step(|_| ()).await?];
        let id = log.next_id();
        let mut record = checkpoint(id, None);
        Arc::make_mut(&mut record.metadata).insert("deep".to_owned(), nested(depth));
        let stored = log.put(Batch {
            checkpoints: vec![record],
            ..Batch::default()
        });
        match stored.await {
            Ok(()) => expected = vec![id],
            Err(error) if depth <= 100 => return Err(error.into()),
            Err(_) => {}
        }
        // Whatever was acknowledged is read again.
        same("the chain", log.links(None).await?, expected)?;
        let options = langgraph::checkpoint::ListOptions::new().metadata("deep", nested(depth));
        saver.list(&log.key, options).await?;
    }
    Ok(())
}

async fn deep_metadata_of_a_run_is_refused_and_the_thread_lives(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut graph = langgraph::StateGraph::<i64>::new();
    graph
        .add_node("increment", |n: &i64| n + 1)
        .add_sequence(&["increment"]);
    let graph = graph.compile();
    let graph = graph.map_err(|errors| Problem::Wrong(format!("a graph: {errors}")))?;
    let graph = graph.checkpointer(std::sync::Arc::clone(&saver));
    graph
        .run(1)
        .thread("t")
        .metadata("deep", nested(90))
        .await?;
    for depth in [105, 126, 200] {
        let run = graph.run(5).thread("t").metadata("deep", nested(depth));
        let Err(error) = run.await else {
            return Err(Problem::Wrong(format!("a depth of {depth} is accepted")));
        };
        let text = error.to_string();
        let named = text.contains("`deep`") && text.contains("thread `t`");
        holds(&format!("the error names it: {text}"), named)?;
    }
    let state = graph.thread("t").state().await?;
    same("the state", state.map(|state| state.values), Some(2))?;
    let done = graph.run(()).thread("t").await?;
    same("it goes on", *done.state(), 3)
}
