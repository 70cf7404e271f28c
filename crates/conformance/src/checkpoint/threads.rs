//! Operations on whole threads: listing, usage, deletion.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::log::{Log, checkpoint, entry, finished, payload};
use super::{Problem, World, administration, holds, refused, same};
use langgraph::checkpoint::{Batch, Head, RunStatus, ThreadFilter, ThreadKey, Usage};
use langgraph::error::CheckpointError;

super::cases! {
    threads_are_those_with_a_root_log,
    threads_are_listed_by_name_and_in_pages,
    a_thread_has_the_status_of_its_last_batch,
    threads_are_filtered_by_status,
    threads_are_filtered_by_age,
    filters_of_threads_work_together,
    logs_are_all_logs_of_a_thread,
    usage_counts_what_is_stored,
    a_deleted_log_leaves_the_others,
    a_deleted_thread_leaves_the_others,
    a_deleted_thread_can_begin_again,
    what_is_not_there_can_be_deleted,
    a_writer_notices_that_its_thread_is_gone,
    a_thread_that_was_written_to_is_not_deleted,
    deletion_beside_a_write_deletes_nothing_acknowledged,
}

fn inside(thread: &str, labels: &[&str]) -> ThreadKey {
    ThreadKey {
        thread: thread.into(),
        namespace: labels.iter().map(|label| (*label).to_owned()).collect(),
    }
}

async fn names(world: &Log, filter: ThreadFilter) -> Result<Vec<String>, Problem> {
    let threads = administration(&world.saver)?.threads(filter).await?;
    Ok(threads.into_iter().map(|info| info.thread).collect())
}

async fn threads_are_those_with_a_root_log(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut log = Log::root(&saver, "t");
    same(
        "at first",
        names(&log, ThreadFilter::default()).await?,
        Vec::new(),
    )?;
    Log::at(&saver, inside("other", &["a"]))
        .step(|_| ())
        .await?;
    let before = SystemTime::now();
    log.grow(2).await?;
    let found = administration(&saver)?
        .threads(ThreadFilter::default())
        .await?;
    let [info] = &found[..] else {
        return Err(Problem::Wrong(format!("threads: {found:?}, expected one")));
    };
    same("its name", info.thread.as_str(), "t")?;
    same("its head", Some(info.head), log.head)?;
    same("how it stands", info.status, RunStatus::Done)?;
    // Clocks of servers may be a little off.
    let slack = Duration::from_secs(120);
    let now = SystemTime::now();
    holds(
        "it has just been written",
        info.updated_at + slack >= before && info.updated_at <= now + slack,
    )
}

async fn threads_are_listed_by_name_and_in_pages(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    for n in [7, 3, 9, 1, 5, 0, 8, 2, 6, 4] {
        let mut log = Log::root(&saver, &format!("t{n}"));
        log.step(|_| ()).await?;
    }
    let log = Log::root(&saver, "");
    let mut filter = ThreadFilter::new().limit(4);
    let mut pages = Vec::new();
    loop {
        let page = names(&log, filter.clone()).await?;
        filter.after = page.last().cloned();
        pages.push(page.len());
        let expected = (0..10).map(|n| format!("t{n}"));
        let expected = expected.skip(pages[..pages.len() - 1].iter().sum()).take(4);
        same("a page", page, expected.collect())?;
        if pages.last() == Some(&0) {
            break;
        }
    }
    same("the pages", pages, vec![4, 4, 2, 0])?;
    filter.after = Some("t85".into());
    filter.limit = None;
    same(
        "behind no thread",
        names(&log, filter.clone()).await?,
        vec!["t9".to_owned()],
    )?;
    filter.after = None;
    filter.limit = Some(0);
    same("none at all", names(&log, filter).await?, Vec::new())
}

async fn status(log: &Log) -> Result<Option<RunStatus>, Problem> {
    let threads = administration(&log.saver)?
        .threads(ThreadFilter::default())
        .await?;
    let info = threads
        .into_iter()
        .find(|info| info.thread == log.key.thread);
    Ok(info.map(|info| info.status))
}

async fn a_thread_has_the_status_of_its_last_batch(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut log = Log::root(&saver, "t");
    for status in RunStatus::ALL {
        let id = log.next_id();
        log.put(Batch {
            checkpoints: vec![checkpoint(id, log.head.map(|head| head.id))],
            status,
            ..Batch::default()
        })
        .await?;
        same("with a checkpoint", self::status(&log).await?, Some(status))?;
        for status in RunStatus::ALL {
            log.put(Batch {
                status,
                ..Batch::default()
            })
            .await?;
            same(
                "with an empty batch",
                self::status(&log).await?,
                Some(status),
            )?;
        }
    }
    Ok(())
}

