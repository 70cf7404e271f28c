//! Writing batches.

use std::sync::Arc;

use serde_json::json;

use super::log::{Log, checkpoint, ended, entry, finished, payload, state, text};
use super::{Savers, administration};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{
    Base, Batch, CheckpointId, FollowedRecord, Head, JoinRecord, Source, Stored, TaskArgument,
    TaskOutcome, TaskRecord, TaskSpec,
};
use langgraph::interrupt::{Answer, Interrupts};

crate::case::cases! {
    Savers:
    the_first_batch_makes_a_log,
    an_empty_batch_makes_no_log,
    everything_of_a_checkpoint_comes_back,
    everything_of_a_task_comes_back,
    everything_of_an_entry_comes_back,
    tasks_are_merged_in_the_order_of_an_entry,
    records_keep_their_order,
    records_are_added_to_older_checkpoints,
    several_checkpoints_of_one_batch_are_stored,
    a_batch_without_a_checkpoint_keeps_the_head,
    formats_and_versions_come_back,
    a_payload_of_a_megabyte_comes_back,
}

async fn the_first_batch_makes_a_log(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    same("no head", saver.head(&log.key).await?, None)?;
    let id = log.step(|_| ()).await?;
    let head = saver.head(&log.key).await?;
    same("the head", head, Some(Head::new(id, 1)))?;
    let id = log.step(|_| ()).await?;
    let head = saver.head(&log.key).await?;
    same("the next head", head, Some(Head::new(id, 2)))
}

async fn an_empty_batch_makes_no_log(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.put(Batch::default()).await?;
    same("the head", saver.head(&log.key).await?, None)?;
    holds(
        "nothing is loaded",
        saver.load(&log.key, None).await?.is_none(),
    )?;
    same("logs", administration(&saver)?.logs("t").await?, Vec::new())?;
    log.step(|_| ()).await?;
    log.head_is_known().await
}

/// The record of a join, left by the graph at that path.
fn join(namespace: &[&str]) -> JoinRecord {
    JoinRecord {
        namespace: namespace.iter().map(|node| (*node).into()).collect(),
        sources: vec!["a".into(), "ü \" \\".into()],
        target: "c".into(),
        seen: vec!["a".into()],
    }
}

async fn everything_of_a_checkpoint_comes_back(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let first = log.step(|_| ()).await?;
    let id = log.next_id();
    let mut record = checkpoint(id, Some(first));
    record.base = Some(Base {
        id: first,
        with_tasks: false,
    });
    record.step = 12;
    record.source = Source::Fork;
    record.tasks = vec![
        TaskSpec::new("a".into(), None),
        TaskSpec::new("b".into(), Some(TaskArgument::Item(payload(&json!([1]))))),
        TaskSpec::new("b".into(), Some(TaskArgument::Item(payload(&json!([2]))))),
        TaskSpec::new("c".into(), Some(TaskArgument::State(payload(&json!({}))))),
    ]
    .into();
    record.joins = vec![join(&[]), join(&["graph", "in a/graph"])];
    record.deferred = vec!["last".into()];
    record.followed = vec![FollowedRecord {
        from: "b".into(),
        to: "ü \" \\".into(),
        times: u32::MAX,
    }];
    record.since_snapshot = 3;
    record.log_bytes = 5_000_000_000;
    record.measure_at = 4_096;
    record.ran = vec!["before".into()];
    record.joined = vec!["c".into()];
    record.graph = u64::MAX;
    record.call = Some("1:2".into());
    record.pauses = true;
    Arc::make_mut(&mut record.metadata).insert("user".into(), json!({"id": [1, 2.5, null]}));
    let mut expected = vec![Stored {
        checkpoint: checkpoint(first, None),
        tasks: Vec::new(),
        entries: Vec::new(),
    }];
    expected.push(Stored {
        checkpoint: record.clone(),
        tasks: Vec::new(),
        entries: Vec::new(),
    });
    let batch = Batch {
        checkpoints: vec![record],
        ..Batch::default()
    };
    log.put(batch).await?;
    same("the chain", log.chain(None).await?, text(expected)?)
}

