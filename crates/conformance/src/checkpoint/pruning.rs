//! Removing checkpoints.

use std::sync::Arc;

use serde_json::json;

use super::log::{Log, entry, finished, fold, payload, value};
use super::{Savers, administration};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{
    Base, Batch, CheckpointId, ListOptions, Prune, StorageUsage, TaskArgument, TaskSpec, ThreadKey,
};

crate::case::cases! {
    Savers:
    a_folded_checkpoint_needs_nothing_before_it,
    a_fold_keeps_the_rest_of_its_checkpoint,
    what_is_pruned_is_gone,
    other_branches_are_left,
    pruning_does_not_disturb_a_writer,
    pruning_what_is_not_there_does_nothing,
    records_for_a_pruned_checkpoint_are_dropped,
}

async fn a_folded_checkpoint_needs_nothing_before_it(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(5).await?;
    let prune = Prune {
        fold: vec![fold(ids[3])],
        delete: Vec::new(),
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    same("the chain", log.links(None).await?, ids[3..].to_vec())?;
    let found = log.links(Some(ids[2])).await?;
    same("an older one", found, ids[..3].to_vec())?;
    log.head_is_known().await
}

async fn a_fold_keeps_the_rest_of_its_checkpoint(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.grow(1).await?;
    let id = log
        .step(|record| {
            let item = TaskArgument::Item(payload(&json!("item")));
            record.tasks.push(TaskSpec::new("sent".into(), Some(item)));
            record.since_snapshot = 7;
            record.log_bytes = 70;
            record.measure_at = 700;
            Arc::make_mut(&mut record.metadata).insert("user".into(), json!("ada"));
            record.step = 4;
        })
        .await?;
    log.put(Batch {
        tasks: vec![finished(id, 0, &json!(1)), finished(id, 1, &json!(2))],
        entries: vec![entry(id, &json!(3))],
        ..Batch::default()
    })
    .await?;
    let prune = Prune {
        fold: vec![fold(id)],
        delete: Vec::new(),
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    let expected = vec![json!(1), json!(2), json!(3)];
    same("its records", log.values(None).await?, expected)?;
    let chain = saver.load(&log.key, None).await?;
    let stored = chain.and_then(|mut chain| chain.records.pop());
    let record = stored
        .ok_or_else(|| Problem::Wrong("no records".to_owned()))?
        .checkpoint;
    same("the step", record.step, 4)?;
    same(
        "the metadata",
        record.metadata.get("user"),
        Some(&json!("ada")),
    )?;
    same("what ran", record.ran, vec!["a".into(), "b".into()])?;
    same("what joins have started", record.joined, vec!["c".into()])?;
    same("the log since a snapshot", record.since_snapshot, 0)?;
    let argument = record
        .tasks
        .into_iter()
        .nth(1)
        .and_then(|task| task.argument);
    match argument {
        Some(TaskArgument::Item(item)) => same("the item", value(item)?, json!("item"))?,
        other => return Err(Problem::Wrong(format!("the item: {other:?}"))),
    }
    let snapshot = record
        .snapshot
        .ok_or_else(|| Problem::Wrong("no snapshot".to_owned()))?;
    same("the snapshot", value(snapshot)?, json!("folded"))
}

async fn what_is_pruned_is_gone(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(5).await?;
    // A late record, stored after the checkpoints that stay.
    log.put(Batch {
        tasks: vec![finished(ids[1], 1, &json!("late"))],
        ..Batch::default()
    })
    .await?;
    let before = administration(&saver)?.usage("t").await?;
    let prune = Prune {
        fold: vec![fold(ids[4])],
        delete: ids[..4].to_vec(),
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    let listed = saver.list(&log.key, ListOptions::default()).await?;
    same("what is left", listed, vec![ids[5], ids[4]])?;
    same("the chain", log.links(None).await?, ids[4..].to_vec())?;
    same("its records", log.values(None).await?, vec![json!(4)])?;
    for id in &ids[..4] {
        same("a pruned one", log.links(Some(*id)).await?, Vec::new())?;
    }
    let after = administration(&saver)?.usage("t").await?;
    same(
        "checkpoints",
        (before.checkpoints, after.checkpoints),
        (6, 2),
    )?;
    same("records", (before.records, after.records), (6, 1))?;
    holds("it takes no more", after.bytes <= before.bytes)
}

async fn other_branches_are_left(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let base = Base {
        id: ids[1],
        with_tasks: true,
    };
    let side = log.step(|record| record.base = Some(base)).await?;
    let prune = Prune {
        fold: vec![fold(ids[2]), fold(side)],
        delete: vec![ids[0], ids[1]],
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    same(
        "the trunk",
        log.links(Some(ids[3])).await?,
        ids[2..].to_vec(),
    )?;
    same("the branch", log.links(Some(side)).await?, vec![side])?;
    same("the head's", log.links(None).await?, vec![side])
}

async fn pruning_does_not_disturb_a_writer(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(3).await?;
    let prune = Prune {
        fold: vec![fold(ids[2])],
        delete: vec![ids[0], ids[1]],
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    log.head_is_known().await?;
    ids.push(log.step(|_| ()).await?);
    log.head_is_known().await?;
    same("the chain", log.links(None).await?, ids[2..].to_vec())
}

async fn pruning_what_is_not_there_does_nothing(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let unknown = CheckpointId::after(None);
    let prune = Prune {
        fold: vec![fold(unknown)],
        delete: vec![unknown],
    };
    administration(&saver)?
        .prune(&ThreadKey::root("t"), prune.clone())
        .await?;
    same(
        "the usage",
        administration(&saver)?.usage("t").await?,
        StorageUsage::default(),
    )?;
    let mut log = Log::root(&saver, "t");
    log.grow(2).await?;
    let before = log.chain(None).await?;
    administration(&saver)?.prune(&log.key, prune).await?;
    administration(&saver)?
        .prune(&log.key, Prune::default())
        .await?;
    same("the chain", log.chain(None).await?, before)?;
    log.head_is_known().await
}

async fn records_for_a_pruned_checkpoint_are_dropped(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let prune = Prune {
        fold: vec![fold(ids[2])],
        delete: vec![ids[0], ids[1]],
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    let before = administration(&saver)?.usage("t").await?;
    log.put(Batch {
        tasks: vec![
            finished(ids[0], 0, &json!("late")),
            finished(ids[3], 0, &json!(3)),
        ],
        entries: vec![entry(ids[0], &json!("late"))],
        ..Batch::default()
    })
    .await?;
    let after = administration(&saver)?.usage("t").await?;
    same("the records", after.records, before.records + 1)?;
    same(
        "the chain",
        log.values(None).await?,
        vec![json!(2), json!(3)],
    )
}
