//! A disk that fills up at any call, and has room again: what fails says so, and the next run has the thread.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fastrand::Rng;
use langgraph::checkpoint::{Checkpointer, MemorySaver};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};
use langgraph_tests::fixtures::diary::{Diary, DiaryUpdate, log_of, wrote};

/// A disk that is full from some call on, until it is emptied.
struct Disk {
    dice: Mutex<Rng>,
    is_full: AtomicBool,
    fills_up: AtomicBool,
}

impl Disk {
    /// Returns true if the disk is full, or now fills up.
    fn is_full(&self) -> bool {
        let fills_up =
            self.fills_up.load(Ordering::Relaxed) && self.dice.lock().unwrap().u8(..12) == 0;
        self.is_full.fetch_or(fills_up, Ordering::Relaxed) || fills_up
    }
}

impl Intercept for Disk {
    async fn around<T: Send>(
        &self,
        _: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        if self.is_full() {
            return Err(CheckpointError::storage("the disk is full"));
        }
        run.await
    }
}

#[node]
async fn one(_: &Diary) -> DiaryUpdate {
    wrote("one")
}

#[node]
async fn two(_: &Diary) -> DiaryUpdate {
    tokio::task::yield_now().await;
    wrote("two")
}

/// Waits until another process can take a thread.
async fn is_released(saver: &dyn Checkpointer, thread: &str) {
    let leases = saver.leases().unwrap();
    let minute = Duration::from_secs(60);
    for _ in 0..40 {
        if leases
            .lease(thread, "another process", minute)
            .await
            .unwrap()
            .is_none()
        {
            return leases.release(thread, "another process").await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    panic!("`{thread}` stays held");
}

#[test]
fn a_full_disk_keeps_no_thread_from_the_next_run() {
    super::play(300, async |dice| {
        let memory: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
        let disk = Disk {
            dice: Mutex::new(dice.fork()),
            is_full: AtomicBool::new(false),
            fills_up: AtomicBool::new(false),
        };
        let saver = Arc::new(InterceptedSaver::new(Arc::clone(&memory), disk));
        let graph = graph! { START => one => two => END };
        let graph = graph.compile().unwrap().checkpointer(Arc::clone(&saver));
        let thread = graph.thread("t");
        let mut accepted = Vec::new();
        for number in 0..12 {
            let fills_up = dice.u8(..3) > 0;
            saver
                .intercept()
                .fills_up
                .store(fills_up, Ordering::Relaxed);
            let line = format!("line {number}");
            let ended = thread.run(wrote(&*line)).await;
            let is_full = saver.intercept().is_full.load(Ordering::Relaxed);
            match ended {
                Ok(_) => accepted.push(line),
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        is_full && text.contains("the disk is full"),
                        "{line}: {text}"
                    );
                }
            }
            if dice.u8(..3) == 0 {
                continue;
            }
            saver.intercept().fills_up.store(false, Ordering::Relaxed);
            saver.intercept().is_full.store(false, Ordering::Relaxed);
            if dice.bool() {
                is_released(&*memory, "t").await;
            }
        }
        saver.intercept().fills_up.store(false, Ordering::Relaxed);
        saver.intercept().is_full.store(false, Ordering::Relaxed);
        thread.run(wrote("the last one")).await.unwrap();
        let log = log_of(&graph, "t").await;
        for line in &accepted {
            assert!(log.contains(line), "{line} is lost: {log:?}");
        }
    });
}
