//! A saver fails or hangs while threads are copied, pruned, forked and deleted. Then the thread is
//! as before or as after the operation, and a second attempt completes it.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, ThreadKey};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::{Keep, OnConflict};
use langgraph_tests::ByteSaver;

use super::prune::{build, busy};
use langgraph_tests::fixtures::diary::{Diary, World, memory, over, shown, wrote};
use langgraph_tests::fixtures::faulty_saver::{Fault, Faulty, faulty};

/// What is done to the thread `t`.
#[derive(Clone, Copy, Debug)]
enum Upkeep {
    Prune(usize),
    Copy,
    Delete,
    DeleteIdle,
    /// An update at a checkpoint that is not the newest.
    Fork,
    /// An answer at a checkpoint that is not the newest.
    Replay,
    /// An answer, by a run that waits for its turn.
    Wait,
    /// An answer, by a run that shuts out others.
    Cancel,
}

impl Upkeep {
    async fn on(self, graph: &CompiledStateGraph<Diary>) -> Result<(), AgentError> {
        let answer = graph.thread("t").resume("name", "Zoe");
        match self {
            Self::Prune(newest) => graph
                .thread("t")
                .prune(Keep::Newest(newest))
                .await
                .map(|_| ()),
            Self::Copy => match graph.thread("t").copy("u").await {
                // The copy was made, and no error was reported.
                Err(AgentError::Checkpoint(CheckpointError::ThreadExists(_))) => Ok(()),
                copied => copied,
            },
            Self::Delete => graph.thread("t").delete().await,
            Self::DeleteIdle => graph
                .threads()
                .delete_idle(Duration::ZERO)
                .await
                .map(|_| ()),
            Self::Fork | Self::Replay => {
                let history = graph.thread("t").history().await?;
                let asked = |snapshot: &&langgraph::checkpoint::Snapshot<Diary>| {
                    !snapshot.interrupts.is_empty()
                };
                let early = history.iter().rev().find(asked).unwrap().id;
                if matches!(self, Self::Replay) {
                    return answer.at(early).await.map(|_| ());
                }
                let update = graph.thread("t").at(early).update(wrote("fork"));
                update.as_node("a").await.map(|_| ())
            }
            Self::Wait => {
                let wait = OnConflict::Wait(Duration::from_millis(20));
                answer.on_conflict(wait).await.map(|_| ())
            }
            Self::Cancel => answer.on_conflict(OnConflict::Cancel).await.map(|_| ()),
        }
    }

    /// Repeats the operation, as a client does that got an error or no answer, and that sees whether
    /// something was stored.
    async fn again(self, graph: &CompiledStateGraph<Diary>, moved: bool) -> Result<(), AgentError> {
        match self {
            Self::Fork if moved => Ok(()),
            Self::Replay | Self::Wait | Self::Cancel if moved => {
                let run = graph.thread("t").proceed().await?;
                if !run.is_done() {
                    // What was stored is not the answer.
                    graph.thread("t").resume("name", "Zoe").await?;
                }
                Ok(())
            }
            _ => self.on(graph).await,
        }
    }
}

/// What can be read of the two threads.
#[derive(Debug, PartialEq)]
struct Read {
    history: [Vec<String>; 2],
    /// Logs, checkpoints and records.
    usage: [(u64, u64, u64); 2],
}

async fn read(graph: &CompiledStateGraph<Diary>) -> Read {
    let mut read = Read {
        history: <[_; 2]>::default(),
        usage: [(0, 0, 0); 2],
    };
    for (index, thread) in ["t", "u"].into_iter().enumerate() {
        read.history[index] = shown(graph, thread).await;
        let usage = graph.thread(thread).usage().await.unwrap();
        read.usage[index] = (usage.logs, usage.checkpoints, usage.records);
    }
    read
}

/// Does it on a saver of which one call goes wrong; returns how many calls there were, and whether
/// the error says that something went wrong.
async fn play(
    upkeep: Upkeep,
    saver: &Arc<dyn Checkpointer>,
    fault: Option<(usize, Fault)>,
) -> (usize, bool, Read) {
    let world = World::new();
    let quiet = over(&build(&world), saver);
    busy(&quiet, "t").await;
    let before = read(&quiet).await;
    let root = ThreadKey::root("t");
    let head = saver.head(&root).await.unwrap();
    let faulty = faulty(saver, fault);
    let as_saver: Arc<dyn Checkpointer> = Arc::<Faulty>::clone(&faulty);
    let graph = over(&build(&world), &as_saver);

    let done = tokio::time::timeout(Duration::from_secs(60), upkeep.on(&graph)).await;
    if let Ok(Err(error)) = &done {
        assert!(error.to_string().contains("the disk is away"), "{error}");
    }
    let failed = !matches!(done, Ok(Ok(())));
    if failed {
        // Wait for all background work.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let moved = saver.head(&root).await.unwrap() != head;
        let between = read(&quiet).await;
        if let Upkeep::Fork | Upkeep::Replay | Upkeep::Wait | Upkeep::Cancel = upkeep {
            // Nothing that was there has changed, but the tasks of the head.
            let last = before.history[0].len() - 1;
            assert_eq!(between.history[0][..last], before.history[0][..last]);
        }
        upkeep.again(&quiet, moved).await.unwrap();
    }
    (faulty.intercept().calls(), failed, read(&quiet).await)
}

async fn survives_faults(upkeep: Upkeep) {
    for open in [memory, || {
        Arc::new(ByteSaver::default()) as Arc<dyn Checkpointer>
    }] {
        let (calls, failed, expected) = play(upkeep, &open(), None).await;
        assert!(calls > 0 && !failed);
        let mut reported = 0;
        for at in 0..calls {
            for fault in Fault::ALL {
                let (_, failed, mut end) = play(upkeep, &open(), Some((at, fault))).await;
                reported += usize::from(failed);
                let place = format!("{upkeep:?}, {fault:?} at {at} of {calls}");
                if matches!(upkeep, Upkeep::Replay) {
                    // The question may have been put before it was answered.
                    let last = |read: &Read| read.history[0].last().cloned();
                    assert_eq!(last(&end), last(&expected), "{place}");
                    assert_eq!(end.usage[0].0, expected.usage[0].0, "{place}");
                } else {
                    if matches!(upkeep, Upkeep::Wait | Upkeep::Cancel) {
                        // What the run that failed has left of a task is a record more.
                        assert!(end.usage[0].2 <= expected.usage[0].2 + 1, "{place}");
                        end.usage[0].2 = expected.usage[0].2;
                    }
                    assert_eq!(end, expected, "{place}");
                }
            }
        }
        assert!(reported >= calls, "{reported} of {calls}");
    }
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_while_a_thread_is_pruned() {
    survives_faults(Upkeep::Prune(1)).await;
    survives_faults(Upkeep::Prune(4)).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_while_a_thread_is_copied() {
    survives_faults(Upkeep::Copy).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_while_threads_are_removed() {
    survives_faults(Upkeep::Delete).await;
    survives_faults(Upkeep::DeleteIdle).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_while_a_thread_is_forked() {
    survives_faults(Upkeep::Fork).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_while_a_thread_is_replayed() {
    survives_faults(Upkeep::Replay).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_around_a_run_that_waits_for_its_turn() {
    survives_faults(Upkeep::Wait).await;
}

#[tokio::test(start_paused = true)]
async fn j7_a_saver_that_goes_wrong_around_a_run_that_shuts_out_others() {
    survives_faults(Upkeep::Cancel).await;
}
