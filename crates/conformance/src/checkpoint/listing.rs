//! The checkpoints of a log.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Savers;
use super::log::Log;
use crate::case::{Problem, same};
use langgraph::checkpoint::{CheckpointId, ListOptions, Source, ThreadKey};

crate::case::cases! {
    Savers:
    checkpoints_are_listed_newest_first,
    nothing_is_listed_of_what_is_not_there,
    a_limit_is_kept,
    before_is_strict,
    sources_and_steps_are_filtered,
    metadata_is_filtered_by_every_key,
    filters_work_together,
    branches_are_listed_by_age,
}

async fn checkpoints_are_listed_newest_first(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(5).await?;
    ids.reverse();
    let found = saver.list(&log.key, ListOptions::default()).await?;
    same("the checkpoints", found, ids)
}

async fn nothing_is_listed_of_what_is_not_there(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.grow(1).await?;
    let subgraph = ThreadKey {
        thread: "t".into(),
        namespace: vec!["a".into()],
    };
    for key in [ThreadKey::root("other"), subgraph] {
        let found = saver.list(&key, ListOptions::default()).await?;
        same("of no log", found, Vec::new())?;
    }
    Ok(())
}

async fn a_limit_is_kept(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(3).await?;
    ids.reverse();
    for limit in [0, 1, 3, 4, 5, usize::MAX] {
        let options = ListOptions::new().limit(limit);
        let found = saver.list(&log.key, options).await?;
        let expected = ids.iter().take(limit).copied().collect();
        same("the checkpoints", found, expected)?;
    }
    Ok(())
}

async fn before_is_strict(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let bounds = ids.iter().copied().chain([log.next_id()]);
    for before in bounds {
        let options = ListOptions::new().before(before);
        let found = saver.list(&log.key, options).await?;
        let older = ids.iter().rev().filter(|id| **id < before);
        same("the older ones", found, older.copied().collect())?;
    }
    Ok(())
}

/// A thread with something to filter.
async fn marked(log: &mut Log) -> Result<Vec<CheckpointId>, Problem> {
    let marks = [
        (Source::Input, -1, json!({"user": "ada", "n": 1})),
        (Source::Loop, 0, json!({"user": "ada", "n": 2})),
        (
            Source::Loop,
            1,
            json!({"user": "bob", "n": 1, "tags": ["x", {"y": null}]}),
        ),
        (Source::Update, 2, json!({"user": "bob", "n": 1.0})),
        (Source::Fork, 3, json!({"user": "", "n": "1"})),
        (
            Source::Loop,
            4,
            json!({"user": null, "a.b": true, "quo\"te'": "%"}),
        ),
        (Source::Loop, 5, json!({})),
    ];
    let mut ids = Vec::new();
    for (source, step, metadata) in marks {
        let id = log.step(|record| {
            record.source = source;
            record.step = step;
            if let Value::Object(metadata) = metadata {
                Arc::make_mut(&mut record.metadata).extend(metadata);
            }
        });
        ids.push(id.await?);
    }
    Ok(ids)
}

/// Returns the indices of the listed checkpoints in the thread above, oldest first.
async fn places(
    log: &Log,
    ids: &[CheckpointId],
    options: ListOptions,
) -> Result<Vec<usize>, Problem> {
    let found = log.saver.list(&log.key, options).await?;
    let places = ids.iter().enumerate();
    let listed = places.filter(|(_, id)| found.contains(id));
    let listed: Vec<_> = listed.map(|(place, _)| place).collect();
    same("how many are listed", found.len(), listed.len())?;
    Ok(listed)
}

async fn sources_and_steps_are_filtered(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = marked(&mut log).await?;
    let sources = [
        (Source::Input, vec![0]),
        (Source::Loop, vec![1, 2, 5, 6]),
        (Source::Update, vec![3]),
        (Source::Fork, vec![4]),
    ];
    for (source, expected) in sources {
        let options = ListOptions::new().source(source);
        same("by source", places(&log, &ids, options).await?, expected)?;
    }
    for (steps, expected) in [
        (-1..=-1, vec![0]),
        (1..=3, vec![2, 3, 4]),
        (6..=9, vec![]),
        (i64::MIN..=i64::MAX, (0..7).collect()),
    ] {
        let options = ListOptions::new().steps(steps);
        same("by steps", places(&log, &ids, options).await?, expected)?;
    }
    Ok(())
}

fn metadata(value: Value) -> BTreeMap<String, Value> {
    match value {
        Value::Object(map) => map.into_iter().collect(),
        _ => BTreeMap::new(),
    }
}

async fn metadata_is_filtered_by_every_key(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = marked(&mut log).await?;
    for (wanted, expected) in [
        (json!({"user": "ada"}), vec![0, 1]),
        (json!({"user": "ada", "n": 1}), vec![0]),
        (json!({"user": "ada", "n": 3}), vec![]),
        (json!({"n": 1}), vec![0, 2]),
        (json!({"n": "1"}), vec![4]),
        (json!({"user": ""}), vec![4]),
        (json!({"user": null}), vec![5]),
        (json!({"a.b": true}), vec![5]),
        (json!({"quo\"te'": "%"}), vec![5]),
        (json!({"tags": ["x", {"y": null}]}), vec![2]),
        (json!({"tags": ["x"]}), vec![]),
        (json!({"unknown": 1}), vec![]),
        (json!({}), (0..7).collect()),
    ] {
        let mut options = ListOptions::new();
        options.metadata = metadata(wanted.clone());
        let found = places(&log, &ids, options).await?;
        same(&format!("by {wanted}"), found, expected)?;
    }
    Ok(())
}

async fn filters_work_together(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = marked(&mut log).await?;
    let options = ListOptions::new().before(ids[6]).limit(2).steps(0..=4);
    let mut options = options.source(Source::Loop);
    same(
        "all but metadata",
        places(&log, &ids, options.clone()).await?,
        vec![2, 5],
    )?;
    options.limit = Some(1);
    options.metadata = metadata(json!({"n": 1}));
    options.source = None;
    // The limit counts the matches, not the checkpoints visited.
    same("all", places(&log, &ids, options).await?, vec![2])
}

async fn branches_are_listed_by_age(savers: &Savers<'_>) -> Result<(), Problem> {
    use langgraph::checkpoint::Base;
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let mut ids = log.grow(2).await?;
    for base in [0, 1, 0] {
        let base = Base {
            id: ids[base],
            with_tasks: false,
        };
        let id = log.step(|record| {
            record.parent = Some(base.id);
            record.base = Some(base);
        });
        ids.push(id.await?);
    }
    ids.reverse();
    let found = saver.list(&log.key, ListOptions::default()).await?;
    same("the checkpoints", found, ids)
}
