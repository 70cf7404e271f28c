//! Removing checkpoints.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;

use super::log::{Log, checkpoint, entry, finished, payload, value};
use super::{Problem, World, administration, holds, refused, same};
use langgraph::checkpoint::{
    Base, Batch, CheckpointId, Fold, ListOptions, Prune, TaskArgument, TaskSpec, ThreadKey, Usage,
};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::thread::Keep;
use langgraph::{START, StateGraph};

super::cases! {
    a_folded_checkpoint_needs_nothing_before_it,
    a_fold_keeps_the_rest_of_its_checkpoint,
    what_is_pruned_is_gone,
    other_branches_are_left,
    pruning_does_not_disturb_a_writer,
    pruning_what_is_not_there_does_nothing,
    records_for_a_pruned_checkpoint_are_dropped,
    what_another_checkpoint_needs_is_not_pruned,
    a_checkpoint_on_a_pruned_base_is_refused,
    a_snapshot_needs_no_base,
    pruning_beside_a_change_at_an_old_checkpoint_loses_nothing,
    an_update_whose_checkpoint_is_pruned_meanwhile_is_refused,
}

fn fold(id: CheckpointId) -> Fold {
    Fold {
        id,
        snapshot: payload(&json!("folded")),
        ran: vec!["a".into(), "b".into()],
        joined: vec!["c".into()],
    }
}

