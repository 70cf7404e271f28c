//! A run that is stopped, and a saver that cannot store its last records: the caller learns of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Checkpointer, Durability, MemorySaver, Saver, ThreadKey, Values, forward_checkpointer,
};
use langgraph::error::{CheckpointError, ErrorKind};
use langgraph::prelude::*;
use langgraph::run::{CancelToken, Run};

/// A saver that stores nothing once its disk is full.
struct Disk {
    saver: Arc<MemorySaver>,
    is_full: AtomicBool,
    /// True if a write waits before it fails.
    waits: bool,
}

#[async_trait]
impl Checkpointer for Disk {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        if self.is_full.load(Ordering::SeqCst) {
            if self.waits {
                tokio::time::sleep(Duration::from_millis(3)).await;
            }
            return Err(CheckpointError::storage("the disk is full"));
        }
        self.saver.put(key, batch).await
    }

    forward_checkpointer!(saver);
}

impl Saver for Disk {
    type Stores = Values;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

fn disk(waits: bool) -> Arc<Disk> {
    Arc::new(Disk {
        saver: Arc::new(MemorySaver::new()),
        is_full: AtomicBool::new(false),
        waits,
    })
}

/// A graph that counts to 20. At 3 the disk is full; the run is cancelled then, or waits without an end.
fn graph(disk: &Arc<Disk>, cancel: Option<CancelToken>) -> CompiledStateGraph<u32> {
    let mut graph = StateGraph::<u32>::new();
    let full = Arc::clone(disk);
    graph.add_node("count", move |n: &u32| {
        let (n, full, cancel) = (*n, Arc::clone(&full), cancel.clone());
        async move {
            if n == 3 {
                full.is_full.store(true, Ordering::SeqCst);
                match cancel {
                    Some(token) => token.cancel(),
                    None => std::future::pending().await,
                }
            }
            n + 1
        }
    });
    let more = |n: &u32| if *n < 20 { "more" } else { "enough" };
    graph.add_edge(START, "count");
    graph.add_conditional_edges("count", more, [("more", "count"), ("enough", END)]);
    graph.compile().unwrap().checkpointer(Arc::clone(disk))
}

fn run(graph: &CompiledStateGraph<u32>, durability: Durability) -> Run<u32> {
    graph.run(0).thread("t").durability(durability)
}

#[track_caller]
fn is_full<T: std::fmt::Debug>(ended: Result<T, AgentError>) {
    let error = ended.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Storage, "{error}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

#[tokio::test]
async fn a_run_that_is_cancelled_between_supersteps_says_what_could_not_be_stored() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (disk, token) = (disk(false), CancelToken::new());
        let graph = graph(&disk, Some(token.clone()));
        is_full(run(&graph, durability).cancel(token).await);
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_in_a_node_says_that_its_end_could_not_be_stored() {
    for durability in [Durability::Sync, Durability::Async] {
        for waits in [false, true] {
            let (disk, token) = (disk(waits), CancelToken::new());
            let graph = graph(&disk, None);
            let cancelled = run(&graph, durability).cancel(token.clone());
            let cancelled = tokio::spawn(cancelled.into_future());
            while !disk.is_full.load(Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
            token.cancel();
            is_full(cancelled.await.unwrap());
        }
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_while_it_stores_says_that_this_has_failed() {
    for durability in [Durability::Sync, Durability::Async] {
        let (disk, token) = (disk(true), CancelToken::new());
        let graph = graph(&disk, Some(token.clone()));
        is_full(run(&graph, durability).cancel(token).await);
    }
}

#[tokio::test]
async fn a_run_that_is_out_of_time_says_that_its_end_could_not_be_stored() {
    let disk = disk(false);
    let graph = graph(&disk, None);
    let limit = Duration::from_millis(20);
    is_full(run(&graph, Durability::Sync).timeout(limit).await);
}

#[tokio::test]
async fn a_stream_that_is_stopped_says_that_its_end_could_not_be_stored() {
    let disk = disk(false);
    let graph = graph(&disk, None);
    let mut events = run(&graph, Durability::Sync).stream(StreamMode::Updates);
    while !disk.is_full.load(Ordering::SeqCst) {
        let _ = tokio::time::timeout(Duration::from_millis(5), events.next()).await;
    }
    is_full(events.stop().await);
}

#[tokio::test]
async fn a_recovered_run_that_is_stopped_says_that_its_end_could_not_be_stored() {
    for is_cancelled in [true, false] {
        let (disk, token) = (disk(false), CancelToken::new());
        let graph = graph(&disk, None);
        let stop = Duration::from_millis(20);
        // It is dropped, and its end cannot be stored.
        let lost = tokio::time::timeout(stop, run(&graph, Durability::Sync).into_future());
        assert!(lost.await.is_err());
        tokio::time::sleep(stop).await;

        disk.is_full.store(false, Ordering::SeqCst);
        let (cancelled, full) = (token.clone(), Arc::clone(&disk));
        tokio::spawn(async move {
            while is_cancelled && !full.is_full.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            cancelled.cancel();
        });
        let resumed = graph
            .threads()
            .resume_pending(Duration::ZERO)
            .options(move |_, run| {
                if is_cancelled {
                    run.cancel(token.clone())
                } else {
                    run.timeout(stop)
                }
            });
        let mut resumed = resumed.await.unwrap();
        is_full(resumed.pop().unwrap().outcome);
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_and_stored_is_cancelled() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (disk, token) = (disk(false), CancelToken::new());
        let graph = graph(&disk, None);
        let cancelled = run(&graph, durability).cancel(token.clone());
        token.cancel();
        assert!(matches!(cancelled.await, Err(AgentError::Cancelled)));
    }
}
