//! Several writers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::Savers;
use super::log::{Log, checkpoint, entry};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{Batch, CheckpointId, Checkpointer, Head, ThreadKey};
use langgraph::error::CheckpointError;

crate::case::cases! {
    Savers:
    one_of_many_writers_wins,
    one_of_many_new_logs_wins,
    writers_that_try_again_lose_nothing,
    writers_of_different_threads_do_not_meet,
    a_reader_sees_whole_batches,
}

async fn joined<T>(tasks: Vec<JoinHandle<T>>) -> Result<Vec<T>, Problem> {
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(
            task.await
                .map_err(|error| Problem::Wrong(error.to_string()))?,
        );
    }
    Ok(answers)
}

/// Several writers put a checkpoint after the same head; returns the one that wins.
async fn race(
    saver: &Arc<dyn Checkpointer>,
    key: &ThreadKey,
    head: Option<Head>,
    writers: usize,
) -> Result<CheckpointId, Problem> {
    let writers = (0..writers).map(|n| {
        let (saver, key) = (Arc::clone(saver), key.clone());
        tokio::spawn(async move {
            let id = CheckpointId::after(head.map(|head| head.id));
            let batch = Batch {
                head,
                checkpoints: vec![checkpoint(id, head.map(|head| head.id))],
                entries: vec![entry(id, &json!(n)), entry(id, &json!(n))],
                ..Batch::default()
            };
            (n, id, saver.put(&key, batch).await)
        })
    });
    let mut won = Vec::new();
    for (n, id, put) in joined(writers.collect()).await? {
        match put {
            Ok(()) => won.push((n, id)),
            Err(CheckpointError::Conflict {
                known,
                head: Some(_),
                ..
            }) if known == head => {}
            Err(error) => {
                return Err(Problem::Wrong(format!(
                    "the error of a stale write: {error}"
                )));
            }
        }
    }
    let [(n, id)] = won[..] else {
        return Err(Problem::Wrong(format!(
            "{} writers won, expected 1",
            won.len()
        )));
    };
    let log = Log::at(saver, key.clone());
    let found = log.values(None).await?;
    let own = found.len().saturating_sub(2);
    same(
        "the winner's records",
        found[own..].to_vec(),
        vec![json!(n), json!(n)],
    )?;
    Ok(id)
}

async fn one_of_many_writers_wins(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.step(|_| ()).await?;
    let mut expected = log.links(None).await?;
    for _ in 0..10 {
        let won = race(&saver, &log.key, log.head, 12).await?;
        expected.push(won);
        log.head = log.head.map(|head| Head::new(won, head.version + 1));
        log.head_is_known().await?;
    }
    same("the chain", log.links(None).await?, expected)?;
    same("the records", log.values(None).await?.len(), 20)
}

async fn one_of_many_new_logs_wins(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for thread in ["a", "b", "c", "d"] {
        let key = ThreadKey::root(thread);
        let won = race(&saver, &key, None, 12).await?;
        let head = saver.head(&key).await?;
        same("the head", head, Some(Head::new(won, 1)))?;
    }
    Ok(())
}

async fn writers_that_try_again_lose_nothing(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    let writers = (0..6).map(|writer| {
        let (saver, key) = (Arc::clone(&saver), log.key.clone());
        tokio::spawn(async move {
            for n in 0..5 {
                loop {
                    let batch = Batch {
                        head: saver.head(&key).await?,
                        entries: vec![entry(id, &json!([writer, n]))],
                        ..Batch::default()
                    };
                    match saver.put(&key, batch).await {
                        Ok(()) => break,
                        Err(CheckpointError::Conflict { .. }) => tokio::task::yield_now().await,
                        Err(error) => return Err(error),
                    }
                }
            }
            Ok(())
        })
    });
    for writer in joined(writers.collect()).await? {
        writer?;
    }
    let found = log.values(None).await?;
    same("how many records", found.len(), 30)?;
    for writer in 0..6 {
        let own = found.iter().filter(|value| value[0] == writer);
        let own: Vec<_> = own.cloned().collect();
        let expected = (0..5).map(|n| json!([writer, n])).collect();
        same("the records of one writer", own, expected)?;
    }
    let head = saver.head(&log.key).await?;
    same("the version", head.map(|head| head.version), Some(31))
}

async fn writers_of_different_threads_do_not_meet(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let writers = (0..24).map(|n| {
        let saver = Arc::clone(&saver);
        tokio::spawn(async move {
            let mut log = Log::root(&saver, &format!("t{n}"));
            log.grow(8).await.map(|ids| (n, ids))
        })
    });
    for grown in joined(writers.collect()).await? {
        let (n, ids) = grown?;
        let log = Log::root(&saver, &format!("t{n}"));
        same("the chain", log.links(None).await?, ids)?;
    }
    Ok(())
}

async fn a_reader_sees_whole_batches(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.step(|_| ()).await?;
    let done = Arc::new(AtomicBool::new(false));
    let began = Arc::new(Notify::new());
    let reader = {
        let (saver, key) = (Arc::clone(&saver), log.key.clone());
        let (done, began) = (Arc::clone(&done), Arc::clone(&began));
        tokio::spawn(async move {
            let log = Log::at(&saver, key);
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let records = log.values(None).await?;
                // Each batch holds a pair.
                let whole = records
                    .chunks(2)
                    .all(|pair| matches!(pair, [a, b] if a == b));
                holds("a batch is read whole", whole)?;
                reads += 1;
                began.notify_one();
                tokio::task::yield_now().await;
            }
            Ok::<usize, Problem>(reads)
        })
    };
    // If the reader fails, the check below reports it.
    let _ = tokio::time::timeout(Duration::from_secs(10), began.notified()).await;
    let mut written = Ok(());
    for n in 0..40 {
        let id = log.next_id();
        let batch = Batch {
            checkpoints: vec![checkpoint(id, log.head.map(|head| head.id))],
            entries: vec![entry(id, &json!(n)), entry(id, &json!(n))],
            ..Batch::default()
        };
        written = log.put(batch).await;
        if written.is_err() {
            break;
        }
        tokio::task::yield_now().await;
    }
    done.store(true, Ordering::Relaxed);
    let reads = reader
        .await
        .map_err(|error| Problem::Wrong(error.to_string()))??;
    written?;
    holds("something was read", reads > 0)?;
    same("in the end", log.values(None).await?.len(), 80)
}
