//! A thread that cannot be read, among others.

use std::time::Duration;

use serde_json::json;

use super::log::{Log, payload};
use super::owners::{Apples, graph};
use super::{Savers, administration, leases};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{Batch, RunStatus, ThreadFilter, ThreadKey};
use langgraph::thread::Keep;

crate::case::cases! {
    Savers:
    a_thread_that_cannot_be_read_keeps_no_other_from_maintenance,
    a_list_of_damaged_threads_is_empty_without_damage,
}

async fn a_thread_that_cannot_be_read_keeps_no_other_from_maintenance(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    leases(&saver)?;
    administration(&saver)?;
    let apples = graph::<Apples>("apples", &saver)?;
    for thread in ["a", "c"] {
        apples.run(Apples { count: 7 }).thread(thread).await?;
    }
    let mut unreadable = Log::root(&saver, "b");
    let no_apples = |record: &mut langgraph::checkpoint::CheckpointRecord| {
        record.base = None;
        record.snapshot = Some(payload(&json!("no apples")));
    };
    unreadable.step(no_apples).await?;
    for thread in ["a", "b", "c"] {
        let key = ThreadKey::root(thread);
        let vanished = Batch {
            head: saver.head(&key).await?,
            status: RunStatus::Running,
            ..Batch::default()
        };
        saver.put(&key, vanished).await?;
    }
    // Later than what was stored.
    tokio::time::sleep(Duration::from_millis(2)).await;
    let threads = apples.threads();
    let resumed = threads.resume_pending(Duration::ZERO).await?;
    let ends = resumed
        .iter()
        .map(|one| (&*one.thread, one.outcome.is_ok()))
        .collect::<Vec<_>>();
    let expected = vec![("a", true), ("b", false), ("c", true)];
    same("what is resumed", ends, expected)?;
    for one in resumed {
        // A value in memory has no bytes that could be damaged: the type is wrong.
        if let (Err(error), true) = (one.outcome, saver.formats().is_some()) {
            let text = error.to_string();
            holds(&format!("it is named: {text}"), text.contains("`b`"))?;
        }
    }
    for thread in ["a", "c"] {
        threads.thread(thread).prune(Keep::Newest(1)).await?;
    }
    let listed = threads.list(ThreadFilter::new()).await?;
    same("what is listed", listed.len(), 3)?;
    tokio::time::sleep(Duration::from_millis(2)).await;
    let deleted = threads.delete_idle(Duration::ZERO).await?;
    same("what is deleted", deleted.threads, 3)
}

async fn a_list_of_damaged_threads_is_empty_without_damage(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let administration = administration(&saver)?;
    Log::root(&saver, "without an owner").grow(1).await?;
    let apples = graph::<Apples>("apples", &saver)?;
    apples.run(Apples { count: 7 }).thread("t").await?;
    let damaged = ThreadFilter::new().damaged();
    same(
        "all",
        administration.threads(damaged.clone()).await?,
        Vec::new(),
    )?;
    let of_one = damaged.graph("apples");
    same(
        "of a graph",
        administration.threads(of_one).await?,
        Vec::new(),
    )?;
    let all = administration.threads(ThreadFilter::new()).await?;
    let whole = all
        .iter()
        .all(|info| info.damage.is_none() && info.error().is_none());
    holds("the list says so", all.len() == 2 && whole)
}
