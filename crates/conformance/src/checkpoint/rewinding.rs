//! Taking logs back.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::log::{Log, chain, entry, finished, payload, state, state_of_chain, subgraph_key};
use super::{Savers, administration};
use crate::case::{Problem, holds, refused, same};
use langgraph::checkpoint::{
    Base, Batch, CheckpointId, EntryRecord, Head, ListOptions, OnceRecord, Prune, Rewind,
    RunStatus, StorageUsage, TaskArgument, TaskRecord, TaskSpec, ThreadFilter, ThreadKey,
};
use langgraph::error::CheckpointError;

crate::case::cases! {
    Savers:
    a_rewound_log_is_as_it_was,
    every_checkpoint_can_be_the_end_again,
    records_of_the_new_head_are_counted,
    other_branches_go_if_they_are_later,
    a_rewound_log_goes_on,
    a_writer_behind_the_old_head_is_refused,
    a_rewound_log_has_the_given_status,
    other_logs_are_not_rewound,
    a_pruned_log_is_rewound_to_what_is_left,
    rewinding_to_what_is_not_there_does_nothing,
}

/// Back to that checkpoint, with all of its records.
pub(super) fn back_to(to: CheckpointId) -> Rewind {
    Rewind {
        to,
        tasks: usize::MAX,
        entries: usize::MAX,
        status: RunStatus::Done,
        wake_at: None,
    }
}

/// What a log shows.
#[derive(Debug, PartialEq)]
pub(super) struct Shown {
    list: Vec<CheckpointId>,
    chains: Vec<Vec<String>>,
    usage: StorageUsage,
}

pub(super) async fn shown(log: &Log) -> Result<Shown, Problem> {
    let list = log.saver.list(&log.key, ListOptions::default()).await?;
    let mut chains = vec![log.chain(None).await?];
    for id in &list {
        chains.push(log.chain(Some(*id)).await?);
        let of_chain = state_of_chain(&*log.saver, &log.key, Some(*id)).await?;
        let state = state(&*log.saver, &log.key, Some(*id)).await?;
        same("a state", state, of_chain)?;
    }
    let usage = administration(&log.saver)?.usage(&log.key.thread).await?;
    Ok(Shown {
        list,
        chains,
        usage,
    })
}

/// Rewinds the log, and checks that it has such a head.
async fn rewind(log: &mut Log, rewind: Rewind) -> Result<(), Problem> {
    let version = log.head.map_or(0, |head| head.version) + 1;
    let to = rewind.to;
    let is_done = administration(&log.saver)?.rewind(&log.key, rewind);
    holds("the checkpoint is there", is_done.await?)?;
    log.head = Some(Head::new(to, version));
    log.head_is_known().await
}

async fn a_rewound_log_is_as_it_was(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let before = shown(&log).await?;
    // A superstep whose record is stored with the next checkpoint, and others.
    log.put(Batch {
        tasks: vec![finished(ids[3], 0, &json!("since"))],
        entries: vec![entry(ids[3], &json!("since"))],
        ..Batch::default()
    })
    .await?;
    log.step(|record| record.snapshot = Some(payload(&json!("since"))))
        .await?;
    log.step(|_| ()).await?;
    let end = Rewind {
        tasks: 0,
        entries: 0,
        ..back_to(ids[3])
    };
    rewind(&mut log, end.clone()).await?;
    same("the log", shown(&log).await?, before)?;
    // Once more, which changes only the version.
    let before = shown(&log).await?;
    rewind(&mut log, end).await?;
    same("the log", shown(&log).await?, before)
}

async fn every_checkpoint_can_be_the_end_again(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(5).await?;
    for (index, id) in ids.iter().enumerate().rev() {
        rewind(&mut log, back_to(*id)).await?;
        same("the chain", log.links(None).await?, ids[..=index].to_vec())?;
        let wrote = if index == 5 { 5 } else { index + 1 };
        let expected: Vec<_> = (0..wrote).map(|step| json!(step)).collect();
        same("its records", log.values(None).await?, expected)?;
        shown(&log).await?;
    }
    Ok(())
}