/// Threads `a` to `d`: `b` and `d` are running, `c` failed, and `c` has a running subgraph log.
async fn some_running(world: &World<'_>) -> Result<Log, Problem> {
    let saver = world.saver().await?;
    let keys = [
        (ThreadKey::root("a"), RunStatus::Done),
        (ThreadKey::root("b"), RunStatus::Running),
        (ThreadKey::root("c"), RunStatus::Failed),
        (inside("c", &["node"]), RunStatus::Running),
        (ThreadKey::root("d"), RunStatus::Running),
    ];
    for (key, status) in keys {
        let mut log = Log::at(&saver, key);
        let id = log.next_id();
        log.put(Batch {
            checkpoints: vec![checkpoint(id, None)],
            status,
            ..Batch::default()
        })
        .await?;
    }
    Ok(Log::root(&saver, ""))
}

async fn threads_are_filtered_by_status(world: &World<'_>) -> Result<(), Problem> {
    let log = some_running(world).await?;
    for (statuses, expected) in [
        (vec![RunStatus::Running], vec!["b", "d"]),
        (vec![RunStatus::Failed, RunStatus::Done], vec!["a", "c"]),
        (vec![RunStatus::Cancelled], vec![]),
        (vec![], vec!["a", "b", "c", "d"]),
    ] {
        let mut filter = ThreadFilter::new();
        filter.statuses = statuses;
        same(
            "the threads",
            names(&log, filter).await?,
            expected.into_iter().map(str::to_owned).collect(),
        )?;
    }
    Ok(())
}

async fn threads_are_filtered_by_age(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut old = Log::root(&saver, "old");
    old.step(|_| ()).await?;
    tokio::time::sleep(Duration::from_millis(20)).await;
    let mut new = Log::root(&saver, "new");
    new.step(|_| ()).await?;
    let threads = administration(&saver)?
        .threads(ThreadFilter::default())
        .await?;
    let newest = threads.iter().map(|info| info.updated_at).max();
    let since = |idle_since| {
        let mut filter = ThreadFilter::new();
        filter.idle_since = idle_since;
        filter
    };
    // The saver tells the time: a server may have another clock.
    same(
        "since the last write",
        names(&old, since(newest)).await?,
        vec!["old".to_owned()],
    )?;
    let later = newest.map(|newest| newest + Duration::from_millis(1));
    let both = vec!["new".to_owned(), "old".to_owned()];
    same("since then", names(&old, since(later)).await?, both)?;
    let earlier = newest.map(|newest| newest - Duration::from_secs(60));
    same("long since", names(&old, since(earlier)).await?, Vec::new())?;
    tokio::time::sleep(Duration::from_millis(20)).await;
    old.put(Batch::default()).await?;
    same(
        "a write makes it new",
        names(&old, since(later)).await?,
        vec!["new".to_owned()],
    )
}

async fn filters_of_threads_work_together(world: &World<'_>) -> Result<(), Problem> {
    let log = some_running(world).await?;
    let later = SystemTime::now() + Duration::from_secs(600);
    let filter = ThreadFilter::new()
        .status(RunStatus::Running)
        .idle_since(later);
    let mut filter = filter.after("a").limit(1);
    same(
        "the first",
        names(&log, filter.clone()).await?,
        vec!["b".to_owned()],
    )?;
    filter.after = Some("b".into());
    same(
        "the next",
        names(&log, filter.clone()).await?,
        vec!["d".to_owned()],
    )?;
    filter.idle_since = Some(SystemTime::UNIX_EPOCH);
    same("none", names(&log, filter).await?, Vec::new())
}

async fn logs_are_all_logs_of_a_thread(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut keys = vec![
        ThreadKey::root("t"),
        inside("t", &["a"]),
        inside("t", &["a", "b"]),
        inside("t", &["c"]),
    ];
    for key in &keys {
        Log::at(&saver, key.clone()).step(|_| ()).await?;
    }
    Log::at(&saver, inside("other", &["a"]))
        .step(|_| ())
        .await?;
    let mut found = administration(&saver)?.logs("t").await?;
    found.sort();
    same("the logs", found, keys.clone())?;
    administration(&saver)?.delete_log(&keys.remove(0)).await?;
    let mut found = administration(&saver)?.logs("t").await?;
    found.sort();
    same("without the root's", found, keys)?;
    same(
        "of no thread",
        administration(&saver)?.logs("unknown").await?,
        Vec::new(),
    )
}

