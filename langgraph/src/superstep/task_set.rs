//! The parallel tasks of a superstep: one allocation, which each task holds while it runs.
//!
//! The last task to end sends the set back to the superstep. So the engine wakes up only after all
//! have ended, and by then no other task shares the state. They report one by one only where each
//! end counts: because it is emitted or stored, or because it stops the others.

use std::sync::Arc;
use std::time::Instant;

use langgraph_core::Lock;
use tokio::sync::{mpsc, oneshot};

use crate::checkpoint::Few;
use crate::error::Panicked;
use crate::node::Context;
use crate::span::Span;
use crate::spawn::{BoxedTask, Running};
use crate::state::State;
use crate::task::{Position, Task, TaskResult, route_on_view, routes_on_view, run_task};

/// The tasks of a superstep with their contexts and results, each list in their order.
pub(super) struct Parallel<S: State> {
    pub(super) tasks: Vec<Task<S>>,
    pub(super) contexts: Few<Context>,
    /// The lock never blocks: a task locks its result once, at its end.
    results: Vec<Lock<Option<TaskResult<S>>>>,
}

impl_default!([S: State] Parallel<S> { tasks, contexts, results });

impl<S: State> Parallel<S> {
    /// Takes the results that are known already from the tasks.
    pub(super) fn new(mut tasks: Vec<Task<S>>, contexts: Few<Context>) -> Self {
        let known = tasks.iter_mut().map(|task| Lock::new(task.take_result()));
        Self {
            results: known.collect(),
            tasks,
            contexts,
        }
    }

    /// Returns the indices of the tasks without a result.
    pub(super) fn open(&mut self) -> Vec<usize> {
        let results = self.results.iter_mut().enumerate();
        let open =
            results.filter_map(|(index, result)| result.get_mut().is_none().then_some(index));
        open.collect()
    }

    /// Returns the results. A task without one was dropped by the async runtime.
    pub(super) fn into_results(self) -> impl Iterator<Item = TaskResult<S>> {
        self.results.into_iter().map(|result| {
            let result = result.into_inner();
            result.unwrap_or_else(|| TaskResult::Failed(Panicked::lost().into()))
        })
    }

    /// Returns the task at `index` and takes its result, if it has left one.
    pub(super) fn take_result(&self, index: usize) -> Option<(&Task<S>, TaskResult<S>)> {
        let result = self.results.get(index)?.lock().take()?;
        Some((self.tasks.get(index)?, result))
    }

    pub(super) fn set_result(&self, index: usize, ended: TaskResult<S>) {
        if let Some(result) = self.results.get(index) {
            *result.lock() = Some(ended);
        }
    }
}

/// What running tasks share.
struct TaskSet<S: State> {
    position: Position<S>,
    tasks: Parallel<S>,
    /// Receives the index of each task that has ended, if they count one by one.
    reports: Option<mpsc::UnboundedSender<usize>>,
    /// Returns the tasks from the last of them.
    done_tx: oneshot::Sender<Parallel<S>>,
}

/// The superstep's handle of its tasks. Dropping it stops the running ones.
pub(super) struct TaskSetHandle<S: State> {
    set: Arc<TaskSet<S>>,
    running: Running,
    reports: Option<mpsc::UnboundedReceiver<usize>>,
    done_rx: oneshot::Receiver<Parallel<S>>,
}

impl<S: State> TaskSetHandle<S> {
    /// Creates a set whose tasks are to run. They report one by one if `each` is set.
    pub(super) fn new(
        position: Position<S>,
        tasks: Parallel<S>,
        each: bool,
        running: Running,
    ) -> Self {
        let (done_tx, done_rx) = oneshot::channel();
        let (reporter, reports) = each.then(mpsc::unbounded_channel).unzip();
        Self {
            running,
            set: Arc::new(TaskSet {
                position,
                tasks,
                reports: reporter,
                done_tx,
            }),
            reports,
            done_rx,
        }
    }

    /// Starts the task at `index`, which comes after those that were started before.
    pub(super) fn start(&mut self, index: usize) {
        let member = Member {
            set: Some(Arc::clone(&self.set)),
            index,
        };
        // A task of the runtime has no span of its own.
        let task = run_member(member, Span::current());
        let node = self.set.tasks.tasks.get(index).map(|task| task.node);
        let pace = node.and_then(|node| self.set.position.plan.pace(node));
        self.running.start(index, pace, task);
    }

    /// As [`Running::waits_since`].
    pub(super) fn waits_since(&self) -> Option<Instant> {
        self.running.waits_since()
    }

    pub(super) fn tasks(&self) -> &Parallel<S> {
        &self.set.tasks
    }

    /// Returns the next task that has ended, and frees what it took to run it; `None` if none runs, or none is
    /// reported.
    pub(super) async fn next_report(&mut self) -> Option<usize> {
        if self.running.is_empty() {
            return None;
        }
        let index = self.reports.as_mut()?.recv().await?;
        self.running.forget(index);
        Some(index)
    }

    /// Stops the running tasks, and waits for them: nothing continues after an error. Returns the reports that were
    /// not read, too.
    pub(super) async fn stop(mut self) -> (Parallel<S>, Vec<usize>) {
        self.running.stop();
        let reports = self.reports.take();
        let tasks = self.finish().await;
        let unread =
            reports.map(|mut reports| std::iter::from_fn(|| reports.try_recv().ok()).collect());
        (tasks, unread.unwrap_or_default())
    }

    /// Waits for all tasks.
    pub(super) async fn finish(self) -> Parallel<S> {
        // Dropped after the last task has ended.
        let _running = self.running;
        match Arc::into_inner(self.set) {
            Some(set) => set.tasks,
            // The last task sends them, even if the runtime has dropped that task.
            None => self.done_rx.await.unwrap_or_default(),
        }
    }
}

/// A running task's hold of its set; dropping it leaves the set.
struct Member<S: State> {
    /// Present until the drop.
    set: Option<Arc<TaskSet<S>>>,
    index: usize,
}

impl<S: State> Drop for Member<S> {
    fn drop(&mut self) {
        let Some(set) = self.set.take() else {
            return;
        };
        if let Some(reports) = &set.reports {
            // The report is not read after the run has been dropped.
            let _ = reports.send(self.index);
        }
        if let Some(set) = Arc::into_inner(set) {
            let TaskSet {
                position,
                tasks,
                done_tx,
                ..
            } = set;
            // Before the superstep continues, because it changes the state in place.
            drop(position);
            let _ = done_tx.send(tasks);
        }
    }
}

/// Runs a task in the span, and drops the span before it leaves the set: when the run ends, its
/// spans are closed.
fn run_member<S: State>(member: Member<S>, span: Span) -> BoxedTask {
    Box::pin(async move {
        span.around(member.run()).await;
        drop(member);
    })
}

impl<S: State> Member<S> {
    async fn run(&self) {
        let Some(set) = self.set.as_deref() else {
            return;
        };
        let (Some(task), Some(cx)) = (
            set.tasks.tasks.get(self.index),
            set.tasks.contexts.get(self.index),
        ) else {
            return;
        };
        let result = run_task(&set.position, task, cx).await;
        let result = match result {
            TaskResult::Finished(done) if routes_on_view(&set.position.plan, task, &done) => {
                Box::pin(route_on_view(&set.position, task.node, cx, done)).await
            }
            result => result,
        };
        set.tasks.set_result(self.index, result);
    }
}