async fn records_of_the_new_head_are_counted(savers: &Savers<'_>) -> Result<(), Problem> {
    for (tasks, entries) in [(0, 0), (1, 0), (0, 1), (2, 1), (3, 2), (9, 9)] {
        let saver = savers.open().await?;
        let mut log = Log::root(&saver, "t");
        let id = log.grow(2).await?[2];
        let sent = |item: &str| {
            let item = TaskArgument::Item(payload(&json!(item)));
            TaskSpec::new("sent".into(), Some(item))
        };
        let with_tasks = |writes: &str, tasks| EntryRecord {
            tasks,
            ..entry(id, &json!(writes))
        };
        let once = OnceRecord {
            key: "paid".to_owned(),
            arguments: 0,
            value: "7".to_owned(),
        };
        log.put(Batch {
            tasks: vec![TaskRecord::done_once(id, 0, once)],
            entries: vec![with_tasks("one", vec![sent("a"), sent("b")])],
            ..Batch::default()
        })
        .await?;
        log.put(Batch {
            tasks: vec![
                TaskRecord::answered(id, 0, Vec::new()),
                finished(id, 0, &json!("done")),
            ],
            entries: vec![with_tasks("two", vec![sent("c")])],
            ..Batch::default()
        })
        .await?;
        let chain = saver.load(&log.key, None).await?;
        let mut stored = chain.map(|chain| chain.records).unwrap_or_default();
        if let Some(last) = stored.last_mut() {
            last.tasks.truncate(tasks);
            last.entries.truncate(entries);
        }
        let expected = super::log::text(stored)?;
        log.step(|_| ()).await?;
        let end = Rewind {
            tasks,
            entries,
            ..back_to(id)
        };
        rewind(&mut log, end).await?;
        same("the chain", log.chain(None).await?, expected)?;
        let records = administration(&saver)?.usage("t").await?.records;
        let kept = (tasks.min(3) + entries.min(2)) as u64;
        same("the records", records, 2 + kept)?;
        shown(&log).await?;
    }
    Ok(())
}

async fn other_branches_go_if_they_are_later(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let on = |id| {
        Some(Base {
            id,
            with_tasks: true,
        })
    };
    let side = log.step(|record| record.base = on(ids[1])).await?;
    let before = shown(&log).await?;
    log.step(|record| record.base = on(ids[2])).await?;
    let last = log.step(|record| record.base = on(ids[0])).await?;
    rewind(&mut log, back_to(side)).await?;
    same("the log", shown(&log).await?, before)?;
    same("a later one", log.links(Some(last)).await?, Vec::new())?;
    rewind(&mut log, back_to(ids[3])).await?;
    same("the trunk", log.links(None).await?, ids)?;
    same("the branch", log.links(Some(side)).await?, Vec::new())
}

async fn a_rewound_log_goes_on(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(4).await?;
    for round in 0..3 {
        let end = Rewind {
            tasks: 0,
            ..back_to(ids[2])
        };
        rewind(&mut log, end).await?;
        ids.truncate(3);
        for step in 0..3 {
            let (before, id) = (log.newest()?, log.next_id());
            log.put(Batch {
                checkpoints: vec![super::log::checkpoint(id, Some(before))],
                tasks: vec![finished(before, 0, &json!([round, step]))],
                ..Batch::default()
            })
            .await?;
            ids.push(id);
        }
        same("the chain", log.links(None).await?, ids.clone())?;
        let written = (0..3).map(|step| json!([round, step]));
        let expected: Vec<_> = [json!(0), json!(1)].into_iter().chain(written).collect();
        same("its records", log.values(None).await?, expected)?;
        shown(&log).await?;
    }
    Ok(())
}

