//! Who writes to a thread: only the run that holds it, also at its end and after a pause of its process.

use std::future::IntoFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability, MemorySaver, RunStatus, ThreadFilter};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph::thread::{OnConflict, Thread};
use tokio::sync::Notify;

use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};
use langgraph_tests::fixtures::faulty_saver::{Faulty, faulty};

/// Runs a future in a thread with a runtime of its own, as another process would.
fn apart<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> thread::JoinHandle<T> {
    thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        runtime.block_on(future)
    })
}

async fn status(graph: &CompiledStateGraph<i64>) -> RunStatus {
    let threads = graph.threads().list(ThreadFilter::new()).await.unwrap();
    threads[0].status
}

/// A node that waits for ever in its first run, and adds one in the others.
fn hangs_once(saver: Arc<dyn Checkpointer>) -> (CompiledStateGraph<i64>, Arc<Notify>) {
    let (hung, reached) = (Arc::new(AtomicBool::new(false)), Arc::new(Notify::new()));
    let at_node = Arc::clone(&reached);
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("node", move |n: &i64| {
        let (n, hung, reached) = (*n, Arc::clone(&hung), Arc::clone(&at_node));
        async move {
            if !hung.swap(true, Ordering::SeqCst) {
                reached.notify_one();
                std::future::pending::<()>().await;
            }
            n + 1
        }
    });
    graph.add_sequence(&["node"]);
    let graph = graph.compile().unwrap().checkpointer(saver);
    (graph, reached)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_takes_over_right_after_a_dropped_one_succeeds() {
    for conflict in [OnConflict::Cancel, OnConflict::Reject] {
        for round in 0..200 {
            let (graph, reached) = hangs_once(Arc::new(MemorySaver::new()));
            let dropped = tokio::spawn(graph.run(1).thread("t").into_future());
            reached.notified().await;
            dropped.abort();
            if round % 2 == 0 {
                let _ = dropped.await;
            }
            let run = graph.thread("t").run(5).on_conflict(conflict);
            let outcome = match run.await {
                Ok(outcome) => outcome,
                // The first run was not dropped yet.
                Err(AgentError::Checkpoint(CheckpointError::Held { .. }))
                    if round % 2 == 1 && conflict == OnConflict::Reject =>
                {
                    continue;
                }
                Err(error) => panic!("{conflict:?}, round {round}: {error}"),
            };
            assert_eq!(outcome.finished().unwrap(), 6);
            tokio::task::yield_now().await;
            assert_eq!(status(&graph).await, RunStatus::Done, "{conflict:?}");
        }
    }
}

/// What two runs on one thread do, as of two processes: the first stands still in its node for longer
/// than its lease, the second takes the thread meanwhile.
#[derive(Default)]
struct Paused {
    charged: AtomicUsize,
    first_is_stored: AtomicBool,
    second_runs: AtomicBool,
    first_ended: AtomicBool,
}

const TERM: Duration = Duration::from_millis(100);

fn wait_for(flag: &AtomicBool) {
    let since = std::time::Instant::now();
    while !flag.load(Ordering::SeqCst) {
        assert!(since.elapsed() < Duration::from_secs(20), "it never came");
        thread::sleep(Duration::from_millis(5));
    }
}

impl Paused {
    async fn charge(&self, cx: &Context) -> Result<usize, NodeError> {
        let charge = async { Ok::<_, NodeError>(self.charged.fetch_add(1, Ordering::SeqCst)) };
        cx.once("charge", charge).await
    }
}

/// The node of the first process: nothing of its runtime runs while it is paused.
async fn first(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    let paused = cx.resource::<Paused>()?;
    // What is stored behind the run needs its runtime.
    while !paused.first_is_stored.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    wait_for(&paused.second_runs);
    tokio::task::yield_now().await;
    paused.charge(cx).await?;
    Ok(1)
}

async fn second(_: &i64, cx: &Context) -> Result<i64, NodeError> {
    let paused = cx.resource::<Paused>()?;
    paused.charge(cx).await?;
    paused.second_runs.store(true, Ordering::SeqCst);
    while !paused.first_ended.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(2)
}

/// Returns the outcome of the first run, and how often the work was done.
async fn paused(
    cancels: bool,
    durability: Durability,
) -> (Result<Outcome<i64>, AgentError>, usize) {
    let saver = Arc::new(MemorySaver::new());
    let world = Arc::new(Paused::default());
    let graph = |second_process: bool| {
        let mut graph = StateGraph::<i64>::new();
        if second_process {
            graph.add_node("node", second);
        } else {
            graph.add_node("node", first);
        }
        graph.add_sequence(&["node"]).resource(Arc::clone(&world));
        let graph = graph.compile().unwrap().checkpointer(Arc::clone(&saver));
        graph.lease_term(TERM)
    };
    let token = CancelToken::new();
    let run = graph(false).run(0).thread("t").durability(durability);
    let run = run.cancel(token.clone());
    let ended = Arc::clone(&world);
    let first = apart(async move {
        let ended_as = run.await;
        // What is left of the run ends too.
        tokio::time::sleep(Duration::from_millis(100)).await;
        ended.first_ended.store(true, Ordering::SeqCst);
        ended_as
    });
    let graph = graph(true);
    while graph.thread("t").state().await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    world.first_is_stored.store(true, Ordering::SeqCst);
    if cancels {
        token.cancel();
    }
    let second = graph.thread("t").proceed();
    let second = second.on_conflict(OnConflict::Wait(Duration::from_secs(20)));
    let outcome = second.durability(durability).await;
    assert_eq!(
        outcome.unwrap().finished().unwrap(),
        2,
        "the holder is left alone"
    );
    assert_eq!(status(&graph).await, RunStatus::Done);
    (first.join().unwrap(), world.charged.load(Ordering::SeqCst))
}

#[tokio::test]
async fn work_is_not_done_again_by_a_process_that_was_paused_beyond_its_lease() {
    for durability in [Durability::Sync, Durability::Async] {
        let (first, charged) = paused(false, durability).await;
        assert!(
            matches!(
                first,
                Err(AgentError::Checkpoint(CheckpointError::LeaseLost { .. }))
            ),
            "{first:?}"
        );
        assert_eq!(charged, 1, "{durability:?}");
    }
}

/// Pauses the process in a call that reads, for longer than its lease; another one takes the thread meanwhile.
struct PausedInReads {
    saver: Arc<dyn Checkpointer>,
    pauses: AtomicBool,
}

impl Intercept for PausedInReads {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        if matches!(call, SaverCall::Read(_)) && self.pauses.swap(false, Ordering::SeqCst) {
            thread::sleep(TERM * 2);
            let leases = self.saver.leases_for("the test")?;
            let taken = leases.lease("t", "other", Duration::from_secs(60)).await?;
            assert!(taken.is_none(), "{taken:?}");
        }
        run.await
    }
}

