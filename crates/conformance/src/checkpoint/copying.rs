//! Copies of threads.

use std::sync::Arc;

use serde_json::json;

use super::log::{Log, entry, payload, subgraph_key};
use super::{Savers, administration};
use crate::case::{Problem, refused, same};
use langgraph::checkpoint::{Batch, ListOptions, RunStatus, StorageUsage, ThreadKey};
use langgraph::error::CheckpointError;

crate::case::cases! {
    Savers:
    a_copy_has_everything,
    a_copy_and_its_original_go_their_own_ways,
    a_thread_that_is_not_there_cannot_be_copied,
    a_thread_is_never_copied_over,
    a_thread_with_only_a_subgraphs_log_is_copied,
}

async fn original(savers: &Savers<'_>) -> Result<(Log, Log), Problem> {
    let saver = savers.open().await?;
    let (mut root, mut sub) = (
        Log::root(&saver, "from"),
        Log::at(&saver, subgraph_key("from", &["a", "b"])),
    );
    root.grow(3).await?;
    let id = root
        .step(|record| {
            record.snapshot = Some(payload(&json!("state")));
            Arc::make_mut(&mut record.metadata).insert("user".into(), json!("ada"));
        })
        .await?;
    root.put(Batch {
        entries: vec![entry(id, &json!(1))],
        status: RunStatus::Running,
        ..Batch::default()
    })
    .await?;
    sub.grow(2).await?;
    Ok((root, sub))
}

async fn a_copy_has_everything(savers: &Savers<'_>) -> Result<(), Problem> {
    let (root, sub) = original(savers).await?;
    let saver = &root.saver;
    // Other threads that are not copied.
    Log::root(saver, "other").grow(2).await?;
    let before = administration(saver)?.usage("from").await?;
    administration(saver)?.copy_thread("from", "to").await?;
    same(
        "the usage",
        administration(saver)?.usage("to").await?,
        before,
    )?;
    same(
        "that of the original",
        administration(saver)?.usage("from").await?,
        before,
    )?;
    for (log, key) in [
        (root, ThreadKey::root("to")),
        (sub, subgraph_key("to", &["a", "b"])),
    ] {
        let saver = &log.saver;
        same("the head", saver.head(&key).await?, log.head)?;
        let ids = saver.list(&log.key, ListOptions::default()).await?;
        let copied = saver.list(&key, ListOptions::default()).await?;
        same("the checkpoints", copied, ids.clone())?;
        let copy = Log::at(saver, key);
        for id in ids {
            let found = copy.chain(Some(id)).await?;
            same("a chain", found, log.chain(Some(id)).await?)?;
        }
    }
    Ok(())
}

async fn a_copy_and_its_original_go_their_own_ways(savers: &Savers<'_>) -> Result<(), Problem> {
    let (mut root, _) = original(savers).await?;
    let saver = std::sync::Arc::clone(&root.saver);
    administration(&saver)?.copy_thread("from", "to").await?;
    let mut copy = Log::root(&saver, "to");
    copy.head = root.head;
    let here = root.step(|_| ()).await?;
    let there = copy.step(|_| ()).await?;
    root.head_is_known().await?;
    copy.head_is_known().await?;
    same(
        "none of the copy's",
        root.links(Some(there)).await?.contains(&there),
        here == there,
    )?;
    administration(&saver)?.delete_thread("from").await?;
    copy.step(|_| ()).await?;
    same("the chain of the copy", copy.links(None).await?.len(), 3)?;
    same(
        "the logs of the copy",
        administration(&saver)?.logs("to").await?.len(),
        2,
    )
}

async fn a_thread_that_is_not_there_cannot_be_copied(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let unknown = |error: &CheckpointError| matches!(error, CheckpointError::UnknownThread(thread) if thread == "from");
    refused(
        "the copy",
        administration(&saver)?.copy_thread("from", "to").await,
        unknown,
    )?;
    same(
        "what it made",
        administration(&saver)?.usage("to").await?,
        StorageUsage::default(),
    )?;
    Log::root(&saver, "to").grow(1).await?;
    refused(
        "over another",
        administration(&saver)?.copy_thread("from", "to").await,
        unknown,
    )
}

async fn a_thread_is_never_copied_over(savers: &Savers<'_>) -> Result<(), Problem> {
    let (root, _) = original(savers).await?;
    let saver = &root.saver;
    let exists = |name: &'static str| move |error: &CheckpointError| matches!(error, CheckpointError::ThreadExists(thread) if thread == name);
    Log::at(saver, subgraph_key("to", &["a", "b"]))
        .grow(1)
        .await?;
    let before = administration(saver)?.usage("to").await?;
    refused(
        "the copy",
        administration(saver)?.copy_thread("from", "to").await,
        exists("to"),
    )?;
    same(
        "what was there",
        administration(saver)?.usage("to").await?,
        before,
    )?;
    let copy = administration(saver)?.copy_thread("from", "from").await;
    refused("onto itself", copy, exists("from"))?;
    root.head_is_known().await
}

async fn a_thread_with_only_a_subgraphs_log_is_copied(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    Log::at(&saver, subgraph_key("from", &["a", "b"]))
        .grow(1)
        .await?;
    administration(&saver)?.copy_thread("from", "to").await?;
    same(
        "the logs",
        administration(&saver)?.logs("to").await?,
        vec![subgraph_key("to", &["a", "b"])],
    )
}
