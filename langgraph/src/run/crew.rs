//! The tasks of a superstep that run side by side.

use std::sync::{Arc, OnceLock};

use tokio::task::JoinSet;

use super::ended::{Done, Ended};
use super::execute::run_task;
use super::look::{asks, look};
use super::machine::Machine;
use super::panic::Panicked;
use super::route::check_jump;
use super::task::Task;
use crate::AgentError;
use crate::graph::plan::Plan;
use crate::node::Context;
use crate::state::State;

/// How each task of a superstep ended, in task order; those that have not yet are empty.
pub(super) type Endings<S> = Vec<OnceLock<Ended<S>>>;

/// What the tasks of one superstep share while they run side by side.
struct Together<S: State> {
    plan: Arc<Plan<S>>,
    state: Arc<S>,
    tasks: Vec<Task<S>>,
    /// One for each task.
    contexts: Vec<Context>,
    endings: Endings<S>,
}

/// Runs one of several tasks, and asks its routers: they see the snapshot and this task's own
/// writes, not its siblings'. Returns which task has ended.
// A block and not an async function, whose arguments would take up room twice: tokio moves the
// future of a task several times.
#[allow(clippy::manual_async_fn)]
fn run_one_of<S: State>(
    together: Arc<Together<S>>,
    index: usize,
) -> impl Future<Output = usize> + Send + 'static {
    async move {
        let all = &*together;
        if let (Some(task), Some(cx)) = (all.tasks.get(index), all.contexts.get(index))
            && let Some(ending) = all.endings.get(index)
        {
            let mut ended = match &task.ran {
                Some(done) => Ended::Finished(Done::clone(done)),
                None => run_task(&all.plan, &all.state, cx, task).await,
            };
            if let Ended::Finished(done) = &ended
                && asks(&all.plan, task.node, &done.output.jump)
            {
                // In a box: it holds a state, for which most tasks need no room.
                ended = Box::pin(run_routers(all, cx, task.node, ended)).await;
            }
            // Nobody else writes here.
            let _ = ending.set(ended);
        }
        index
    }
}

/// Asks the routers of a task that has finished.
async fn run_routers<S: State>(
    all: &Together<S>,
    cx: &Context,
    node: usize,
    mut ended: Ended<S>,
) -> Ended<S> {
    if let Ended::Finished(mut done) = ended {
        ended = match look(&all.plan, node, &all.state, &done.output, cx).await {
            Ok(routes) => {
                done.routes = routes;
                Ended::Finished(done)
            }
            Err(unsettled) => unsettled.ended(Some(done)),
        };
    }
    ended
}

impl<S: State> Machine<S> {
    /// Runs `tasks` side by side and returns how each ended.
    ///
    /// Fails at the first failure if that stops the others.
    pub(super) async fn execute(
        &mut self,
        tasks: &mut Vec<Task<S>>,
    ) -> Result<Endings<S>, AgentError> {
        let priors = tasks.iter_mut().map(|task| task.prior.take());
        let mut endings: Endings<S> = priors
            .map(|prior| prior.map_or_else(OnceLock::new, |ended| OnceLock::from(*ended)))
            .collect();
        self.take_up(tasks, &mut endings).await?;
        if self.scope.emitter.is_some() {
            self.tell_several(tasks, &endings).await;
        }
        let contexts = tasks.iter().enumerate();
        let contexts = contexts.map(|(index, task)| self.context_of(index, task));
        let together = Arc::new(Together {
            plan: Arc::clone(&self.plan),
            state: Arc::clone(&self.state),
            contexts: contexts.collect(),
            tasks: std::mem::take(tasks),
            endings,
        });
        let stopped = self.side_by_side(&together).await;
        // Every task has let go of it.
        let endings;
        (*tasks, endings) = match Arc::try_unwrap(together) {
            Ok(together) => (together.tasks, together.endings),
            Err(shared) => shared
                .tasks
                .iter()
                .map(|task| (task.again(), OnceLock::new()))
                .unzip(),
        };
        let failed = match stopped {
            Ok(None) => return Ok(endings),
            Ok(Some(index)) => {
                let node = tasks.get(index).map_or(usize::MAX, |task| task.node);
                match endings
                    .into_iter()
                    .nth(index)
                    .and_then(OnceLock::into_inner)
                {
                    Some(Ended::Failed(error)) => self.failure(node, error),
                    _ => self.failure(node, Panicked::lost().into()),
                }
            }
            Err(error) => return Err(error),
        };
        self.frontier = std::mem::take(tasks);
        Err(failed)
    }