/// Runs a graph of one node, which counts how often it ran, and then calls `next` while its first read is paused. The
/// call finds that it has lost the thread.
async fn loses_its_thread_in_a_read<T: std::fmt::Debug>(
    next: impl AsyncFnOnce(Thread<i64>) -> Result<T, AgentError>,
) {
    let memory: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    let paused = PausedInReads {
        saver: Arc::clone(&memory),
        pauses: AtomicBool::new(false),
    };
    let saver = Arc::new(InterceptedSaver::new(memory, paused));
    let ran = Arc::new(AtomicUsize::new(0));
    let runs = Arc::clone(&ran);
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("node", move |n: &i64| {
        runs.fetch_add(1, Ordering::SeqCst);
        n + 1
    });
    graph.add_sequence(&["node"]);
    let graph = graph.compile().unwrap().lease_term(TERM);
    let graph = graph.checkpointer(Arc::<InterceptedSaver<_>>::clone(&saver));
    graph.thread("t").run(1).await.unwrap();

    saver.intercept().pauses.store(true, Ordering::SeqCst);
    let lost = next(graph.thread("t")).await.unwrap_err();
    assert!(
        matches!(
            lost,
            AgentError::Checkpoint(CheckpointError::LeaseLost { .. })
        ),
        "{lost:?}"
    );
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let state = graph.thread("t").state().await.unwrap().unwrap();
    assert_eq!(state.values, 2);
}

