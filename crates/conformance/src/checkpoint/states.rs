//! Loading only the state.

use serde_json::json;

use super::log::{Log, checkpoint, ended, entry, finished, payload, state, state_of_chain};
use super::{Savers, administration};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{
    Base, Batch, CheckpointId, Fold, Prune, Source, StorageUsage, TaskOutcome, TaskSpec, ThreadKey,
};

crate::case::cases! {
    Savers:
    what_is_not_there_has_no_state,
    a_state_is_made_of_what_the_chain_holds,
    a_state_has_what_several_tasks_wrote_in_their_order,
    a_state_has_what_was_written_from_outside,
    a_state_knows_what_pending_tasks_have_left,
    states_of_branches_stay_apart,
    a_state_begins_at_the_nearest_snapshot,
    what_comes_late_is_part_of_the_states_behind_it,
    a_pruned_log_has_the_same_states,
    a_checkpoint_goes_and_what_its_task_before_wrote_stays,
    a_copy_has_the_same_states,
}

/// Fails unless `load_state` and `load` agree about every checkpoint.
async fn states_agree(log: &Log, ids: &[CheckpointId]) -> Result<(), Problem> {
    for id in ids.iter().map(|id| Some(*id)).chain([None]) {
        let found = state(&*log.saver, &log.key, id).await?;
        let chain = state_of_chain(&*log.saver, &log.key, id).await?;
        same(&format!("the state of {id:?}"), found, chain)?;
    }
    Ok(())
}

async fn what_is_not_there_has_no_state(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let key = ThreadKey::root("t");
    same(
        "no log",
        state(&*saver, &key, None).await?,
        vec!["no log".to_owned()],
    )?;
    let mut log = Log::root(&saver, "t");
    log.grow(3).await?;
    let unknown = log.next_id();
    let found = state(&*saver, &key, Some(unknown)).await?;
    same("no checkpoint", found.len(), 1)?;
    states_agree(&log, &[unknown]).await
}

async fn a_state_is_made_of_what_the_chain_holds(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(40).await?;
    states_agree(&log, &ids).await?;
    let found = state(&*saver, &log.key, None).await?;
    let past = found.iter().filter(|line| line.starts_with("tasks"));
    same("what is past", past.count(), 40)?;
    holds(
        "the last superstep's task",
        found.iter().any(|line| line == "tasks [39]"),
    )
}

async fn a_state_has_what_several_tasks_wrote_in_their_order(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(2).await?;
    let work = TaskSpec::new("work".into(), None);
    let at = log
        .step(|record| record.tasks = vec![work; 3].into())
        .await?;
    ids.push(at);
    let failed = ended(at, 1, TaskOutcome::Failed("no".into()));
    for task in [
        finished(at, 2, &json!("c")),
        failed,
        finished(at, 0, &json!("a")),
    ] {
        log.put(Batch {
            tasks: vec![task],
            ..Batch::default()
        })
        .await?;
    }
    let id = log.next_id();
    log.put(Batch {
        checkpoints: vec![checkpoint(id, Some(at))],
        tasks: vec![finished(at, 1, &json!("b"))],
        ..Batch::default()
    })
    .await?;
    ids.push(id);
    states_agree(&log, &ids).await?;
    let found = state(&*saver, &log.key, None).await?;
    let ordered = r#"tasks ["a","b","c"]"#;
    holds("their order", found.iter().any(|line| line == ordered))
}

async fn a_state_has_what_was_written_from_outside(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(2).await?;
    let at = log.newest()?;
    let id = log.next_id();
    let mut update = checkpoint(id, Some(at));
    update.source = Source::Update;
    update.base = Some(Base {
        id: at,
        with_tasks: false,
    });
    log.put(Batch {
        checkpoints: vec![update],
        entries: vec![entry(id, &json!("x")), entry(id, &json!("y"))],
        ..Batch::default()
    })
    .await?;
    ids.push(id);
    states_agree(&log, &ids).await?;
    ids.push(log.step(|_| ()).await?);
    states_agree(&log, &ids).await
}

async fn a_state_knows_what_pending_tasks_have_left(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let at = log.newest()?;
    let failed = ended(at, 1, TaskOutcome::Failed("no".into()));
    log.put(Batch {
        tasks: vec![finished(at, 0, &json!("done")), failed],
        entries: vec![entry(at, &json!("joined"))],
        ..Batch::default()
    })
    .await?;
    states_agree(&log, &ids).await
}

