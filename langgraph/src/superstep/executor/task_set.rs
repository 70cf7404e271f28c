//! The parallel tasks of a superstep: one allocation, which each task holds while it runs.
//!
//! The last task to finish sends the set back to the superstep. So the engine wakes up only after
//! all have ended, and by then nothing else shares the state. Tasks report one by one only where
//! each end counts: because it is emitted or stored, or because it stops the others.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::running::{Reporter, Reports, Running, reports};
use super::slot::TaskSlot;
use crate::graph::plan::Plan;
use crate::node::{NodeError, NodeRun, Output, catch};
use crate::state::State;
use crate::superstep::route::asks_routers;
use crate::superstep::router_view::ask_on_view;
use crate::superstep::span::Span;
use crate::superstep::task_result::{Finished, TaskResult, classify};

/// The tasks of a superstep, and what they share.
pub(super) struct TaskSet<S: State> {
    pub(super) plan: Arc<Plan<S>>,
    pub(super) state: Arc<S>,
    pub(super) slots: Vec<TaskSlot<S>>,
    /// Reports the end of each task, if they count one by one.
    reports: Option<Reporter>,
    /// Returns the whole set from the last task.
    done_tx: oneshot::Sender<Vec<TaskSlot<S>>>,
}

/// The superstep's handle of its tasks. Dropping it stops the running ones.
pub(super) struct TaskSetHandle<S: State> {
    set: Arc<TaskSet<S>>,
    running: Running,
    reports: Option<Reports>,
    done_rx: oneshot::Receiver<Vec<TaskSlot<S>>>,
}

impl<S: State> TaskSetHandle<S> {
    /// Creates a set without running tasks. Tasks report one by one if `each` is set.
    pub(super) fn new(
        plan: &Arc<Plan<S>>,
        state: &Arc<S>,
        slots: Vec<TaskSlot<S>>,
        each: bool,
    ) -> Self {
        let (done_tx, done_rx) = oneshot::channel();
        let (reporter, reports) = each.then(reports).unzip();
        Self {
            running: Running::with_capacity(slots.len()),
            set: Arc::new(TaskSet {
                plan: Arc::clone(plan),
                state: Arc::clone(state),
                slots,
                reports: reporter,
                done_tx,
            }),
            reports,
            done_rx,
        }
    }

    /// Starts the task at `index`, which is behind those that were started before.
    pub(super) fn start(&mut self, runtime: &Handle, index: usize) {
        let place = Place {
            set: Some(Arc::clone(&self.set)),
            index,
        };
        // A task of the runtime has no span of its own.
        let task = leaving(place, Span::current());
        self.running.add(index, runtime.spawn(task));
    }

    /// Starts all tasks without a known result.
    pub(super) fn start_all(&mut self, runtime: &Handle) {
        for index in 0..self.set.slots.len() {
            if self.set.slots.get(index).is_some_and(|slot| !slot.known) {
                self.start(runtime, index);
            }
        }
    }

    /// Returns the task at `index` and its result, if it has left one.
    pub(super) fn ended(&self, index: usize) -> Option<(&TaskSlot<S>, TaskResult<S>)> {
        let slot = self.set.slots.get(index)?;
        Some((slot, slot.take_result()?))
    }

    /// Returns the next task that has ended, and frees what it took to run it.
    pub(super) async fn next_report(&mut self) -> Option<usize> {
        let reports = self.reports.as_mut()?;
        let index = poll_fn(|cx| reports.poll_next(cx)).await?;
        self.running.forget(index);
        Some(index)
    }

    /// Stops the running tasks, and waits for them: nothing continues after an error.
    pub(super) async fn stop(mut self) -> Vec<TaskSlot<S>> {
        self.running.stop();
        self.finish().await
    }

    /// Waits for all tasks.
    pub(super) async fn finish(self) -> Vec<TaskSlot<S>> {
        let Self {
            set,
            mut running,
            done_rx,
            ..
        } = self;
        let slots = match Arc::into_inner(set) {
            Some(set) => set.slots,
            // The last task sends the set, even if the runtime has dropped that task.
            None => done_rx.await.unwrap_or_default(),
        };
        // They have ended: there is nothing to stop.
        running.forget_all();
        slots
    }
}

