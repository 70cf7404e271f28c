//! Checkpoints whose base is pruned.

use super::log::{Log, checkpoint, entry, fold, payload};
use super::{Savers, administration};
use crate::case::{Problem, refused, same};
use langgraph::checkpoint::{Base, Batch, CheckpointId, Prune};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::thread::Keep;
use langgraph::{START, StateGraph};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Notify;

crate::case::cases! {
    Savers:
    what_another_checkpoint_needs_is_not_pruned,
    a_checkpoint_on_a_pruned_base_is_refused,
    a_snapshot_needs_no_base,
    pruning_beside_a_change_at_an_old_checkpoint_loses_nothing,
    an_update_whose_checkpoint_is_pruned_meanwhile_is_refused,
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

async fn what_another_checkpoint_needs_is_not_pruned(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
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

async fn a_checkpoint_on_a_pruned_base_is_refused(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
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

async fn a_snapshot_needs_no_base(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
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
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    for _ in 0..20 {
        let saver = savers.open().await?;
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
        // The first of both succeeds, and the other one fails.
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
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
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