async fn a_folded_checkpoint_needs_nothing_before_it(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn a_fold_keeps_the_rest_of_its_checkpoint(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut log = Log::root(&saver, "t");
    log.grow(1).await?;
    let id = log
        .step(|record| {
            let item = TaskArgument::Item(payload(&json!("item")));
            record.tasks.push(TaskSpec::new("sent".into(), Some(item)));
            record.since_snapshot = 7;
            record.log_bytes = 70;
            record.measure_at = 700;
            record.metadata.insert("user".into(), json!("ada"));
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

async fn what_is_pruned_is_gone(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn other_branches_are_left(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn pruning_does_not_disturb_a_writer(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn pruning_what_is_not_there_does_nothing(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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
        Usage::default(),
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

async fn records_for_a_pruned_checkpoint_are_dropped(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

fn base_is_gone(base: CheckpointId) -> impl Fn(&CheckpointError) -> bool {
    move |error| {
        let found = match error {
            CheckpointError::BaseGone { base, .. } => Some(*base),
            _ => None,
        };
        found == Some(base) && error.to_string().contains("thread `t`")
    }
}

async fn what_another_checkpoint_needs_is_not_pruned(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let before = log.chain(None).await?;
    for (folded, gone) in [(None, 0), (Some(3), 1), (Some(1), 2)] {
        let prune = Prune {
            fold: folded
                .map(|index: usize| fold(ids[index]))
                .into_iter()
                .collect(),
            delete: vec![ids[gone]],
        };
        let pruned = administration(&saver)?.prune(&log.key, prune).await;
        refused("pruning", pruned, base_is_gone(ids[gone]))?;
        same("the chain", log.chain(None).await?, before.clone())?;
    }
    log.head_is_known().await
}

async fn a_checkpoint_on_a_pruned_base_is_refused(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let prune = Prune {
        fold: vec![fold(ids[2])],
        delete: ids[..2].to_vec(),
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    let before = log.chain(None).await?;
    let usage = administration(&saver)?.usage("t").await?;
    let id = log.next_id();
    let mut fork = checkpoint(id, Some(ids[1]));
    let batch = |fork| Batch {
        checkpoints: vec![fork],
        entries: vec![entry(id, &json!("x"))],
        ..Batch::default()
    };
    let put = log.put(batch(fork.clone())).await;
    refused("a base that is gone", put, base_is_gone(ids[1]))?;
    let unknown = CheckpointId::after(None);
    fork.base = Some(Base {
        id: unknown,
        with_tasks: false,
    });
    let put = log.put(batch(fork.clone())).await;
    refused("a base that never was", put, base_is_gone(unknown))?;
    log.head_is_known().await?;
    same("the chain", log.chain(None).await?, before)?;
    let after = administration(&saver)?.usage("t").await?;
    same("the usage", after, usage)?;
    fork.base = Some(Base {
        id: ids[2],
        with_tasks: true,
    });
    log.put(batch(fork)).await?;
    same("the fork", log.links(None).await?, vec![ids[2], id])
}

async fn a_snapshot_needs_no_base(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut log = Log::root(&saver, "t");
    log.grow(1).await?;
    let unknown = CheckpointId::after(None);
    let base = Base {
        id: unknown,
        with_tasks: false,
    };
    let whole = log.step(|record| {
        record.base = Some(base);
        record.snapshot = Some(payload(&json!("whole")));
    });
    let id = whole.await?;
    same("the chain", log.links(None).await?, vec![id])?;
    // One of the same batch may be a base too.
    let (first, second) = (log.next_id(), CheckpointId::after(Some(log.next_id())));
    log.put(Batch {
        checkpoints: vec![checkpoint(first, Some(id)), checkpoint(second, Some(first))],
        ..Batch::default()
    })
    .await?;
    same("the chain", log.links(None).await?, vec![id, first, second])
}

async fn pruning_beside_a_change_at_an_old_checkpoint_loses_nothing(
    world: &World<'_>,
) -> Result<(), Problem> {
    for _ in 0..20 {
        let saver = world.saver().await?;
        administration(&saver)?;
        let mut log = Log::root(&saver, "t");
        let ids = log.grow(8).await?;
        let prune = Prune {
            fold: vec![fold(ids[8])],
            delete: ids[..8].to_vec(),
        };
        let (pruner, key) = (Arc::clone(&saver), log.key.clone());
        let pruned = tokio::spawn(async move {
            match pruner.administration() {
                Some(administration) => administration.prune(&key, prune).await,
                None => Ok(()),
            }
        });
        let id = log.next_id();
        let fork = log.put(Batch {
            checkpoints: vec![checkpoint(id, Some(ids[7]))],
            ..Batch::default()
        });
        let fork = fork.await;
        let pruned = pruned.await;
        let pruned = pruned.map_err(|error| Problem::Wrong(error.to_string()))?;
        // Who comes first wins, and the other one is told.
        match (&fork, &pruned) {
            (Ok(()), Err(error)) | (Err(error), Ok(())) if base_is_gone(ids[7])(error) => {}
            other => return Err(Problem::Wrong(format!("both: {other:?}"))),
        }
        let expected = match fork {
            Ok(()) => [&ids[..8], &[id]].concat(),
            Err(_) => vec![ids[8]],
        };
        same("the chain", log.links(None).await?, expected)?;
    }
    Ok(())
}

/// A number that a router looks at.
type Number = i64;

async fn an_update_whose_checkpoint_is_pruned_meanwhile_is_refused(
    world: &World<'_>,
) -> Result<(), Problem> {
    let saver = world.saver().await?;
    administration(&saver)?;
    let (asked, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let waits = (Arc::clone(&asked), Arc::clone(&go_on));
    let mut graph = StateGraph::<Number>::new();
    graph
        .add_node("a", |n: &Number| n + 1)
        .add_node("b", |n: &Number| n + 10)
        .add_edge(START, "a");
    graph.add_conditional_edges(
        "a",
        move |n: &Number| {
            let (asked, go_on) = (Arc::clone(&waits.0), Arc::clone(&waits.1));
            let waits = *n >= 100;
            async move {
                if waits {
                    asked.notify_one();
                    go_on.notified().await;
                }
                "b"
            }
        },
        ["b"],
    );
    let graph = graph.compile();
    let graph = graph.map_err(|errors| Problem::Wrong(format!("a graph: {errors}")))?;
    let graph = graph.checkpointer(Arc::clone(&saver));
    graph.run(1).thread("t").await?;
    let thread = graph.thread("t");
    let history = thread.history().await?;
    let Some(old) = history.iter().find(|old| old.step == 0) else {
        return Err(Problem::Wrong("no old checkpoint".to_owned()));
    };
    let updating = thread.at(old.id);
    let updated = tokio::spawn(async move { updating.update(100).as_node("a").await });
    asked.notified().await;
    // The lease of the update binds no pruning.
    thread.prune(Keep::Newest(1)).await?;
    go_on.notify_one();
    let updated = updated.await;
    let updated = updated.map_err(|error| Problem::Wrong(error.to_string()))?;
    match updated {
        Err(AgentError::Checkpoint(error)) if base_is_gone(old.id)(&error) => {}
        other => return Err(Problem::Wrong(format!("the update: {other:?}"))),
    }
    let state = thread.state().await?.map(|state| state.values);
    same("the state", state, Some(12))
}