/// A task's place in its set; dropping it leaves the set.
struct Place<S: State> {
    /// Present until the drop.
    set: Option<Arc<TaskSet<S>>>,
    index: usize,
}

impl<S: State> Drop for Place<S> {
    fn drop(&mut self) {
        let Some(set) = self.set.take() else {
            return;
        };
        if let Some(reports) = &set.reports {
            reports.report(self.index);
        }
        if let Some(set) = Arc::into_inner(set) {
            let TaskSet {
                state,
                slots,
                done_tx,
                ..
            } = set;
            // Before the superstep continues, because it changes the state in place.
            drop(state);
            let _ = done_tx.send(slots);
        }
    }
}

/// Runs a task in the span, and lets go of the span before it leaves the set: when the run ends, its
/// spans are closed.
// A block and not an async function, whose argument would take up space twice. Little is held
// across an `.await`: tokio moves the future of a task ten times.
#[allow(clippy::manual_async_fn)]
fn leaving<S: State>(place: Place<S>, span: Span) -> impl Future<Output = ()> + Send + 'static {
    async move {
        span.around(work(&place)).await;
        drop(place);
    }
}

/// Runs one of several tasks, and its routers, which see the snapshot with this task's writes but
/// not its siblings'.
async fn work<S: State>(place: &Place<S>) {
    let Some((set, slot)) = place.slot() else {
        return;
    };
    let routers = match slot.task.ran() {
        Some(done) => set.ended(slot, TaskResult::Finished(Finished::clone(done))),
        None => set.answered(slot, catch(|| set.start(slot)).await),
    };
    if let Some(routers) = routers {
        routers.await;
    }
}

impl<S: State> Place<S> {
    fn slot(&self) -> Option<(&TaskSet<S>, &TaskSlot<S>)> {
        let set = self.set.as_deref()?;
        Some((set, set.slots.get(self.index)?))
    }
}

/// Running routers, which then record the task's result.
type Asking<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

impl<S: State> TaskSet<S> {
    /// Starts the node of a task.
    fn start<'a>(&'a self, slot: &'a TaskSlot<S>) -> NodeRun<'a, S> {
        match self.plan.node(slot.task.node) {
            Some(node) => node.step.call(slot.task.call(&self.state, &slot.cx)),
            None => NodeRun::ready(Err::<Output<S>, _>(NodeError::msg("there is no such node"))),
        }
    }

    /// Handles a node's output.
    fn answered<'a>(
        &'a self,
        slot: &'a TaskSlot<S>,
        answer: Result<Output<S>, NodeError>,
    ) -> Option<Asking<'a>> {
        let ended = classify(&self.plan, slot.task.node, &*self.state, &slot.cx, answer);
        self.ended(slot, ended)
    }

    /// Records a task's result, or calls its routers if it has any.
    fn ended<'a>(&'a self, slot: &'a TaskSlot<S>, ended: TaskResult<S>) -> Option<Asking<'a>> {
        let node = slot.task.node;
        match ended {
            TaskResult::Finished(mut done)
                if asks_routers(&self.plan, node, &done.output.jump)
                    && !slot.task.is_item_of(&self.plan) =>
            {
                Some(Box::pin(async move {
                    let asked =
                        ask_on_view(&self.plan, node, &self.state, &done.output, &slot.cx).await;
                    slot.set_result(match asked {
                        Ok(routes) => {
                            done.routes = routes;
                            TaskResult::Finished(done)
                        }
                        Err(ended) => ended.after(Some(done)),
                    });
                }))
            }
            ended => {
                slot.set_result(ended);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_future_of_a_task_is_moved_in_a_few_instructions() {
        let place = Place::<i64> {
            set: None,
            index: 0,
        };
        let spans = size_of::<Span>();
        let size = size_of_val(&leaving(place, Span::none())) - 2 * spans;
        assert!(size <= 112, "{size} bytes, which tokio moves ten times");
    }
}