async fn a_writer_behind_the_old_head_is_refused(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(2).await?;
    // One that knows the checkpoint to which the log goes back, and one that knows the last.
    let mut early = Log::root(&saver, "t");
    early.head = log.head;
    log.step(|_| ()).await?;
    let mut late = Log::root(&saver, "t");
    late.head = log.head;
    rewind(&mut log, back_to(ids[2])).await?;
    for writer in [&mut early, &mut late] {
        let (known, now) = (writer.head, log.head);
        let put = writer.put(Batch::default()).await;
        let is_conflict = |error: &CheckpointError| match error {
            CheckpointError::Conflict {
                known: old, head, ..
            } => *old == known && *head == now,
            _ => false,
        };
        refused("a batch", put, is_conflict)?;
    }
    log.put(Batch::default()).await?;
    log.head_is_known().await
}

async fn a_rewound_log_has_the_given_status(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(2).await?;
    let second = |second| SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    for (status, wake_at) in [
        (RunStatus::Interrupted, Some(second(20))),
        (RunStatus::Failed, None),
        (RunStatus::Interrupted, Some(second(30))),
    ] {
        log.put(Batch {
            status: RunStatus::Running,
            wake_at: Some(second(10)),
            ..Batch::default()
        })
        .await?;
        let end = Rewind {
            status,
            wake_at,
            ..back_to(ids[2])
        };
        rewind(&mut log, end).await?;
        let threads = administration(&saver)?.threads(ThreadFilter::default());
        let found = threads.await?;
        let found = found.iter().map(|info| (info.status, info.wake_at));
        same(
            "how it stands",
            found.collect::<Vec<_>>(),
            vec![(status, wake_at)],
        )?;
        for time in [10, 20, 30].map(second) {
            let filter = ThreadFilter::new().due_at(time);
            let due = administration(&saver)?.threads(filter).await?;
            let is_due = wake_at.is_some_and(|at| at <= time);
            same("those that are due", due.len(), usize::from(is_due))?;
        }
    }
    Ok(())
}

async fn other_logs_are_not_rewound(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(2).await?;
    let keys = [
        ThreadKey::root("u"),
        subgraph_key("t", &["a"]),
        log.key.below(ids[2], 0, "work", 0),
    ];
    let mut before = Vec::new();
    for key in &keys {
        Log::at(&saver, key.clone()).grow(3).await?;
        before.push(chain(&*saver, key, None).await?);
    }
    rewind(&mut log, back_to(ids[0])).await?;
    for (key, before) in keys.iter().zip(before) {
        same("another log", chain(&*saver, key, None).await?, before)?;
    }
    Ok(())
}

async fn a_pruned_log_is_rewound_to_what_is_left(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(4).await?;
    let prune = Prune {
        fold: vec![super::log::fold(ids[3])],
        delete: ids[..3].to_vec(),
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    let usage = administration(&saver)?.usage("t").await?;
    let gone = administration(&saver)?.rewind(&log.key, back_to(ids[1]));
    holds("it is gone", !gone.await?)?;
    log.head_is_known().await?;
    same(
        "what it takes",
        administration(&saver)?.usage("t").await?,
        usage,
    )?;
    let end = Rewind {
        tasks: 0,
        ..back_to(ids[3])
    };
    rewind(&mut log, end).await?;
    same("the chain", log.links(None).await?, vec![ids[3]])?;
    same("its records", log.values(None).await?, Vec::new())?;
    log.step(|_| ()).await?;
    shown(&log).await?;
    Ok(())
}

async fn rewinding_to_what_is_not_there_does_nothing(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let unknown = CheckpointId::after(None);
    let mut log = Log::root(&saver, "t");
    let no_log = administration(&saver)?.rewind(&log.key, back_to(unknown));
    holds("there is no log", !no_log.await?)?;
    same(
        "the logs",
        administration(&saver)?.logs("t").await?,
        Vec::new(),
    )?;
    log.grow(2).await?;
    let before = shown(&log).await?;
    let no_checkpoint = administration(&saver)?.rewind(&log.key, back_to(unknown));
    holds("there is no such checkpoint", !no_checkpoint.await?)?;
    same("the log", shown(&log).await?, before)?;
    log.head_is_known().await
}
