//! Runs several tasks in parallel.

use tokio::runtime::Handle;

use super::engine::Engine;
use super::observer::Observer;
use super::task_set::{Parallel, TaskSetHandle};
use crate::error::{AgentError, NoRuntime};
use crate::spawn::{Pace, Running};
use crate::state::State;
use crate::task::{Position, Task, TaskResult};

impl<S: State> Engine<S> {
    /// Runs the tasks without a known result in parallel, beside the routers of START, whose result is the input.
    pub(super) async fn run_parallel(&mut self) -> Result<(), AgentError> {
        for task in &mut self.frontier.tasks {
            if task.node.is_start() {
                task.route_again();
            }
        }
        let tasks = std::mem::take(&mut self.frontier.tasks);
        let mut tasks = Parallel::new(tasks, std::mem::take(&mut self.contexts));
        let open = tasks.open();
        let ran = if open.is_empty() {
            Ok(())
        } else {
            self.run_open(&mut tasks, open).await
        };
        self.frontier.tasks = std::mem::take(&mut tasks.tasks);
        self.contexts = std::mem::take(&mut tasks.contexts);
        ran?;
        self.results.extend(tasks.into_results());
        Ok(())
    }

    async fn run_open(
        &mut self,
        tasks: &mut Parallel<S>,
        open: Vec<usize>,
    ) -> Result<(), AgentError> {
        let runtime = self.runtime(tasks, &open)?;
        let (plan, shared) = (&self.position.plan, &self.position.scope.shared);
        let at_once = shared.max_concurrency.or(plan.at_once);
        let at_once = at_once.unwrap_or(usize::MAX).max(1);
        let fail_fast = plan.fail_fast || shared.fail_fast;
        let (observer, position) = (&mut self.observer, &self.position);
        let each = fail_fast || observer.watches(position) || at_once < open.len();
        let running = Running::with_capacity(runtime, tasks.tasks.len(), !fail_fast);
        let mut set = TaskSetHandle::new(position.clone(), std::mem::take(tasks), each, running);
        let mut waiting = open.into_iter();
        for index in waiting.by_ref().take(at_once) {
            set.start(index);
        }
        let start_next = |set: &mut TaskSetHandle<S>| {
            if let Some(index) = waiting.next() {
                set.start(index);
            }
        };
        let ran = run_each(&mut set, start_next, fail_fast, observer, position).await;
        let Err(error) = ran else {
            let began = set.waits_since();
            *tasks = set.finish().await;
            if let Some(began) = began {
                let nodes = tasks.tasks.iter().map(|task| task.node);
                Pace::note_moved(nodes.filter_map(|node| plan.pace(node)), began.elapsed());
            }
            return Ok(());
        };
        let unread;
        (*tasks, unread) = set.stop().await;
        for index in unread {
            if let Some((task, mut result)) = tasks.take_result(index)
                && fail_fast
                && matches!(result, TaskResult::Finished(_))
            {
                observer.note_messages(position, &result);
                let ended = observer.task_ended(position, task, index, &mut result, false);
                // The failure is more important than an error of the saver.
                let _ = ended.await;
            }
        }
        Err(error)
    }

    fn runtime(&self, tasks: &Parallel<S>, open: &[usize]) -> Result<Handle, NoRuntime> {
        NoRuntime::handle(|| {
            let open = open.iter().filter_map(|index| tasks.tasks.get(*index));
            let name = |task: &Task<S>| format!("`{}`", self.position.plan.name(task.node));
            let mut names: Vec<_> = open.map(name).collect();
            // A worker may have many tasks.
            names.dedup();
            format!("running {} side by side", names.join(", "))
        })
    }
}

/// Stores and emits the ends of tasks one by one, if they are reported, and starts a task after each.
async fn run_each<S: State>(
    set: &mut TaskSetHandle<S>,
    mut start_next: impl FnMut(&mut TaskSetHandle<S>),
    fail_fast: bool,
    observer: &mut Observer<S>,
    position: &Position<S>,
) -> Result<(), AgentError> {
    while let Some(index) = set.next_report().await {
        // A task without a result counts as failed, when the engine gets the results.
        if let Some((task, mut result)) = set.tasks().take_result(index) {
            observer.note_messages(position, &result);
            let ended = observer.task_ended(position, task, index, &mut result, false);
            ended.await?;
            match result {
                TaskResult::Failed(error) if fail_fast => {
                    return Err(position.failure(task.node, error));
                }
                result => set.tasks().set_result(index, result),
            }
        }
        start_next(set);
    }
    Ok(())
}
