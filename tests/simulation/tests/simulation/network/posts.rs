//! The messages of the queue: their fate, and what they say of its tasks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph_nats::link::Packet;
use langgraph_simulation::Weather;
use serde_json::Value;

use super::passage::Passage;
use crate::world::World;

/// The most bytes of a message: in half of the seeds, larger states go through the store.
const LIMITS: [usize; 2] = [4_096, 1 << 20];

/// How long a driver at most takes to read a message that has come.
const READS: Duration = Duration::from_millis(50);

/// The network of the queue.
#[derive(Clone, Debug)]
pub(super) struct Posts {
    world: World,
    limit: usize,
    tasks: Arc<Mutex<BTreeMap<TaskOf, Given>>>,
}

/// A driver, and the number of its task.
type TaskOf = (String, u64);

/// What has become of a task.
#[derive(Debug)]
struct Given {
    /// The worker that has it.
    worker: String,
    /// When its answer came to the driver.
    answered: Option<Duration>,
}

impl Posts {
    pub(super) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            limit: if world.below(2) == 0 {
                LIMITS[0]
            } else {
                LIMITS[1]
            },
            tasks: Arc::default(),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, BTreeMap<TaskOf, Given>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a driver gives a task to a worker.
    fn gives(&self, driver: &str, task: u64, worker: &str) {
        let mut tasks = self.tasks();
        let given = tasks.entry((driver.to_owned(), task)).or_insert(Given {
            worker: worker.to_owned(),
            answered: None,
        });
        worker.clone_into(&mut given.worker);
        let known = given.answered;
        drop(tasks);
        if known.is_some_and(|at| at + READS < self.world.elapsed()) {
            let text = format!("task {task} is given out again behind its answer");
            self.world.violate(text);
        }
    }

    /// Notes that an answer has come to a driver. It counts if the worker has the task.
    fn answers(&self, driver: &str, task: u64, worker: &str) {
        let now = self.world.elapsed();
        if let Some(given) = self.tasks().get_mut(&(driver.to_owned(), task))
            && given.worker == worker
        {
            given.answered.get_or_insert(now);
        }
    }
}

/// Returns the receiver of a message, and what the message has under a name.
fn part<'p>(packet: &'p Packet, to: &str, name: &str) -> Option<(&'p str, Value)> {
    let (_, receiver) = packet.subject.split_once(to)?;
    let said: Value = serde_json::from_slice(packet.payload.as_ref()?).ok()?;
    Some((receiver, said.get(name)?.clone()))
}

/// What a driver says to a worker from which it has taken a task.
const TAKEN: &str = "the task was given to another worker, or has ended";

/// Returns the tasks of a message, by their numbers; without those that the driver has taken from its sender, which
/// passes that on as its answer.
fn numbers(said: &Value) -> impl Iterator<Item = u64> {
    let tasks = said["tasks"].as_array().into_iter().flatten();
    let tasks = tasks.filter(|task| task["reply"]["inline"]["result"]["Err"]["text"] != TAKEN);
    tasks.filter_map(|task| task["task"].as_u64())
}

impl Weather for Posts {
    fn now(&self) -> Duration {
        self.world.elapsed()
    }

    fn lateness(&self) -> Option<Duration> {
        let passage = Passage::draw(&self.world);
        (!passage.is_lost).then_some(passage.late)
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn storing(&self) -> Duration {
        self.world.up_to(200)
    }

    fn is_sent(&self, packet: &Packet) {
        if let Some((worker, said)) = part(packet, ".worker.", "tasks") {
            let driver = said["driver"].as_str().unwrap_or_default();
            numbers(&said).for_each(|task| self.gives(driver, task, worker));
        }
    }

    fn has_arrived(&self, packet: &Packet) {
        if let Some((driver, said)) = part(packet, ".driver.", "done") {
            let worker = said["worker"].as_str().unwrap_or_default();
            numbers(&said).for_each(|task| self.answers(driver, task, worker));
        }
    }
}
