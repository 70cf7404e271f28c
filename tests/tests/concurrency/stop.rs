//! When a run that is stopped has written its last record.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Checkpointer, Durability, Head, MemorySaver, Saver, ThreadKey, Values,
    forward_checkpointer,
};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::run::{CancelToken, Run};

use tokio::sync::Notify;
use tokio::task::JoinSet;

use langgraph_tests::fixtures::diary::{Diary, World, graph_in, note};

/// A saver whose writes take a while, and go on when their future is dropped.
struct Slow {
    saver: Arc<MemorySaver>,
    gate: Option<Arc<Gate>>,
}

/// Holds one write up until it is let through.
struct Gate {
    /// How many writes come before it.
    before: AtomicUsize,
    reached: Notify,
    opened: Notify,
}

impl Gate {
    fn behind(writes: usize) -> Arc<Self> {
        Arc::new(Self {
            before: AtomicUsize::new(writes),
            reached: Notify::new(),
            opened: Notify::new(),
        })
    }

    async fn pass(&self) {
        if self.before.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.reached.notify_one();
            self.opened.notified().await;
        }
    }
}

#[async_trait]
impl Checkpointer for Slow {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let (saver, key) = (Arc::clone(&self.saver), key.clone());
        let gate = self.gate.clone();
        let write = tokio::spawn(async move {
            match gate {
                Some(gate) => gate.pass().await,
                None => tokio::time::sleep(Duration::from_millis(3)).await,
            }
            saver.put(&key, batch).await
        });
        write.await.unwrap()
    }

    forward_checkpointer!(saver);
}

