//! The ancestry of a checkpoint, from which its state is folded.

use serde_json::json;

use super::Savers;
use super::log::{Log, checkpoint, entry, finished, payload};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{Base, Batch, CheckpointId, ThreadKey};

crate::case::cases! {
    Savers:
    what_is_not_there_is_not_loaded,
    a_chain_goes_back_to_the_beginning,
    a_chain_begins_at_the_nearest_snapshot,
    a_chain_ends_at_the_requested_checkpoint,
    a_chain_follows_the_base_and_not_the_parent,
    a_checkpoint_without_a_base_needs_no_other,
    branches_stay_apart,
    a_chain_has_the_head_of_the_log,
    a_long_chain_is_whole,
}

async fn what_is_not_there_is_not_loaded(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let key = ThreadKey::root("t");
    let unknown = CheckpointId::after(None);
    holds("no log", saver.load(&key, None).await?.is_none())?;
    holds(
        "no log to look in",
        saver.load(&key, Some(unknown)).await?.is_none(),
    )?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(2).await?;
    let between = ids.first().map(|first| CheckpointId::after(Some(*first)));
    let unknown = [Some(unknown), between, Some(log.next_id())];
    for id in unknown.into_iter().flatten().filter(|id| !ids.contains(id)) {
        let chain = saver.load(&key, Some(id)).await?;
        let chain = chain.ok_or_else(|| Problem::Wrong("there is a log".to_owned()))?;
        same("the head", Some(chain.head), log.head)?;
        holds("no records", chain.records.is_empty())?;
    }
    let other = ThreadKey {
        thread: "t".into(),
        namespace: vec!["a".into()],
    };
    holds(
        "no log of a subgraph",
        saver.load(&other, None).await?.is_none(),
    )
}

async fn a_chain_goes_back_to_the_beginning(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(5).await?;
    same("the chain", log.links(None).await?, ids)?;
    let values: Vec<_> = (0..5).map(|n| json!(n)).collect();
    same("the records", log.values(None).await?, values)
}

async fn a_chain_begins_at_the_nearest_snapshot(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(2).await?;
    for snapshot in [Some(json!("old")), None, Some(json!("new")), None, None] {
        let snapshot = snapshot.map(|state| payload(&state));
        ids.push(log.step(|record| record.snapshot = snapshot).await?);
    }
    same("of the head", log.links(None).await?, ids[5..].to_vec())?;
    same(
        "of one with a snapshot",
        log.links(Some(ids[5])).await?,
        vec![ids[5]],
    )?;
    let found = log.links(Some(ids[4])).await?;
    same("of one between", found, ids[3..5].to_vec())?;
    let found = log.links(Some(ids[2])).await?;
    same("of one before", found, ids[..3].to_vec())
}

async fn a_chain_ends_at_the_requested_checkpoint(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(6).await?;
    for (index, id) in ids.iter().enumerate() {
        let found = log.links(Some(*id)).await?;
        same("the chain", found, ids[..=index].to_vec())?;
        // The writes of its own tasks belong to it too.
        let values: Vec<_> = (0..6).take(index + 1).map(|n| json!(n)).collect();
        same("the records", log.values(Some(*id)).await?, values)?;
    }
    Ok(())
}

async fn a_chain_follows_the_base_and_not_the_parent(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(4).await?;
    let base = Base {
        id: ids[1],
        with_tasks: false,
    };
    let fork = log.step(|record| record.base = Some(base)).await?;
    same(
        "the chain",
        log.links(None).await?,
        vec![ids[0], ids[1], fork],
    )?;
    let chain = saver.load(&log.key, None).await?;
    let last = chain.and_then(|mut chain| chain.records.pop());
    let last = last.ok_or_else(|| Problem::Wrong("no records".to_owned()))?;
    same("the base", last.checkpoint.base, Some(base))?;
    same("the parent", last.checkpoint.parent, Some(ids[4]))
}

async fn a_checkpoint_without_a_base_needs_no_other(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.grow(2).await?;
    let alone = log.step(|record| record.base = None).await?;
    let next = log.step(|_| ()).await?;
    same("the chain", log.links(None).await?, vec![alone, next])
}

async fn branches_stay_apart(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let trunk = log.grow(2).await?;
    let fork = trunk[1];
    let mut tips = [fork, fork];
    let mut chains = [trunk[..2].to_vec(), trunk[..2].to_vec()];
    // Two branches that grow in turns.
    for n in 0..6 {
        let side = n % 2;
        let id = log.next_id();
        log.put(Batch {
            checkpoints: vec![checkpoint(id, Some(tips[side]))],
            tasks: match n {
                0 | 1 => Vec::new(),
                _ => vec![finished(tips[side], 0, &json!(n))],
            },
            entries: vec![entry(id, &json!([n]))],
            ..Batch::default()
        })
        .await?;
        tips[side] = id;
        chains[side].push(id);
    }
    for (tip, chain) in tips.into_iter().zip(chains) {
        same("the branch", log.links(Some(tip)).await?, chain)?;
    }
    let expected = [
        json!(0),
        json!(1),
        json!(2),
        json!([0]),
        json!(4),
        json!([2]),
        json!([4]),
    ];
    same(
        "its records",
        log.values(Some(tips[0])).await?,
        expected.to_vec(),
    )?;
    let found = log.links(Some(trunk[2])).await?;
    same("the trunk", found, trunk)
}

async fn a_chain_has_the_head_of_the_log(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    for id in [None, Some(ids[0]), Some(ids[3])] {
        let chain = saver.load(&log.key, id).await?;
        same("the head", chain.map(|chain| chain.head), log.head)?;
    }
    Ok(())
}

async fn a_long_chain_is_whole(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let first = log.step(|_| ()).await?;
    let mut batch = Batch::default();
    let mut before = first;
    for n in 0..2_000 {
        let id = CheckpointId::after(Some(before));
        batch.checkpoints.push(checkpoint(id, Some(before)));
        batch.tasks.push(finished(before, 0, &json!(n)));
        before = id;
    }
    log.put(batch).await?;
    same("how many", log.links(None).await?.len(), 2_001)?;
    let expected: Vec<_> = (0..2_000).map(|n| json!(n)).collect();
    holds("all records in order", log.values(None).await? == expected)
}