async fn usage_counts_what_is_stored(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut log = Log::root(&saver, "t");
    same(
        "at first",
        administration(&saver)?.usage("t").await?,
        Usage::default(),
    )?;
    log.grow(3).await?;
    let small = administration(&saver)?.usage("t").await?;
    same("logs", small.logs, 1)?;
    same("checkpoints", small.checkpoints, 4)?;
    same("records", small.records, 3)?;
    let newest = log.newest()?;
    let big = "x".repeat(10_000);
    log.put(Batch {
        tasks: vec![finished(newest, 0, &json!(big))],
        entries: vec![entry(newest, &json!(big))],
        ..Batch::default()
    })
    .await?;
    log.step(|record| record.snapshot = Some(payload(&json!(big))))
        .await?;
    Log::at(&saver, inside("t", &["a"])).grow(1).await?;
    let large = administration(&saver)?.usage("t").await?;
    same("all logs", large.logs, 2)?;
    same("all checkpoints", large.checkpoints, 7)?;
    same("all records", large.records, 6)?;
    // Savers of values do not count bytes.
    if saver.formats().is_some() {
        let more = large.bytes - small.bytes;
        holds("the bytes of a thread", (1..4_000).contains(&small.bytes))?;
        holds(
            "the bytes that were added",
            (30_000..34_000).contains(&more),
        )?;
    } else {
        same("bytes", large.bytes, 0)?;
    }
    same(
        "of another",
        administration(&saver)?.usage("u").await?,
        Usage::default(),
    )
}

/// Two threads with two logs each.
async fn two_threads(world: &World<'_>) -> Result<[Log; 4], Problem> {
    let saver = world.saver().await?;
    let mut logs = [
        Log::root(&saver, "t"),
        Log::at(&saver, inside("t", &["a"])),
        Log::root(&saver, "u"),
        Log::at(&saver, inside("u", &["a"])),
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

async fn a_deleted_log_leaves_the_others(world: &World<'_>) -> Result<(), Problem> {
    let logs = two_threads(world).await?;
    let saver = &logs[0].saver;
    administration(saver)?.delete_log(&logs[1].key).await?;
    left(&logs, &[true, false, true, true]).await?;
    administration(saver)?.delete_log(&logs[2].key).await?;
    left(&logs, &[true, false, false, true]).await?;
    same("logs", administration(saver)?.usage("t").await?.logs, 1)?;
    let threads = names(&logs[0], ThreadFilter::default()).await?;
    same("the threads", threads, vec!["t".to_owned()])
}

async fn a_deleted_thread_leaves_the_others(world: &World<'_>) -> Result<(), Problem> {
    let logs = two_threads(world).await?;
    let saver = &logs[0].saver;
    administration(saver)?.delete_thread("t").await?;
    left(&logs, &[false, false, true, true]).await?;
    same(
        "what it takes",
        administration(saver)?.usage("t").await?,
        Usage::default(),
    )?;
    same(
        "its logs",
        administration(saver)?.logs("t").await?,
        Vec::new(),
    )?;
    let threads = names(&logs[0], ThreadFilter::default()).await?;
    same("the threads", threads, vec!["u".to_owned()])
}

async fn a_deleted_thread_can_begin_again(world: &World<'_>) -> Result<(), Problem> {
    let mut logs = two_threads(world).await?;
    let saver = std::sync::Arc::clone(&logs[0].saver);
    administration(&saver)?.delete_thread("t").await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(1).await?;
    same("the chain", log.links(None).await?, ids)?;
    same("the version", log.head.map(|head| head.version), Some(2))?;
    log.head_is_known().await?;
    same("the log inside", logs[1].links(None).await?, Vec::new())?;
    let [.., other, _] = &mut logs;
    other.step(|_| ()).await?;
    other.head_is_known().await
}

async fn what_is_not_there_can_be_deleted(world: &World<'_>) -> Result<(), Problem> {
    let logs = two_threads(world).await?;
    let saver = &logs[0].saver;
    administration(saver)?.delete_thread("unknown").await?;
    administration(saver)?
        .delete_log(&ThreadKey::root("unknown"))
        .await?;
    administration(saver)?
        .delete_log(&inside("t", &["unknown"]))
        .await?;
    administration(saver)?
        .delete_log(&inside("t", &["a", "b"]))
        .await?;
    left(&logs, &[true; 4]).await
}

async fn a_writer_notices_that_its_thread_is_gone(world: &World<'_>) -> Result<(), Problem> {
    let mut logs = two_threads(world).await?;
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

async fn a_thread_that_was_written_to_is_not_deleted(world: &World<'_>) -> Result<(), Problem> {
    let mut logs = two_threads(world).await?;
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
    world: &World<'_>,
) -> Result<(), Problem> {
    let saver = world.saver().await?;
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