impl Saver for Slow {
    type Stores = Values;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

/// A loop of many supersteps, each stored slowly.
fn graph() -> (Arc<Slow>, CompiledStateGraph<Diary>) {
    graph_with(None)
}

fn slow(gate: Option<Arc<Gate>>) -> Arc<Slow> {
    let saver = Arc::new(MemorySaver::new());
    Arc::new(Slow { saver, gate })
}

fn graph_with(gate: Option<Arc<Gate>>) -> (Arc<Slow>, CompiledStateGraph<Diary>) {
    let saver = slow(gate);
    let mut graph = graph_in(&World::new());
    graph.add_node("note", note).add_edge(START, "note");
    let more = |diary: &Diary| {
        if diary.log.len() < 200 {
            "more"
        } else {
            "enough"
        }
    };
    graph.add_conditional_edges("note", more, [("more", "note"), ("enough", END)]);
    let graph = graph.compile().unwrap().checkpointer(Arc::clone(&saver));
    (saver, graph)
}

fn run(graph: &CompiledStateGraph<Diary>, durability: Durability) -> Run<Diary> {
    graph.run(()).thread("t").durability(durability)
}

async fn head(saver: &Slow) -> Option<Head> {
    saver.head(&ThreadKey::root("t")).await.unwrap()
}

/// Checks that the thread stands still, and that a new run goes on at once.
async fn stands_still(saver: &Slow, graph: &CompiledStateGraph<Diary>) {
    let at = head(saver).await;
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert_eq!(head(saver).await, at);
    let diary = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(diary.log.len(), 200);
}

const BOTH: [Durability; 2] = [Durability::Sync, Durability::Async];

#[tokio::test]
async fn a_stopped_stream_says_where_the_thread_stands() {
    for durability in BOTH {
        let (saver, graph) = graph();
        let mut events = run(&graph, durability).stream(StreamMode::Updates);
        for _ in 0..20 {
            events.next().await.unwrap().unwrap();
        }
        let stopped = events.stop().await.unwrap();
        assert!(stopped.is_some());
        assert_eq!(head(&saver).await.map(|head| head.id), stopped);
        stands_still(&saver, &graph).await;
    }
}

#[tokio::test]
async fn a_cancelled_run_ends_when_nothing_is_written_any_more() {
    for durability in BOTH {
        let (saver, graph) = graph();
        let token = CancelToken::new();
        let cancelled = tokio::spawn(run(&graph, durability).cancel(token.clone()).into_future());
        tokio::time::sleep(Duration::from_millis(20)).await;
        token.cancel();
        let error = cancelled.await.unwrap().unwrap_err();
        assert!(matches!(error, AgentError::Cancelled), "{error}");
        stands_still(&saver, &graph).await;
    }
}

#[tokio::test]
async fn a_run_that_is_out_of_time_ends_when_nothing_is_written_any_more() {
    for durability in BOTH {
        let (saver, graph) = graph();
        let timed_out = run(&graph, durability)
            .timeout(Duration::from_millis(20))
            .await;
        assert!(matches!(timed_out, Err(AgentError::TimedOut(_))));
        stands_still(&saver, &graph).await;
    }
}

#[tokio::test]
async fn a_dropped_run_writes_no_more_than_the_record_under_way() {
    for durability in BOTH {
        let (saver, graph) = graph();
        let dropped = run(&graph, durability);
        let _ = tokio::time::timeout(Duration::from_millis(20), dropped.into_future()).await;
        let before = head(&saver).await.map_or(0, |head| head.version);
        tokio::time::sleep(Duration::from_millis(60)).await;
        let after = head(&saver).await.map_or(0, |head| head.version);
        // The record under way, and how the run ended.
        assert!(after - before <= 2, "{before} to {after}, {durability:?}");
        stands_still(&saver, &graph).await;
    }
}

#[tokio::test]
async fn a_run_that_starts_at_once_meets_neither_a_conflict_nor_a_state_that_changes() {
    let mut pairs = JoinSet::new();
    for durability in BOTH {
        for after in 1..15 {
            pairs.spawn(async move {
                let (_, graph) = graph();
                let dropped = run(&graph, durability).into_future();
                let _ = tokio::time::timeout(Duration::from_millis(after), dropped).await;
                let diary = run(&graph, durability).await.unwrap().finished().unwrap();
                assert_eq!(diary.log.len(), 200);
            });
        }
    }
    pairs.join_all().await;
}

#[tokio::test]
async fn the_result_of_work_that_is_done_once_is_stored_before_it_is_returned() {
    async fn work(_: &Diary, cx: &Context) -> Result<(), NodeError> {
        cx.once("charge", async { Ok::<_, NodeError>(7) }).await?;
        let saver = cx.resource::<Slow>()?;
        let stored = saver.load(&ThreadKey::root("t"), None).await?;
        let records = stored.map_or_else(Vec::new, |chain| chain.records);
        let tasks = records.iter().flat_map(|record| &record.tasks);
        let kept = tasks.filter(|task| !task.once.is_empty()).count();
        assert_eq!(kept, 1);
        Ok(())
    }
    for durability in BOTH {
        let saver = slow(None);
        let mut graph = StateGraph::<Diary>::new();
        graph.add_node("work", work).add_sequence(&["work"]);
        let graph = graph.compile().unwrap().checkpointer(Arc::clone(&saver));
        let run = run(&graph, durability).resource(saver);
        run.await.unwrap();
    }
}

#[tokio::test]
async fn a_run_that_is_stopped_waits_for_the_write_under_way() {
    for durability in BOTH {
        for writes in 0..5 {
            let gate = Gate::behind(writes);
            let (saver, graph) = graph_with(Some(Arc::clone(&gate)));
            let token = CancelToken::new();
            let cancelled = run(&graph, durability).cancel(token.clone());
            let cancelled = tokio::spawn(cancelled.into_future());
            gate.reached.notified().await;
            let before = head(&saver).await;
            token.cancel();
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert!(!cancelled.is_finished(), "behind {writes}, {durability:?}");
            assert_eq!(head(&saver).await, before);
            gate.opened.notify_one();
            let error = cancelled.await.unwrap().unwrap_err();
            assert!(matches!(error, AgentError::Cancelled), "{error}");
            // What was written is there, and nothing comes after it.
            assert_ne!(head(&saver).await, before);
            stands_still(&saver, &graph).await;
        }
    }
}
