//! Threads that wait for a time, and how they are found.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::log::{Log, checkpoint};
use super::{Savers, administration};
use crate::case::{Problem, same};
use langgraph::checkpoint::{
    Batch, Checkpointer, Head, Owner, RunStatus, StateType, ThreadFilter, ThreadKey,
};

crate::case::cases! {
    Savers:
    threads_are_found_by_time,
    a_batch_says_when_its_thread_is_woken,
    the_time_of_a_thread_is_set_at_its_head,
    the_time_of_a_thread_is_copied_and_deleted_with_it,
    threads_are_found_by_name_and_by_graph,
}

fn second(second: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(second)
}

/// A thread that waits until then.
async fn waits(
    saver: &Arc<dyn Checkpointer>,
    thread: &str,
    wake_at: Option<SystemTime>,
) -> Result<Log, Problem> {
    let mut log = Log::root(saver, thread);
    log.grow(1).await?;
    log.put(Batch {
        status: RunStatus::Interrupted,
        wake_at,
        ..Batch::default()
    })
    .await?;
    Ok(log)
}

async fn due(saver: &Arc<dyn Checkpointer>, time: SystemTime) -> Result<Vec<String>, Problem> {
    let filter = ThreadFilter::new().due_at(time);
    let found = administration(saver)?.threads(filter).await?;
    Ok(found.into_iter().map(|info| info.thread).collect())
}

async fn threads_are_found_by_time(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for (thread, wake_at) in [("late", 30), ("early", 10), ("both", 20), ("also", 20)] {
        waits(&saver, thread, Some(second(wake_at))).await?;
    }
    waits(&saver, "never", None).await?;
    same("nothing", due(&saver, second(9)).await?, Vec::new())?;
    same(
        "one",
        due(&saver, second(10)).await?,
        vec!["early".to_owned()],
    )?;
    let by_name = ["also", "both", "early"].map(str::to_owned).to_vec();
    same("by name", due(&saver, second(29)).await?, by_name)?;
    same("all", due(&saver, second(3_000)).await?.len(), 4)?;
    // With the other conditions of the filter, in pages.
    let filter = ThreadFilter::new()
        .status(RunStatus::Interrupted)
        .due_at(second(29))
        .after("also")
        .limit(1);
    let found = administration(&saver)?.threads(filter).await?;
    let found: Vec<_> = found
        .iter()
        .map(|info| (&*info.thread, info.wake_at))
        .collect();
    same("a page", found, vec![("both", Some(second(20)))])
}

async fn a_batch_says_when_its_thread_is_woken(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = waits(&saver, "t", Some(second(10))).await?;
    log.put(Batch {
        status: RunStatus::Interrupted,
        wake_at: Some(second(20)),
        ..Batch::default()
    })
    .await?;
    same("later", due(&saver, second(10)).await?, Vec::new())?;
    same("then", due(&saver, second(20)).await?.len(), 1)?;
    log.step(|_| ()).await?;
    same("no more", due(&saver, second(3_000)).await?, Vec::new())?;
    // A time in the log of a subgraph, or in a batch that is refused, counts for nothing.
    let below = ThreadKey {
        thread: "t".to_owned(),
        namespace: vec!["inner".to_owned()],
    };
    Log::at(&saver, below).step(|_| ()).await?;
    let refused = Batch {
        head: Some(Head::new(log.newest()?, 99)),
        wake_at: Some(second(1)),
        ..Batch::default()
    };
    let _ = saver.put(&log.key, refused).await;
    same("still none", due(&saver, second(3_000)).await?, Vec::new())
}

async fn the_time_of_a_thread_is_set_at_its_head(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let log = waits(&saver, "t", Some(second(10))).await?;
    let administration = administration(&saver)?;
    let head = log.head.ok_or(Problem::Missing)?;
    let old = Head::new(head.id, head.version - 1);
    let set = |head, at| administration.set_wake_at("t", head, at);
    set(old, Some(second(1))).await?;
    same(
        "the head moved on",
        due(&saver, second(9)).await?,
        Vec::new(),
    )?;
    set(head, Some(second(5))).await?;
    same("earlier", due(&saver, second(9)).await?.len(), 1)?;
    set(head, None).await?;
    same("never", due(&saver, second(3_000)).await?, Vec::new())?;
    same("nothing else", saver.head(&log.key).await?, Some(head))?;
    administration
        .set_wake_at("unknown", head, Some(second(1)))
        .await?;
    same("no thread", due(&saver, second(3_000)).await?, Vec::new())
}

async fn the_time_of_a_thread_is_copied_and_deleted_with_it(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    waits(&saver, "t", Some(second(10))).await?;
    let administration = administration(&saver)?;
    administration.copy_thread("t", "u").await?;
    same("both", due(&saver, second(10)).await?.len(), 2)?;
    administration.delete_thread("t").await?;
    same(
        "the copy",
        due(&saver, second(10)).await?,
        vec!["u".to_owned()],
    )?;
    administration.delete_log(&ThreadKey::root("u")).await?;
    same("none", due(&saver, second(10)).await?, Vec::new())?;
    Log::root(&saver, "t").grow(1).await?;
    same("a new thread", due(&saver, second(10)).await?, Vec::new())
}

async fn threads_are_found_by_name_and_by_graph(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for (thread, graph) in [("a", "bank"), ("b", "chat"), ("c", "bank"), ("d", "b%nk")] {
        let mut log = Log::root(&saver, thread);
        let owner = Owner {
            graph: graph.to_owned(),
            state: StateType {
                name: "Diary".to_owned(),
                version: 0,
                fields: Vec::new(),
            },
        };
        log.put(Batch {
            checkpoints: vec![checkpoint(log.next_id(), None)],
            owner: Some(Arc::new(owner)),
            ..Batch::default()
        })
        .await?;
    }
    Log::root(&saver, "unowned").grow(1).await?;
    let names = async |filter: ThreadFilter| -> Result<String, Problem> {
        let found = administration(&saver)?.threads(filter).await?;
        let names: Vec<_> = found.into_iter().map(|info| info.thread).collect();
        Ok(names.join(" "))
    };
    let bank = ThreadFilter::new().graph("bank");
    same("one graph", &*names(bank.clone()).await?, "a c unowned")?;
    same(
        "a page",
        &*names(bank.clone().after("a").limit(1)).await?,
        "c",
    )?;
    same("one thread", &*names(bank.clone().thread("c")).await?, "c")?;
    same("not of it", &*names(bank.thread("b")).await?, "")?;
    same(
        "by name",
        &*names(ThreadFilter::new().thread("b")).await?,
        "b",
    )?;
    same(
        "no such",
        &*names(ThreadFilter::new().thread("B")).await?,
        "",
    )?;
    let odd = ThreadFilter::new().graph("b'\"%nk");
    same("another graph", &*names(odd).await?, "unowned")
}