async fn states_of_branches_stay_apart(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(4).await?;
    let Some(old) = ids.get(2).copied() else {
        return Ok(());
    };
    let fork = log
        .step(|record| {
            record.parent = Some(old);
            record.base = Some(Base {
                id: old,
                with_tasks: false,
            });
            record.source = Source::Fork;
        })
        .await?;
    ids.push(fork);
    states_agree(&log, &ids).await?;
    for step in 10..14 {
        let at = log.newest()?;
        let id = log.next_id();
        log.put(Batch {
            checkpoints: vec![checkpoint(id, Some(at))],
            tasks: vec![finished(at, 0, &json!(step))],
            ..Batch::default()
        })
        .await?;
        ids.push(id);
    }
    states_agree(&log, &ids).await
}

async fn a_state_begins_at_the_nearest_snapshot(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(2).await?;
    for snapshot in [json!("one"), json!("two")] {
        let at = log.newest()?;
        let id = log.next_id();
        let mut record = checkpoint(id, Some(at));
        record.snapshot = Some(payload(&snapshot));
        log.put(Batch {
            checkpoints: vec![record],
            tasks: vec![finished(at, 0, &json!("before"))],
            ..Batch::default()
        })
        .await?;
        ids.push(id);
        states_agree(&log, &ids).await?;
        ids.push(log.step(|_| ()).await?);
    }
    states_agree(&log, &ids).await
}

async fn what_comes_late_is_part_of_the_states_behind_it(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(4).await?;
    let Some(old) = ids.get(1).copied() else {
        return Ok(());
    };
    log.put(Batch {
        tasks: vec![finished(old, 1, &json!("late"))],
        entries: vec![entry(old, &json!("later"))],
        ..Batch::default()
    })
    .await?;
    states_agree(&log, &ids).await?;
    ids.push(log.step(|_| ()).await?);
    states_agree(&log, &ids).await
}

async fn a_pruned_log_has_the_same_states(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(6).await?;
    for (folded, gone) in [(2, 0..0), (4, 0..4), (5, 4..5)] {
        let Some(id) = ids.get(folded).copied() else {
            continue;
        };
        let prune = Prune {
            fold: vec![Fold {
                id,
                snapshot: payload(&json!(folded)),
                ran: Vec::new(),
                joined: Vec::new(),
            }],
            delete: ids.get(gone).unwrap_or_default().to_vec(),
        };
        administration(&saver)?.prune(&log.key, prune).await?;
        states_agree(&log, &ids).await?;
    }
    let mut ids = ids;
    ids.push(log.step(|_| ()).await?);
    states_agree(&log, &ids).await
}

async fn a_checkpoint_goes_and_what_its_task_before_wrote_stays(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(4).await?;
    let Some([kept, gone, next]) = ids.get(1..4) else {
        return Ok(());
    };
    let before: StorageUsage = administration(&saver)?.usage("t").await?;
    let prune = Prune {
        fold: vec![Fold {
            id: *next,
            snapshot: payload(&json!(0)),
            ran: Vec::new(),
            joined: Vec::new(),
        }],
        delete: vec![*gone],
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    let after = administration(&saver)?.usage("t").await?;
    same("checkpoints", after.checkpoints + 1, before.checkpoints)?;
    same("records", after.records + 1, before.records)?;
    let chain = saver.load(&log.key, Some(*kept)).await?;
    let records = chain.map(|chain| chain.records).unwrap_or_default();
    let tasks = records.last().map(|stored| stored.tasks.len());
    same("what is known of its task", tasks, Some(1))?;
    states_agree(&log, &ids).await
}

async fn a_copy_has_the_same_states(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let found = state(&*saver, &log.key, None).await?;
    administration(&saver)?.copy_thread("t", "copy").await?;
    let copy = ThreadKey::root("copy");
    same("the copy", state(&*saver, &copy, None).await?, found)?;
    log.step(|_| ()).await?;
    let mut other = Log::root(&saver, "copy");
    other.head = saver.head(&copy).await?;
    other.step(|_| ()).await?;
    states_agree(&log, &ids).await?;
    states_agree(&other, &ids).await
}
