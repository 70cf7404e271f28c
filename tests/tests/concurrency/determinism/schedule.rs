//! Who finishes when.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::prelude::*;

/// Delays every task by its own time, under a paused clock: another seed, another order.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    seed: u64,
    /// The tasks in the order in which they finished.
    finished: Mutex<Vec<String>>,
}

impl Schedule {
    /// With seed 0 no task waits.
    pub(super) fn new(seed: u64) -> Arc<Self> {
        Arc::new(Self {
            seed,
            finished: Mutex::default(),
        })
    }

    /// Waits for the turn of a task.
    pub(super) async fn turn(cx: &Context, task: usize) -> Result<(), NodeError> {
        let Ok(schedule) = cx.resource::<Self>() else {
            return Ok(());
        };
        let id = format!("{:?}/{}@{}/{task}", cx.namespace(), cx.node(), cx.step());
        if schedule.seed != 0 {
            let mut hasher = DefaultHasher::new();
            (schedule.seed, &id).hash(&mut hasher);
            let delay = Duration::from_millis(hasher.finish() % 1_000_000);
            tokio::time::sleep(delay).await;
        }
        schedule.finished.lock().unwrap().push(id);
        Ok(())
    }

    pub(super) fn finished(&self) -> Vec<String> {
        self.finished.lock().unwrap().clone()
    }
}

/// Runs a future to its end on a paused clock.
pub(super) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}
