//! Waking threads: by an index, by version, despite others that cannot be read; events that come early, and
//! one of several.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use langgraph::checkpoint::{Batch, Checkpointer, MemorySaver, RunStatus, ThreadFilter, ThreadKey};
use langgraph::prelude::*;
use langgraph::thread::OnConflict;
use langgraph_tests::ByteSaver;
use langgraph_versions::Versions;
use langgraph_wait::{Event, WaitExt as _, WakeExt as _, due, wake_due};

const HOUR: Duration = Duration::from_secs(3_600);

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + 500_000 * HOUR
}

fn sleeper(time: SystemTime) -> StateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    let sleep = move |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        cx.sleep_until(time)?;
        Ok(n + 1)
    };
    graph.set_name("sleeper");
    graph.add_node("sleep", sleep).add_sequence(&["sleep"]);
    graph
}

/// Returns the fastest of some calls that find nothing due.
async fn fastest(graph: &CompiledStateGraph<i64>) -> Duration {
    let mut fastest = Duration::MAX;
    for _ in 0..20 {
        let since = Instant::now();
        assert!(wake_due(graph, noon()).await.unwrap().is_empty());
        fastest = fastest.min(since.elapsed());
    }
    fastest
}

#[tokio::test]
async fn m5_threads_that_sleep_on_cost_nothing() {
    let saver = Arc::new(MemorySaver::new());
    let graph = sleeper(noon() + HOUR).compile().unwrap();
    let graph = graph.checkpointer(saver.clone());
    graph.run(1).thread("first").await.unwrap();
    let key = ThreadKey::root("first");
    let chain = saver.load(&key, None).await.unwrap().unwrap();
    let mut record = chain.records.last().unwrap().checkpoint.clone();
    record.base = None;
    for thread in 0..100_000 {
        let sleeps = Batch {
            checkpoints: vec![record.clone()],
            status: RunStatus::Interrupted,
            wake_at: Some(noon() + HOUR),
            owner: chain.owner.clone(),
            ..Batch::default()
        };
        let key = ThreadKey::root(format!("sleeps {thread}"));
        saver.put(&key, sleeps).await.unwrap();
    }
    let fastest = fastest(&graph).await;
    assert!(fastest < Duration::from_millis(1), "{fastest:?}");
}

#[tokio::test]
async fn m5_a_thread_that_cannot_be_read_is_named_and_keeps_no_other() {
    let saver = Arc::new(ByteSaver::default());
    let mut other = StateGraph::<String>::new();
    other.set_name("sleeper");
    let sleep = |_: &String, cx: &Context| -> Result<String, NodeError> {
        cx.sleep_until(noon())?;
        Ok(String::new())
    };
    other.add_node("sleep", sleep).add_sequence(&["sleep"]);
    let other = other.compile().unwrap().checkpointer(saver.clone());
    other
        .run(String::new())
        .thread("b: of another type")
        .await
        .unwrap();
    let graph = sleeper(noon())
        .compile()
        .unwrap()
        .checkpointer(saver.clone());
    for thread in ["a", "c"] {
        graph.run(1).thread(thread).await.unwrap();
    }
    let woken = wake_due(&graph, noon()).await.unwrap();
    let names: Vec<_> = woken.iter().map(|woken| &*woken.thread).collect();
    assert_eq!(names, ["a", "b: of another type", "c"]);
    assert_eq!(woken[0].outcome.as_ref().unwrap().state(), &2);
    let error = woken[1].outcome.as_ref().unwrap_err().to_string();
    assert!(error.contains("`b: of another type`"), "{error}");
    assert!(woken[2].outcome.is_ok());
}

#[tokio::test]
async fn m5_each_thread_is_woken_with_its_version() {
    let saver = Arc::new(ByteSaver::default());
    let first = sleeper(noon())
        .compile()
        .unwrap()
        .checkpointer(saver.clone());
    first.run(1).thread("old").await.unwrap();
    let mut second = StateGraph::<i64>::new();
    let nap = |n: &i64, cx: &Context| -> Result<i64, NodeError> {
        cx.sleep_until(noon())?;
        Ok(n + 100)
    };
    second.set_name("sleeper").add_node("nap", nap);
    second.add_sequence(&["nap"]);
    let second = second.compile().unwrap().checkpointer(saver);
    second.run(1).thread("new").await.unwrap();
    let versions = Versions::new().add(first).add(second);
    let woken = wake_due(&versions, noon()).await.unwrap();
    let states = woken
        .iter()
        .map(|woken| *woken.outcome.as_ref().unwrap().state());
    assert_eq!(states.collect::<Vec<_>>(), [101, 2]);
}

