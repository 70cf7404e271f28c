//! Runs several tasks in parallel, as tasks of the async runtime.

use tokio::runtime::Handle;

use super::task_set::TaskSetHandle;
use super::{Executor, Stopped, TaskSlot};
use crate::error::NoRuntime;
use crate::graph::plan::Plan;
use crate::state::State;
use crate::superstep::log::Observer;
use crate::superstep::moment::Moment;
use crate::superstep::route::check_jump;
use crate::superstep::router_view::ask_on_view;
use crate::superstep::task_result::{Finished, TaskResult};

/// Runs the tasks of a superstep in parallel. Each task calls its routers, which see the snapshot
/// with the writes of that task.
pub(in crate::superstep) struct Parallel;

impl<S: State> Executor<S> for Parallel {
    async fn run(
        &self,
        at: &Moment<'_, S>,
        slots: Vec<TaskSlot<S>>,
        observer: &mut Observer<S>,
    ) -> Result<Vec<TaskSlot<S>>, Stopped<S>> {
        let slots = route_start(at, slots, observer).await?;
        let open = slots.iter().filter(|slot| !slot.known).count();
        if open == 0 {
            return Ok(slots);
        }
        let shared = &at.scope.shared;
        let at_once = shared.max_concurrency.or(at.plan.at_once);
        let at_once = at_once.unwrap_or(usize::MAX);
        let fail_fast = at.plan.fail_fast || shared.fail_fast;
        let runtime =
            match NoRuntime::handle(|| format!("running {} side by side", names(at, &slots))) {
                Ok(runtime) => runtime,
                Err(missing) => {
                    let error = missing.into();
                    return Err(Stopped { slots, error });
                }
            };
        if fail_fast || observer.watches(at) || at_once < open {
            let at_once = at_once.max(1);
            return run_each(at, slots, observer, &runtime, at_once, fail_fast).await;
        }
        let mut set = TaskSetHandle::new(at.plan, at.state, slots, false);
        set.start_all(&runtime);
        Ok(set.finish().await)
    }
}

/// Runs tasks whose ends count one by one: at most `at_once` at a time. Each end is emitted and
/// stored; a failure stops all.
async fn run_each<S: State>(
    at: &Moment<'_, S>,
    slots: Vec<TaskSlot<S>>,
    observer: &mut Observer<S>,
    runtime: &Handle,
    at_once: usize,
    fail_fast: bool,
) -> Result<Vec<TaskSlot<S>>, Stopped<S>> {
    let mut open = Vec::with_capacity(slots.len());
    for (index, slot) in slots.iter().enumerate() {
        if !slot.known {
            open.push(index);
        }
    }
    let mut open = open.into_iter();
    let mut set = TaskSetHandle::new(at.plan, at.state, slots, true);
    let mut running = 0;
    loop {
        while running < at_once
            && let Some(index) = open.next()
        {
            set.start(runtime, index);
            running += 1;
        }
        if running == 0 {
            return Ok(set.finish().await);
        }
        let Some(index) = set.next_report().await else {
            return Ok(set.finish().await);
        };
        running -= 1;
        // The engine handles a task without a result, when it gets the set back.
        let Some((slot, result)) = set.ended(index) else {
            continue;
        };
        let stored = observer
            .task_ended(at, &slot.task, index, &result, false)
            .await;
        let node = slot.task.node;
        match (result, stored) {
            // The error of a failed node is more important than an error of storing it.
            (TaskResult::Failed(error), stored) if fail_fast || stored.is_err() => {
                let slots = set.stop().await;
                let error = at.failure(node, error);
                return Err(Stopped { slots, error });
            }
            (_, Err(error)) => {
                let slots = set.stop().await;
                return Err(Stopped { slots, error });
            }
            (result, Ok(())) => slot.set_result(result),
        }
    }
}

/// Calls the routers of START, whose input exists already, before its siblings run.
async fn route_start<S: State>(
    at: &Moment<'_, S>,
    slots: Vec<TaskSlot<S>>,
    observer: &mut Observer<S>,
) -> Result<Vec<TaskSlot<S>>, Stopped<S>> {
    let plan: &Plan<S> = at.plan;
    for (index, slot) in slots.iter().enumerate() {
        let node = slot.task.node;
        if !node.is_start() {
            continue;
        }
        let mut done = match slot.take_result() {
            Some(TaskResult::Finished(done)) => done,
            Some(other) => {
                slot.set_result(other);
                continue;
            }
            None => continue,
        };
        let asked = match check_jump(plan, node, &done.output.jump) {
            Ok(()) => ask_on_view(plan, node, &**at.state, &done.output, &slot.cx).await,
            Err(error) => Err(error.into()),
        };
        match asked {
            Ok(routes) => {
                done.routes = routes;
                slot.set_result(TaskResult::Finished(done));
            }
            Err(ended) => {
                let result = ended.after(Some(Finished::clone(&done)));
                let stored = observer
                    .task_ended(at, &slot.task, index, &result, false)
                    .await;
                slot.set_result(result);
                if let Err(error) = stored {
                    return Err(Stopped { slots, error });
                }
            }
        }
    }
    Ok(slots)
}

fn names<S: State>(at: &Moment<'_, S>, slots: &[TaskSlot<S>]) -> String {
    let mut names = Vec::new();
    for slot in slots {
        if !slot.known {
            names.push(format!("`{}`", at.plan.name(slot.task.node)));
        }
    }
    // A worker may have many tasks.
    names.dedup();
    names.join(", ")
}
