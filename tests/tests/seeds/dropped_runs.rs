//! Runs that are dropped at any moment: the next run of their process waits for their end, and has the thread.

use std::sync::{Arc, Mutex};

use fastrand::Rng;
use langgraph::checkpoint::{Checkpointer, MemorySaver};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::OnConflict;
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};

/// A saver whose calls take their time, before they happen and before they answer.
struct Slow(Mutex<Rng>);

impl Slow {
    async fn pause(&self) {
        let turns = self.0.lock().unwrap().u8(..6);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }
}

impl Intercept for Slow {
    async fn around<T: Send>(
        &self,
        _: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        self.pause().await;
        let done = run.await;
        self.pause().await;
        done
    }
}

#[node]
async fn add(n: &i64) -> i64 {
    tokio::task::yield_now().await;
    n + 1
}

#[test]
fn the_run_behind_a_dropped_one_has_the_thread() {
    super::play(500, async |dice| {
        let memory: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
        let slow = Slow(Mutex::new(dice.fork()));
        let saver = Arc::new(InterceptedSaver::new(memory, slow));
        let graph = graph! { type State = i64; START => add => END };
        let graph = graph.compile().unwrap().checkpointer(saver);
        let thread = graph.thread("t");
        for round in 0..6 {
            let dropped = thread.run(0).into_future();
            tokio::select! {
                biased;
                ended = dropped => assert!(ended.is_ok(), "round {round}: {ended:?}"),
                () = turns(dice.u32(..60)) => {}
            }
            // The end of the dropped run may be under way.
            turns(dice.u32(..8)).await;
            let conflict = match dice.u8(..3) {
                0 => OnConflict::Cancel,
                _ => OnConflict::Reject,
            };
            let next = thread.run(round).on_conflict(conflict).await;
            let next = next.unwrap_or_else(|error| panic!("round {round}, {conflict:?}: {error}"));
            assert_eq!(next.finished().unwrap(), round + 1);
        }
    });
}

async fn turns(turns: u32) {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
}
