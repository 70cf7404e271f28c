//! Nodes that block their thread.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::violation::{Rule, Violation};
use super::world::{NodeTask, World};

/// A poll that takes longer is measured, the next time.
const SLOW: Duration = Duration::from_millis(2);

/// So long has a poll slept that counts as blocked.
const BLOCKED: Duration = Duration::from_millis(1);

/// So many polls of a node have slept when it is reported: one may have waited for memory.
const ENOUGH: u32 = 3;

/// The nodes whose polls are slow, in all seeds, and how many of their polls have slept.
#[derive(Clone, Default)]
pub(super) struct BlockedNodes(Arc<Mutex<BTreeMap<String, u32>>>);

impl BlockedNodes {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, u32>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Measures a poll of a node until it is dropped.
pub(super) struct Watch<'a> {
    nodes: &'a BlockedNodes,
    world: &'a World,
    task: &'a NodeTask,
    began: Instant,
    /// What the thread has worked and waited for a processor, if the node is slow.
    busy: Option<Duration>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(nodes: &'a BlockedNodes, world: &'a World, task: &'a NodeTask) -> Self {
        let slow = nodes.with(|nodes| nodes.contains_key(&task.node));
        Self {
            nodes,
            world,
            task,
            busy: slow.then(busy).flatten(),
            began: Instant::now(),
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        if took < BLOCKED {
            return;
        }
        let node = &self.task.node;
        if took > SLOW {
            self.nodes
                .with(|nodes| *nodes.entry(node.clone()).or_default());
        }
        let (Some(before), Some(after)) = (self.busy, self.busy.and_then(|_| busy())) else {
            return;
        };
        if took.saturating_sub(after.saturating_sub(before)) < BLOCKED {
            return;
        }
        let times = self.nodes.with(|nodes| {
            let times = nodes.entry(node.clone()).or_default();
            *times += 1;
            *times
        });
        if times >= ENOUGH {
            let text = format!(
                "`{node}` blocks its thread: it sleeps by the clock of the machine, or does real I/O; \
                 use `tokio::time`, and a service that stands in for the real one"
            );
            let thread = Some(self.task.thread.as_str());
            self.world
                .violated(Violation::new(Rule::Simulated, thread, text));
        }
    }
}

/// Returns the time for which this thread has run, or waited for a processor: what is left of a measured
/// time, it has slept. Only Linux says it.
fn busy() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let (ran, waited) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(Duration::from_nanos(ran + waited))
}