fn order(saver: Arc<ByteSaver>) -> CompiledStateGraph<String> {
    let mut graph = StateGraph::<String>::new();
    let wait = |_: &String, cx: &Context| -> Result<String, NodeError> {
        let event = cx.wait_for_one_of::<u32>(&["paid", "cancelled"], noon())?;
        Ok(event.map_or_else(String::new, |Event { name, payload }| {
            format!("{name} {payload}")
        }))
    };
    graph.add_node("wait", wait).add_sequence(&["wait"]);
    graph.compile().unwrap().checkpointer(saver)
}

#[tokio::test]
async fn m5_one_of_several_events_ends_a_wait() {
    let graph = order(Arc::default());
    for event in ["paid", "cancelled"] {
        let thread = graph.thread(event);
        thread.run(String::new()).await.unwrap();
        assert_eq!(
            thread.waits().await.unwrap()[0].events,
            ["paid", "cancelled"]
        );
        assert!(thread.signal("sent", 1).await.is_err());
        let outcome = thread.signal(event, 7).await.unwrap();
        assert_eq!(outcome.finished().unwrap(), format!("{event} 7"));
    }
    let thread = graph.thread("late");
    thread.run(String::new()).await.unwrap();
    let woken = wake_due(&graph, noon()).await.unwrap();
    assert_eq!(woken[0].outcome.as_ref().unwrap().state(), "");
}

#[tokio::test]
async fn m5_an_event_that_comes_early_is_kept_if_asked() {
    let saver = Arc::new(ByteSaver::default());
    let graph = order(saver.clone());
    let thread = graph.thread("t");
    let before = noon() - HOUR;
    for payload in [1, 2] {
        let kept = thread.signal_or_keep("paid", payload).await.unwrap();
        assert!(kept.is_none());
    }
    // Each is given once, in order.
    for payload in [1, 2] {
        thread.run(String::new()).await.unwrap();
        let woken = wake_due(&graph, before).await.unwrap();
        let state = woken[0].outcome.as_ref().unwrap().state();
        assert_eq!(*state, format!("paid {payload}"));
    }
    thread.run(String::new()).await.unwrap();
    assert!(wake_due(&graph, before).await.unwrap().is_empty());
    // The wait is known from then on by its deadline alone.
    let filter = ThreadFilter::new().due_at(before);
    assert!(graph.threads().list(filter).await.unwrap().is_empty());
    assert_eq!(due(&*saver, noon()).await.unwrap().len(), 1);
    // An event for a thread that waits is reported at once.
    let run = thread
        .signal_or_keep("cancelled", 3)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(run.await.unwrap().finished().unwrap(), "cancelled 3");
}

#[tokio::test]
async fn m5_times_that_cannot_be_written_wake_or_never_come() {
    let far = Duration::from_secs(300_000 * 365 * 24 * 3600);
    for (time, comes) in [
        (SystemTime::UNIX_EPOCH.checked_add(far), false),
        (SystemTime::UNIX_EPOCH.checked_add(far / 30), false),
        (
            SystemTime::UNIX_EPOCH.checked_sub(Duration::from_secs(3_000 * 365 * 24 * 3600)),
            true,
        ),
    ] {
        let Some(time) = time else { continue };
        let graph = sleeper(time).compile().unwrap();
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let thread = graph.thread("t");
        assert!(!thread.run(1).await.unwrap().is_done());
        assert_eq!(thread.waits().await.unwrap().len(), 1, "{time:?}");
        let woken = wake_due(&graph, noon()).await.unwrap();
        assert_eq!(woken.len(), usize::from(comes), "{time:?}");
        if !comes {
            let woken = wake_due(&graph, time).await.unwrap();
            assert!(woken[0].outcome.as_ref().unwrap().is_done());
        }
    }
}

#[tokio::test]
async fn m5_a_refused_run_that_takes_the_thread_over_leaves_the_wait() {
    let graph = sleeper(noon()).compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    graph.run(1).thread("t").await.unwrap();
    let rival = graph.thread("t").run(5).on_conflict(OnConflict::Cancel);
    assert!(matches!(
        rival.await,
        Err(AgentError::InterruptsOpen { .. })
    ));
    assert_eq!(wake_due(&graph, noon()).await.unwrap().len(), 1);
}