async fn everything_of_a_task_comes_back(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    let question = json!({"key": "sure", "payload": {"ask": "sure?"}});
    let inner = json!({
        "id": "id", "key": "sure", "node": "in", "namespace": ["out"], "payload": {"ask": "sure?"},
    });
    let interrupts = json!({"own": question, "inner": [inner], "again": true});
    let interrupts: Interrupts =
        serde_json::from_value(interrupts).map_err(|error| Problem::Wrong(error.to_string()))?;
    let answer = Answer {
        key: "sure".into(),
        value: json!(null),
    };
    let once = json!([{"key": "paid", "arguments": 7, "value": "{\"id\": 1}"}]);
    let once = serde_json::from_value(once).map_err(|error| Problem::Wrong(error.to_string()))?;
    let failed = TaskOutcome::Failed("no: \"quotes\" \u{0} 🦀".into());
    let tasks = vec![
        finished(id, 0, &json!("done")),
        ended(id, 1, TaskOutcome::Interrupted(interrupts)),
        ended(id, 2, failed),
        ended(id, 3, TaskOutcome::Ran(payload(&json!("ran")))),
        TaskRecord {
            checkpoint: id,
            task: 1,
            outcome: None,
            answers: vec![answer],
            once,
            joins: vec![join(&["graph"])],
        },
    ];
    let expected = Stored {
        checkpoint: checkpoint(id, None),
        tasks: tasks.clone(),
        entries: Vec::new(),
    };
    log.put(Batch {
        tasks,
        ..Batch::default()
    })
    .await?;
    same("the chain", log.chain(None).await?, text(vec![expected])?)
}

async fn everything_of_an_entry_comes_back(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    let mut written = entry(id, &json!([{"update": {"a": 1}}]));
    written.tasks = vec![
        TaskSpec::new("a".into(), None),
        TaskSpec::new("b".into(), Some(TaskArgument::State(payload(&json!(1))))),
        TaskSpec::new("c".into(), Some(TaskArgument::Item(payload(&json!(2))))),
    ];
    written.order = vec![1, 0, 3, 2];
    let entries = vec![written, entry(id, &json!("second"))];
    let expected = Stored {
        checkpoint: checkpoint(id, None),
        tasks: Vec::new(),
        entries: entries.clone(),
    };
    log.put(Batch {
        entries,
        ..Batch::default()
    })
    .await?;
    same("the chain", log.chain(None).await?, text(vec![expected])?)
}

async fn tasks_are_merged_in_the_order_of_an_entry(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    let mut added = entry(id, &json!("goto"));
    added.tasks = vec![TaskSpec::new("first".into(), None)];
    added.order = vec![1, 0];
    log.put(Batch {
        entries: vec![added],
        tasks: vec![
            finished(id, 0, &json!("work")),
            finished(id, 1, &json!("first")),
        ],
        ..Batch::default()
    })
    .await?;
    log.step(|next| {
        if let Some(base) = &mut next.base {
            base.with_tasks = true;
        }
    })
    .await?;
    let merged = state(&*saver, &log.key, None).await?;
    let expected = r#"tasks ["first","work"]"#;
    holds("the order", merged.iter().any(|line| line == expected))
}

async fn records_keep_their_order(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    for n in [3, 1, 2] {
        let batch = Batch {
            tasks: vec![finished(id, n, &json!(n)), finished(id, n, &json!([n]))],
            ..Batch::default()
        };
        log.put(batch).await?;
    }
    let expected = [
        json!(3),
        json!([3]),
        json!(1),
        json!([1]),
        json!(2),
        json!([2]),
    ];
    same("the records", log.values(None).await?, expected.to_vec())
}