    /// Runs those tasks that have not ended yet. When a failure stops the others, returns which.
    async fn side_by_side(
        &mut self,
        together: &Arc<Together<S>>,
    ) -> Result<Option<usize>, AgentError> {
        let at_once = self
            .scope
            .shared
            .max_concurrency
            .unwrap_or(usize::MAX)
            .max(1);
        let fail_fast = self.plan.fail_fast || self.scope.shared.fail_fast;
        let watched = self.watched();
        let mut running = JoinSet::new();
        let mut next = 0;
        loop {
            while running.len() < at_once
                && let Some(ending) = together.endings.get(next)
            {
                if ending.get().is_none() {
                    running.spawn(run_one_of(Arc::clone(together), next));
                }
                next += 1;
            }
            let Some(joined) = running.join_next().await else {
                return Ok(None);
            };
            // A task catches its own panics and is not aborted before this loop ends, so joining
            // does not fail.
            let Ok(index) = joined else {
                continue;
            };
            let ending = together.endings.get(index).and_then(OnceLock::get);
            let (Some(task), Some(ended)) = (together.tasks.get(index), ending) else {
                continue;
            };
            let failed = matches!(ended, Ended::Failed(_));
            let mut lost = false;
            if watched {
                match self.record_ended(index, task.node, ended).await {
                    // What a node failed with says more than that it could not be stored.
                    Err(_) if failed => lost = true,
                    recorded => recorded?,
                }
                self.tell_ended(task, index, ended).await;
            }
            if failed && (fail_fast || lost) {
                // Waits until they are dropped: nothing goes on behind the error.
                running.shutdown().await;
                return Ok(Some(index));
            }
        }
    }

    /// Tells of the tasks of a superstep: those that start, and what others wrote before.
    async fn tell_several(&self, tasks: &[Task<S>], endings: &[OnceLock<Ended<S>>]) {
        for (task, ended) in tasks.iter().zip(endings) {
            if !matches!(ended.get(), Some(Ended::Asked { .. })) && task.ran.is_none() {
                self.tell_started(task).await;
            }
        }
        for (task, ended) in tasks.iter().zip(endings) {
            if let Some(Ended::Finished(done)) = ended.get() {
                self.tell_kept(task, done).await;
            }
            if let Some(done) = &task.ran {
                self.tell_kept(task, done).await;
            }
        }
    }

    /// START has no code: what it has taken up goes its way.
    async fn take_up(
        &mut self,
        tasks: &[Task<S>],
        endings: &mut [OnceLock<Ended<S>>],
    ) -> Result<(), AgentError> {
        let plan = Arc::clone(&self.plan);
        for (index, (task, slot)) in tasks.iter().zip(endings).enumerate() {
            let Some(Ended::Finished(done)) = slot.get_mut() else {
                continue;
            };
            if !self.is_start(task) {
                continue;
            }
            let mut cx = self.context(task.node);
            cx.set_place(self.recorder.as_ref().and_then(|log| log.place(index)));
            let asked = match check_jump(&plan, task.node, &done.output.jump) {
                Ok(()) => look(&plan, task.node, &self.state, &done.output, &cx).await,
                Err(error) => Err(error.into()),
            };
            match asked {
                Ok(routes) => done.routes = routes,
                Err(unsettled) => {
                    let ended = unsettled.ended(Some(Done::clone(done)));
                    self.record_ended(index, task.node, &ended).await?;
                    self.tell_ended(task, index, &ended).await;
                    *slot = OnceLock::from(ended);
                }
            }
        }
        Ok(())
    }

    /// What one of several tasks is told.
    fn context_of(&self, index: usize, task: &Task<S>) -> Context {
        let mut cx = self.context(task.node);
        cx.set_place(self.recorder.as_ref().and_then(|log| log.place(index)));
        self.remind(&mut cx, index, task);
        cx
    }
}