#[tokio::test]
async fn a_run_that_was_paused_while_it_read_its_thread_does_not_go_on() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        loses_its_thread_in_a_read(async |thread| thread.run(5).durability(durability).await).await;
    }
}

#[tokio::test]
async fn a_change_that_was_paused_while_it_read_its_thread_is_not_written() {
    loses_its_thread_in_a_read(async |thread| thread.update(5).await).await;
    loses_its_thread_in_a_read(async |thread| thread.add_input(5).await).await;
    loses_its_thread_in_a_read(async |thread| thread.clear_pending().await).await;
    loses_its_thread_in_a_read(async |thread| thread.fork().await).await;
}

#[tokio::test]
async fn the_end_of_a_paused_run_is_not_written_over_its_successor() {
    let (first, _) = paused(true, Durability::Sync).await;
    assert!(matches!(first, Err(AgentError::Cancelled)), "{first:?}");
}

#[tokio::test]
async fn a_full_disk_at_the_end_of_a_run_blocks_no_thread() {
    let memory: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
    let saver = faulty(&memory, None);
    let disk = Arc::clone(&saver);
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("node", move |n: &i64| {
        disk.intercept().is_full.store(*n == 1, Ordering::SeqCst);
        n + 1
    });
    graph.add_sequence(&["node"]);
    let full: Arc<dyn Checkpointer> = Arc::<Faulty>::clone(&saver);
    let graph = graph.compile().unwrap().checkpointer(full);
    let error = graph.thread("t").run(1).await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    // While it is full, the error is that of the disk.
    let error = graph.thread("t").run(5).await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    // With room again, this process goes on at once.
    saver.intercept().is_full.store(false, Ordering::SeqCst);
    let run = graph.thread("t").run(5).await;
    assert_eq!(run.unwrap().finished().unwrap(), 6);

    // So do others: the release is tried again.
    let error = graph.thread("u").run(1).await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    saver.intercept().is_full.store(false, Ordering::SeqCst);
    let leases = memory.leases().unwrap();
    let since = std::time::Instant::now();
    let minute = Duration::from_secs(60);
    while leases.lease("u", "other", minute).await.unwrap().is_some() {
        assert!(since.elapsed() < Duration::from_secs(10), "it stays held");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_lease_term_of_any_length_is_one() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("node", |n: &i64| n + 1)
        .add_sequence(&["node"]);
    let graph = graph.compile().unwrap().lease_term(Duration::MAX);
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    assert_eq!(
        graph.thread("t").run(1).await.unwrap().finished().unwrap(),
        2
    );
    let pending = graph.threads().resume_pending(Duration::MAX);
    assert!(pending.await.unwrap().is_empty());
}

#[tokio::test]
async fn a_recovered_run_that_times_out_says_so() {
    let (graph, _) = hangs_once(Arc::new(MemorySaver::new()));
    // A thread whose process has died in its first node.
    graph.thread("t").add_input(1).create().await.unwrap();
    let pending = graph.threads().resume_pending(Duration::ZERO);
    let limit = Duration::from_millis(20);
    let pending = pending.including(RunStatus::Done);
    let resumed = pending.options(move |_, run| run.timeout(limit)).await;
    let outcome = &resumed.unwrap()[0].outcome;
    assert!(
        matches!(outcome, Err(AgentError::TimedOut(_))),
        "{outcome:?}"
    );
    assert_eq!(status(&graph).await, RunStatus::TimedOut);
}
