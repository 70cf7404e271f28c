//! Threads that wait, some of which cannot be read: the others are woken in time, and what cannot be read is named.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use fastrand::Rng;
use langgraph::checkpoint::{Checkpointer, MemorySaver};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};
use langgraph_wait::{WaitExt as _, Waits, wake_due};

const MINUTE: Duration = Duration::from_secs(60);

fn noon() -> SystemTime {
    SystemTime::UNIX_EPOCH + 30_000_000 * MINUTE
}

/// The threads that cannot be read.
#[derive(Default)]
struct Damage(Mutex<BTreeSet<String>>);

impl Intercept for Damage {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        if let SaverCall::Read(key) = call
            && self.0.lock().unwrap().contains(&*key.thread)
        {
            let text = format!("a row of thread `{}` is damaged", key.thread);
            return Err(CheckpointError::Corrupt(text));
        }
        run.await
    }
}

/// Waits for a minute that its input says, or until its event comes.
fn graph(saver: Arc<InterceptedSaver<Damage>>) -> CompiledStateGraph<u32> {
    let wait = |minute: &u32, cx: &Context| -> Result<u32, NodeError> {
        let until = noon() + *minute * MINUTE;
        if minute.is_multiple_of(2) {
            cx.sleep_until(until)?;
        } else {
            cx.wait_for::<u32>("event", until)?;
        }
        Ok(*minute)
    };
    let mut graph = StateGraph::<u32>::new();
    graph.add_node("wait", wait).add_sequence(&["wait"]);
    graph.compile().unwrap().checkpointer(saver)
}

/// Damages some threads, and repairs others.
fn damage(
    saver: &InterceptedSaver<Damage>,
    sleeping: &BTreeMap<String, u32>,
    dice: &mut Rng,
) -> BTreeSet<String> {
    let damaged: BTreeSet<_> = sleeping
        .keys()
        .filter(|_| dice.u8(..4) == 0)
        .cloned()
        .collect();
    saver.intercept().0.lock().unwrap().clone_from(&damaged);
    damaged
}

#[test]
fn a_thread_that_cannot_be_read_lets_the_others_wake() {
    super::play(200, async |dice| {
        let memory: Arc<dyn Checkpointer> = Arc::new(MemorySaver::new());
        let saver = Arc::new(InterceptedSaver::new(memory, Damage::default()));
        let graph = graph(Arc::clone(&saver));
        let mut sleeping = BTreeMap::new();
        for number in 0..dice.u32(1..9) {
            let (name, minute) = (format!("t{number}"), dice.u32(1..30));
            graph.thread(&name).run(minute).await.unwrap();
            sleeping.insert(name, minute);
        }
        let mut waits = Waits::new();
        let mut known = BTreeSet::new();
        let mut now = 0;
        while !sleeping.is_empty() {
            let damaged = damage(&saver, &sleeping, dice);
            waits.read(&*saver).await.unwrap();
            let listed: BTreeSet<_> = waits.iter().map(|wait| wait.thread.clone()).collect();
            let unreadable: BTreeSet<_> = waits
                .unreadable()
                .map(|(name, _)| name.to_owned())
                .collect();
            for name in sleeping.keys() {
                let is_known = known.contains(name) || !damaged.contains(name);
                assert_eq!(listed.contains(name), is_known, "the wait of {name}");
                assert_eq!(unreadable.contains(name), !is_known, "{name} as unreadable");
            }
            known = listed;
            now += dice.u32(..8);
            let woken = wake_due(&graph, noon() + now * MINUTE).await.unwrap();
            let names: BTreeSet<_> = woken.iter().map(|woken| &*woken.thread).collect();
            let due = sleeping.iter().filter(|(_, minute)| **minute <= now);
            for (name, _) in due {
                assert!(
                    names.contains(&**name),
                    "{name} is due, and not in {names:?}"
                );
            }
            for woken in woken {
                let is_damaged = damaged.contains(&woken.thread);
                match woken.outcome {
                    Ok(_) => {
                        assert!(!is_damaged, "{} was damaged", woken.thread);
                        let minute = sleeping.remove(&woken.thread);
                        assert!(
                            minute.is_some_and(|minute| minute <= now),
                            "{} is early",
                            woken.thread
                        );
                    }
                    Err(error) => {
                        let text = error.to_string();
                        assert!(is_damaged && text.contains(&woken.thread), "{text}");
                    }
                }
            }
        }
    });
}
