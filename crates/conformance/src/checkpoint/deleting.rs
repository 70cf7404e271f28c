//! Deletion of logs and threads.

use super::log::{Log, subgraph_key, thread_names};
use super::{Savers, administration};
use crate::case::{Problem, holds, refused, same};
use langgraph::checkpoint::{Batch, Head, StorageUsage, ThreadFilter, ThreadKey};
use langgraph::error::CheckpointError;

crate::case::cases! {
    Savers:
    a_deleted_log_leaves_the_others,
    a_deleted_thread_leaves_the_others,
    a_deleted_thread_can_begin_again,
    what_is_not_there_can_be_deleted,
    a_writer_notices_that_its_thread_is_gone,
    a_thread_that_was_written_to_is_not_deleted,
    deletion_beside_a_write_deletes_nothing_acknowledged,
}

/// Two threads with two logs each.
async fn two_threads(savers: &Savers<'_>) -> Result<[Log; 4], Problem> {
    let saver = savers.open().await?;
    let mut logs = [
        Log::root(&saver, "t"),
        Log::at(&saver, subgraph_key("t", &["a"])),
        Log::root(&saver, "u"),
        Log::at(&saver, subgraph_key("u", &["a"])),
    ];
    for log in &mut logs {
        log.grow(3).await?;
    }
    Ok(logs)
}

/// Fails the case unless exactly these logs exist.
async fn left(logs: &[Log], expected: &[bool]) -> Result<(), Problem> {
    for (log, expected) in logs.iter().zip(expected) {
        let what = format!("log {:?}", log.key);
        let chain = log.links(None).await?;
        same(&what, chain.len(), if *expected { 4 } else { 0 })?;
        let head = log.saver.head(&log.key).await?;
        same(&what, head, log.head.filter(|_| *expected))?;
    }
    Ok(())
}

async fn a_deleted_log_leaves_the_others(savers: &Savers<'_>) -> Result<(), Problem> {
    let logs = two_threads(savers).await?;
    let saver = &logs[0].saver;
    administration(saver)?.delete_log(&logs[1].key).await?;
    left(&logs, &[true, false, true, true]).await?;
    administration(saver)?.delete_log(&logs[2].key).await?;
    left(&logs, &[true, false, false, true]).await?;
    same("logs", administration(saver)?.usage("t").await?.logs, 1)?;
    let threads = thread_names(&logs[0], ThreadFilter::default()).await?;
    same("the threads", threads, vec!["t".to_owned()])
}

async fn a_deleted_thread_leaves_the_others(savers: &Savers<'_>) -> Result<(), Problem> {
    let logs = two_threads(savers).await?;
    let saver = &logs[0].saver;
    administration(saver)?.delete_thread("t").await?;
    left(&logs, &[false, false, true, true]).await?;
    same(
        "what it takes",
        administration(saver)?.usage("t").await?,
        StorageUsage::default(),
    )?;
    same(
        "its logs",
        administration(saver)?.logs("t").await?,
        Vec::new(),
    )?;
    let threads = thread_names(&logs[0], ThreadFilter::default()).await?;
    same("the threads", threads, vec!["u".to_owned()])
}

async fn a_deleted_thread_can_begin_again(savers: &Savers<'_>) -> Result<(), Problem> {
    let mut logs = two_threads(savers).await?;
    let saver = std::sync::Arc::clone(&logs[0].saver);
    administration(&saver)?.delete_thread("t").await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(1).await?;
    same("the chain", log.links(None).await?, ids)?;
    same("the version", log.head.map(|head| head.version), Some(2))?;
    log.head_is_known().await?;
    same("the subgraph's log", logs[1].links(None).await?, Vec::new())?;
    let [.., other, _] = &mut logs;
    other.step(|_| ()).await?;
    other.head_is_known().await
}

async fn what_is_not_there_can_be_deleted(savers: &Savers<'_>) -> Result<(), Problem> {
    let logs = two_threads(savers).await?;
    let saver = &logs[0].saver;
    administration(saver)?.delete_thread("unknown").await?;
    administration(saver)?
        .delete_log(&ThreadKey::root("unknown"))
        .await?;
    administration(saver)?
        .delete_log(&subgraph_key("t", &["unknown"]))
        .await?;
    administration(saver)?
        .delete_log(&subgraph_key("t", &["a", "b"]))
        .await?;
    left(&logs, &[true; 4]).await
}

async fn a_writer_notices_that_its_thread_is_gone(savers: &Savers<'_>) -> Result<(), Problem> {
    let mut logs = two_threads(savers).await?;
    let [log, ..] = &mut logs;
    let saver = std::sync::Arc::clone(&log.saver);
    administration(&saver)?.delete_thread("t").await?;
    let gone =
        |error: &CheckpointError| matches!(error, CheckpointError::Conflict { head: None, .. });
    refused("a batch", log.put(Batch::default()).await, gone)?;
    same(
        "the logs",
        administration(&saver)?.logs("t").await?,
        Vec::new(),
    )
}

async fn a_thread_that_was_written_to_is_not_deleted(savers: &Savers<'_>) -> Result<(), Problem> {
    let mut logs = two_threads(savers).await?;
    let [log, ..] = &mut logs;
    let saver = std::sync::Arc::clone(&log.saver);
    let old = log.head.ok_or(Problem::Missing)?;
    log.put(Batch::default()).await?;
    let now = log.head.ok_or(Problem::Missing)?;
    let is_conflict = |found: Option<Head>| {
        move |error: &CheckpointError| match error {
            CheckpointError::Conflict { known, head, .. } => known.is_some() && *head == found,
            _ => false,
        }
    };
    let deleted = administration(&saver)?.delete_thread_at("t", old).await;
    refused("an old head", deleted, is_conflict(Some(now)))?;
    left(&logs, &[true; 4]).await?;
    administration(&saver)?.delete_thread_at("t", now).await?;
    left(&logs, &[false, false, true, true]).await?;
    let deleted = administration(&saver)?.delete_thread_at("t", now).await;
    refused("no thread", deleted, is_conflict(None))
}

async fn deletion_beside_a_write_deletes_nothing_acknowledged(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    administration(&saver)?;
    for _ in 0..20 {
        let mut log = Log::root(&saver, "t");
        log.grow(1).await?;
        let head = log.head.ok_or(Problem::Missing)?;
        let deleter = std::sync::Arc::clone(&saver);
        let deleted = tokio::spawn(async move {
            match deleter.administration() {
                Some(administration) => administration.delete_thread_at("t", head).await,
                None => Ok(()),
            }
        });
        let written = log.put(Batch::default()).await;
        let deleted = deleted.await;
        let deleted = deleted.map_err(|error| Problem::Wrong(error.to_string()))?;
        holds("one of both", written.is_ok() != deleted.is_ok())?;
        let found = saver.head(&log.key).await?;
        let expected = if written.is_ok() { log.head } else { None };
        same("the head", found, expected)?;
        administration(&saver)?.delete_thread("t").await?;
    }
    Ok(())
}