async fn records_are_added_to_older_checkpoints(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    let [first, second, ..] = ids[..] else {
        return Err(Problem::Wrong("too few checkpoints".to_owned()));
    };
    log.put(Batch {
        tasks: vec![finished(second, 1, &json!("later"))],
        entries: vec![entry(first, &json!("outside"))],
        ..Batch::default()
    })
    .await?;
    let expected = [
        json!(0),
        json!("outside"),
        json!(1),
        json!("later"),
        json!(2),
    ];
    same("with all", log.values(None).await?, expected.to_vec())?;
    let found = log.values(Some(first)).await?;
    same("of the first", found, vec![json!(0), json!("outside")])?;
    let found = log.values(Some(second)).await?;
    same("of the second", found, expected[..4].to_vec())
}

async fn several_checkpoints_of_one_batch_are_stored(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let first = CheckpointId::after(None);
    let second = CheckpointId::after(Some(first));
    let third = CheckpointId::after(Some(second));
    log.put(Batch {
        checkpoints: vec![
            checkpoint(first, None),
            checkpoint(second, Some(first)),
            checkpoint(third, Some(second)),
        ],
        tasks: vec![
            finished(second, 0, &json!(2)),
            finished(first, 0, &json!(1)),
        ],
        entries: vec![entry(third, &json!(3))],
        ..Batch::default()
    })
    .await?;
    same("the version", log.head, Some(Head::new(third, 1)))?;
    log.head_is_known().await?;
    same(
        "the chain",
        log.links(None).await?,
        vec![first, second, third],
    )?;
    let expected = vec![json!(1), json!(2), json!(3)];
    same("the records", log.values(None).await?, expected)
}

async fn a_batch_without_a_checkpoint_keeps_the_head(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    log.put(Batch {
        tasks: vec![finished(id, 0, &json!(1))],
        ..Batch::default()
    })
    .await?;
    let head = saver.head(&log.key).await?;
    same("the head", head, Some(Head::new(id, 2)))
}

async fn formats_and_versions_come_back(savers: &Savers<'_>) -> Result<(), Problem> {
    use langgraph::checkpoint::{Encoded, EntryRecord, Payload};
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let id = log.step(|_| ()).await?;
    let written = [
        Encoded::new("json", 0, b"1".to_vec()),
        Encoded::new("zstd+msgpack", u32::MAX, vec![0, 255, 128, 10, 0]),
        Encoded::new("json", 7, Vec::new()),
    ];
    let entries = written.iter().map(|encoded| EntryRecord {
        checkpoint: id,
        writes: Payload::from(encoded.clone()),
        tasks: Vec::new(),
        order: Vec::new(),
    });
    let entries = entries.collect();
    log.put(Batch {
        entries,
        ..Batch::default()
    })
    .await?;
    let chain = saver.load(&log.key, None).await?;
    let stored = chain.and_then(|mut chain| chain.records.pop());
    let found = stored.into_iter().flat_map(|stored| stored.entries);
    let found = found.map(|entry| match entry.writes {
        Payload::Bytes(encoded) => Some(encoded),
        _ => None,
    });
    same(
        "the payloads",
        found.collect::<Vec<_>>(),
        written.map(Some).to_vec(),
    )
}

async fn a_payload_of_a_megabyte_comes_back(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let text: String = (0..1 << 20_u32)
        .map(|n: u32| char::from(b'a' + u8::try_from(n * 7 % 26).unwrap_or(0)))
        .collect();
    let id = log
        .step(|first| first.snapshot = Some(payload(&json!([text]))))
        .await?;
    let batch = Batch {
        tasks: vec![finished(id, 0, &json!(text))],
        ..Batch::default()
    };
    log.put(batch).await?;
    holds("the record", log.values(None).await? == [json!(text)])?;
    let chain = saver.load(&log.key, None).await?;
    let snapshot = chain.and_then(|chain| chain.records.into_iter().next()?.checkpoint.snapshot);
    let snapshot = snapshot.ok_or_else(|| Problem::Wrong("no snapshot".to_owned()))?;
    holds(
        "the snapshot",
        super::log::value(snapshot)? == json!([text]),
    )
}
