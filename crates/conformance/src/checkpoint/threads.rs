//! Operations on whole threads: listing, usage, deletion.

use std::time::{Duration, SystemTime};

use serde_json::json;

use super::log::{Log, checkpoint, entry, finished, payload, subgraph_key, thread_names};
use super::{Savers, administration};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{Batch, RunStatus, StorageUsage, ThreadFilter, ThreadKey};

crate::case::cases! {
    Savers:
    threads_are_those_with_a_root_log,
    threads_are_listed_by_name_and_in_pages,
    a_thread_has_the_status_of_its_last_batch,
    threads_are_filtered_by_status,
    threads_are_filtered_by_age,
    filters_of_threads_work_together,
    logs_are_all_logs_of_a_thread,
    usage_counts_what_is_stored,
}

async fn threads_are_those_with_a_root_log(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    same(
        "at first",
        thread_names(&log, ThreadFilter::default()).await?,
        Vec::new(),
    )?;
    Log::at(&saver, subgraph_key("other", &["a"]))
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

async fn threads_are_listed_by_name_and_in_pages(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for n in [7, 3, 9, 1, 5, 0, 8, 2, 6, 4] {
        let mut log = Log::root(&saver, &format!("t{n}"));
        log.step(|_| ()).await?;
    }
    let log = Log::root(&saver, "");
    let mut filter = ThreadFilter::new().limit(4);
    let mut pages = Vec::new();
    loop {
        let page = thread_names(&log, filter.clone()).await?;
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
        thread_names(&log, filter.clone()).await?,
        vec!["t9".to_owned()],
    )?;
    filter.after = None;
    filter.limit = Some(0);
    same("none at all", thread_names(&log, filter).await?, Vec::new())
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

async fn a_thread_has_the_status_of_its_last_batch(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
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
async fn some_running(savers: &Savers<'_>) -> Result<Log, Problem> {
    let saver = savers.open().await?;
    let keys = [
        (ThreadKey::root("a"), RunStatus::Done),
        (ThreadKey::root("b"), RunStatus::Running),
        (ThreadKey::root("c"), RunStatus::Failed),
        (subgraph_key("c", &["node"]), RunStatus::Running),
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

async fn threads_are_filtered_by_status(savers: &Savers<'_>) -> Result<(), Problem> {
    let log = some_running(savers).await?;
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
            thread_names(&log, filter).await?,
            expected.into_iter().map(str::to_owned).collect(),
        )?;
    }
    Ok(())
}

async fn threads_are_filtered_by_age(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
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
    // By the saver's clock: a server may have another one.
    same(
        "since the last write",
        thread_names(&old, since(newest)).await?,
        vec!["old".to_owned()],
    )?;
    let later = newest.map(|newest| newest + Duration::from_millis(1));
    let both = vec!["new".to_owned(), "old".to_owned()];
    same("since then", thread_names(&old, since(later)).await?, both)?;
    let earlier = newest.map(|newest| newest - Duration::from_secs(60));
    same(
        "long since",
        thread_names(&old, since(earlier)).await?,
        Vec::new(),
    )?;
    tokio::time::sleep(Duration::from_millis(20)).await;
    old.put(Batch::default()).await?;
    same(
        "a write makes it new",
        thread_names(&old, since(later)).await?,
        vec!["new".to_owned()],
    )
}

async fn filters_of_threads_work_together(savers: &Savers<'_>) -> Result<(), Problem> {
    let log = some_running(savers).await?;
    let later = SystemTime::now() + Duration::from_secs(600);
    let filter = ThreadFilter::new()
        .status(RunStatus::Running)
        .idle_since(later);
    let mut filter = filter.after("a").limit(1);
    same(
        "the first",
        thread_names(&log, filter.clone()).await?,
        vec!["b".to_owned()],
    )?;
    filter.after = Some("b".into());
    same(
        "the next",
        thread_names(&log, filter.clone()).await?,
        vec!["d".to_owned()],
    )?;
    filter.idle_since = Some(SystemTime::UNIX_EPOCH);
    same("none", thread_names(&log, filter).await?, Vec::new())
}

async fn logs_are_all_logs_of_a_thread(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut keys = vec![
        ThreadKey::root("t"),
        subgraph_key("t", &["a"]),
        subgraph_key("t", &["a", "b"]),
        subgraph_key("t", &["c"]),
    ];
    for key in &keys {
        Log::at(&saver, key.clone()).step(|_| ()).await?;
    }
    Log::at(&saver, subgraph_key("other", &["a"]))
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

async fn usage_counts_what_is_stored(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    same(
        "at first",
        administration(&saver)?.usage("t").await?,
        StorageUsage::default(),
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
    Log::at(&saver, subgraph_key("t", &["a"])).grow(1).await?;
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
        StorageUsage::default(),
    )
}
