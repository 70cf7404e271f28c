//! A process that ends after any of an entrypoint's writes: another one goes on to the same end.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, MemorySaver};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, entrypoint, task};
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};
use tokio::sync::Notify;

/// The storage of a process that ends when a write has been stored, before the acknowledgement arrives.
struct EndsAfter {
    write: usize,
    writes: AtomicUsize,
    has_ended: Notify,
}

impl Intercept for EndsAfter {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        let SaverCall::Put(..) = call else {
            return run.await;
        };
        let write = self.writes.fetch_add(1, Ordering::SeqCst);
        if write > self.write {
            return pending().await;
        }
        let stored = run.await;
        if write == self.write {
            self.has_ended.notify_one();
            return pending().await;
        }
        stored
    }
}

#[derive(Debug, Default)]
struct Executed(AtomicUsize);

#[task]
async fn add(a: i64, b: i64, cx: &Context) -> Result<i64, NodeError> {
    cx.resource::<Executed>()?.0.fetch_add(1, Ordering::SeqCst);
    Ok(a + b)
}

/// Calls a task before its own work.
#[task]
async fn double(number: i64, cx: &Context) -> Result<i64, NodeError> {
    let doubled = add(number, number).on(cx).await?;
    cx.resource::<Executed>()?.0.fetch_add(1, Ordering::SeqCst);
    Ok(doubled)
}

#[entrypoint]
async fn sums(number: i64, cx: &Context) -> Result<i64, NodeError> {
    let sum = add(number, 1).on(cx).await?;
    let doubled = double(sum).on(cx).await?;
    add(doubled, 1).key("last").on(cx).await
}

/// How many tasks a run executes.
const TASKS: usize = 4;

fn thread(saver: &Arc<dyn Checkpointer>, executed: &Arc<Executed>) -> Thread<SumsState> {
    let graph = sums.compile().unwrap().resource(Arc::clone(executed));
    graph.checkpointer(Arc::clone(saver)).thread("t")
}

/// Ends the lease of the process that is gone, as its term would.
async fn end_lease(storage: &Arc<dyn Checkpointer>) {
    let leases = storage.leases().unwrap();
    let held = leases.lease("t", "a test", Duration::ZERO).await.unwrap();
    let holder = held.map_or_else(|| "a test".to_owned(), |held| held.holder);
    leases.release("t", &holder).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_process_that_ends_after_any_write_is_followed_by_one_that_ends_alike() {
    for write in 0.. {
        let executed = Arc::new(Executed::default());
        let storage: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
        let ends = EndsAfter {
            write,
            writes: AtomicUsize::new(0),
            has_ended: Notify::new(),
        };
        let dying = Arc::new(InterceptedSaver::new(Arc::clone(&storage), ends));
        let saver: Arc<dyn Checkpointer> = Arc::clone(&dying) as _;
        let first = thread(&saver, &executed);
        let ended = tokio::select! {
            ended = first.run(sums(1)) => Some(ended.unwrap().finished().unwrap()),
            () = dying.intercept().has_ended.notified() => None,
        };
        if let Some(state) = ended {
            assert_eq!(state.output, Some(5));
            // The input, the calls of four tasks, and the end.
            assert!(write > 2 * TASKS, "only {write} writes");
            return;
        }
        end_lease(&storage).await;
        let state = thread(&storage, &executed).proceed().await;
        let state = state.unwrap_or_else(|error| panic!("after write {write}: {error}"));
        assert_eq!(
            state.finished().unwrap().output,
            Some(5),
            "after write {write}"
        );
        // At most the task that ran when the process ended ran again.
        let executed = executed.0.load(Ordering::SeqCst);
        assert!(
            executed <= TASKS + 1,
            "{executed} executions, after write {write}"
        );
    }
}
