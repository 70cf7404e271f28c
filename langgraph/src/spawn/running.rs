//! The running tasks of a superstep.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::Pace;
use super::laps::Laps;
use crate::environment;

/// A task of any state: the runtime's code for tasks is compiled once, not for each state, and moves a pointer.
pub(crate) type BoxedTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Running tasks, by their places; dropping this stops them.
pub(crate) struct Running {
    runtime: Handle,
    /// Present if quick tasks are polled where they are made.
    laps: Option<Laps>,
    tasks: Vec<RunningTask>,
    /// How many there are.
    count: usize,
}

#[derive(Default)]
enum RunningTask {
    /// There is none, or its end is known.
    #[default]
    None,
    /// It has ended where it was made.
    Ended,
    Spawned(JoinHandle<()>),
}

impl Running {
    /// Makes room for so many tasks. In a simulation, all of them take turns, the quick ones too.
    pub(crate) fn with_capacity(runtime: Handle, tasks: usize, polls_quick: bool) -> Self {
        let polls = polls_quick && environment::elapsed().is_none();
        Self {
            runtime,
            laps: polls.then(Laps::begin),
            tasks: Vec::with_capacity(tasks),
            count: 0,
        }
    }

    /// Starts the task at `index`, which is behind those that were started before. If it is expected to end at once,
    /// it is polled here, and moves away only if it waits.
    pub(crate) fn start(&mut self, index: usize, pace: Option<&Pace>, mut task: BoxedTask) {
        let quick = pace.filter(|pace| pace.is_quick());
        let laps = self.laps.as_mut().filter(|laps| laps.goes_on());
        let running = match quick.zip(laps) {
            None => self.spawn(task),
            Some((pace, laps)) => {
                let (ended, took) = laps.lap(|| has_ended(task.as_mut()));
                pace.note(ended.then_some(took));
                if ended {
                    RunningTask::Ended
                } else {
                    self.spawn(task)
                }
            }
        };
        self.tasks.resize_with(index, RunningTask::default);
        self.tasks.push(running);
        self.count += 1;
    }

    fn spawn(&mut self, task: BoxedTask) -> RunningTask {
        if let Some(laps) = &mut self.laps {
            laps.pause();
        }
        RunningTask::Spawned(self.runtime.spawn(task))
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns from when on the time counts that the tasks take that were moved away; `None` if quick tasks are moved,
    /// too.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        self.laps.as_ref().map(Laps::waits_since)
    }

    /// Frees what a task took that has ended.
    pub(crate) fn forget(&mut self, index: usize) {
        if let Some(running) = self.tasks.get_mut(index)
            && !matches!(std::mem::take(running), RunningTask::None)
        {
            self.count -= 1;
        }
    }

    /// Stops all tasks.
    pub(crate) fn stop(&mut self) {
        for running in self.tasks.drain(..) {
            if let RunningTask::Spawned(task) = running {
                task.abort();
            }
        }
    }
}

/// Polls a task once. If it waits, the runtime polls it again, with a waker of its own. One that panics has ended, as
/// in the runtime.
fn has_ended(task: Pin<&mut (dyn Future<Output = ()> + Send)>) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    let polled = catch_unwind(AssertUnwindSafe(|| task.poll(&mut cx)));
    polled.map_or(true, |polled| polled.is_ready())
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;

    fn quick() -> Pace {
        let pace = Pace::default();
        for _ in 0..100 {
            pace.note(Some(Duration::ZERO));
        }
        assert!(pace.is_quick());
        pace
    }

    fn running() -> Running {
        Running::with_capacity(Handle::current(), 3, true)
    }

    /// Sets the flag, after the work.
    fn flag(work: impl Future<Output = ()> + Send + 'static) -> (Arc<AtomicBool>, BoxedTask) {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        let task = async move {
            work.await;
            set.store(true, Ordering::SeqCst);
        };
        (flag, Box::pin(task))
    }

    #[tokio::test]
    async fn a_quick_task_is_polled_where_it_is_made_and_counts_until_its_end_is_known() {
        let (ended, task) = flag(async {});
        let mut running = running();
        running.start(2, Some(&quick()), task);
        assert!(ended.load(Ordering::SeqCst));
        assert!(!running.is_empty());
        running.forget(2);
        assert!(running.is_empty());
    }

    #[tokio::test]
    async fn a_task_that_waits_moves_away_and_its_node_is_less_quick() {
        let pace = quick();
        let mut running = running();
        for index in 0..2 {
            let (go_on, waits) = oneshot::channel::<()>();
            let (ended, ends) = oneshot::channel();
            let task = async move {
                let _ = waits.await;
                let _ = ended.send(());
            };
            running.start(index, Some(&pace), Box::pin(task));
            go_on.send(()).unwrap();
            ends.await.unwrap();
        }
        assert!(!pace.is_quick());
    }

    #[tokio::test]
    async fn the_tasks_after_a_long_one_move_away() {
        let pace = quick();
        let (long, task) = flag(async { std::thread::sleep(Duration::from_millis(1)) });
        let (next, ends) = flag(async {});
        let mut running = running();
        running.start(0, Some(&pace), task);
        running.start(1, Some(&pace), ends);
        assert!(pace.is_quick() && long.load(Ordering::SeqCst));
        assert!(!next.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn a_quick_task_that_panics_ends_alone() {
        let mut running = running();
        let task = async { panic!("of a task") };
        running.start(0, Some(&quick()), Box::pin(task));
        assert!(!running.is_empty());
        running.forget(0);
        assert!(running.is_empty());
    }
}
