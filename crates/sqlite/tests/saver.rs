//! The saver is held to the suite of the library.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Formats};
use langgraph::error::CheckpointError;
use langgraph_codecs::{Encrypted, Key, MessagePack};
use langgraph_conformance::checkpoint;
use langgraph_sqlite::SqliteSaver;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_does_what_a_saver_has_to() {
    let folder = tempfile::tempdir().unwrap();
    let files = std::sync::atomic::AtomicUsize::new(0);
    let report = checkpoint::run(async || {
        let file = files.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let saver = SqliteSaver::open(folder.path().join(format!("{file}.db")))?;
        Ok::<Arc<dyn Checkpointer>, CheckpointError>(Arc::new(saver))
    });
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.is_empty(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_in_memory_does_what_a_saver_has_to() {
    let report = checkpoint::run(async || {
        Ok::<Arc<dyn Checkpointer>, CheckpointError>(Arc::new(SqliteSaver::in_memory()?))
    });
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.is_empty(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_saver_has_to_do_it_does_in_a_secret_binary_format() {
    let report = checkpoint::run(async || {
        let format = Encrypted::new(MessagePack, Key::new("k", &[7; 32]));
        let saver = SqliteSaver::in_memory()?.with_formats(Formats::new(format));
        Ok::<Arc<dyn Checkpointer>, CheckpointError>(Arc::new(saver))
    });
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.is_empty(), "{report}");
}

#[tokio::test]
async fn threads_that_sleep_on_cost_nothing() {
    use langgraph::checkpoint::{Administration, ThreadFilter};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let saver = SqliteSaver::open(&path).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)
        INSERT INTO thread_logs
            (thread, namespace, head, version, status, updated_at, rows, wake_at)
        SELECT 'sleeps ' || n, '[]', zeroblob(16), 1, 2, 0, 0, 1000 FROM n";
    assert_eq!(database.execute(sql, []).unwrap(), 100_000);
    let second = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_micros(999);
    let filter = ThreadFilter::new().graph("any").due_at(second).limit(1_000);
    let mut fastest = std::time::Duration::MAX;
    for _ in 0..20 {
        let since = std::time::Instant::now();
        assert!(saver.threads(filter.clone()).await.unwrap().is_empty());
        fastest = fastest.min(since.elapsed());
    }
    assert!(fastest < std::time::Duration::from_millis(1), "{fastest:?}");
}

#[test]
fn main_prints_why_a_file_does_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let open = || -> Result<(), Box<dyn std::error::Error>> {
        SqliteSaver::open(folder.path())?;
        Ok(())
    };
    let shown = format!("{:?}", open().unwrap_err());
    assert!(shown.starts_with("cannot open the database `"), "{shown}");
}

#[tokio::test]
async fn work_that_runs_once_does_not_begin_when_the_lease_is_lost() {
    use langgraph::checkpoint::Leases;
    use langgraph::prelude::*;
    use std::time::Duration;

    /// Another holder takes the thread, and nothing is recorded that would be refused.
    async fn pay(n: &i64, cx: &Context) -> Result<i64, NodeError> {
        let saver = cx.resource::<SqliteSaver>()?;
        saver.release("t", "one").await?;
        saver.lease("t", "other", Duration::from_secs(60)).await?;
        let begins = async { Err(NodeError::msg("it began")) };
        let paid: i64 = cx.once("pay", begins).await?;
        Ok(n + paid)
    }

    let saver = SqliteSaver::in_memory().unwrap();
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("pay", pay).add_sequence(&["pay"]);
    let graph = graph.compile().unwrap().resource(Arc::new(saver.clone()));
    let held = saver.held_by("one");
    saver
        .lease("t", "one", Duration::from_secs(60))
        .await
        .unwrap();
    held.check_holder("t").await.unwrap();
    let refused = graph
        .checkpointer(Arc::new(held.clone()))
        .thread("t")
        .run(1)
        .await;
    let refused = refused.unwrap_err().to_string();
    let lost = held.check_holder("t").await.unwrap_err().to_string();
    assert!(refused.contains(&lost), "{refused}: {lost}");
    // Only a saver of a holder asks.
    saver.check_holder("t").await.unwrap();
}

#[tokio::test]
async fn a_saver_whose_holder_has_lost_the_thread_removes_nothing() {
    use langgraph::checkpoint::{
        Administration, Leases, ListOptions, Prune, Rewind, RunStatus, ThreadKey,
    };
    use langgraph::prelude::*;
    use std::time::Duration;

    let saver = SqliteSaver::in_memory().unwrap();
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("increment", |n: &i64| n + 1)
        .add_sequence(&["increment"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(saver.clone()));
    graph.thread("t").run(1).await.unwrap();
    let key = ThreadKey::root("t");
    let head = saver.head(&key).await.unwrap().unwrap();
    let list = saver.list(&key, ListOptions::default()).await.unwrap();

    let held = saver.held_by("one");
    let term = Duration::from_secs(60);
    let rewind = |index: usize| Rewind {
        to: list[index],
        tasks: 0,
        entries: 0,
        status: RunStatus::Done,
        wake_at: None,
    };
    let prune = Prune {
        fold: Vec::new(),
        delete: vec![head.id],
    };
    saver.lease("t", "other", term).await.unwrap();
    for refused in [
        held.prune(&key, prune.clone()).await,
        held.rewind(&key, rewind(1)).await.map(drop),
        held.delete_log(&key).await,
        held.delete_thread("t").await,
        held.delete_thread_at("t", head).await,
    ] {
        let is_lost =
            matches!(&refused, Err(CheckpointError::LeaseLost { thread }) if thread == "t");
        assert!(is_lost, "{refused:?}");
    }
    let left = saver.list(&key, ListOptions::default()).await.unwrap();
    assert_eq!(
        (saver.head(&key).await.unwrap(), &left),
        (Some(head), &list)
    );

    saver.release("t", "other").await.unwrap();
    saver.lease("t", "one", term).await.unwrap();
    held.prune(&key, prune).await.unwrap();
    assert!(held.rewind(&key, rewind(2)).await.unwrap());
    let left = saver.list(&key, ListOptions::default()).await.unwrap();
    assert_eq!(left, list[2..]);
    held.delete_thread("t").await.unwrap();
}
