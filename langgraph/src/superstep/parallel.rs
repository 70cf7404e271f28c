//! Runs several tasks in parallel, as tasks of the async runtime.

use tokio::runtime::Handle;

use super::engine::Engine;
use super::observer::Observer;
use super::task_set::{Parallel, TaskSetHandle};
use crate::error::{AgentError, NoRuntime};
use crate::state::State;
use crate::task::{Position, TaskResult};

/// The tasks of a superstep that have no result yet, by their indices.
struct OpenTasks<'a> {
    /// Those that were not started.
    waiting: std::slice::Iter<'a, usize>,
    /// Those whose end is stored, if a failure may stop the others.
    recorded: Vec<usize>,
}

/// How the tasks of a superstep run.
struct Rules {
    /// How many run at a time.
    at_once: usize,
    /// True if a failure stops the others.
    fail_fast: bool,
}

impl<S: State> Engine<S> {
    /// Runs the tasks without a known result in parallel, as tasks of the async runtime. Beside them,
    /// the routers of START are asked, whose result is the input.
    pub(super) async fn run_parallel(&mut self) -> Result<(), AgentError> {
        let mut tasks = std::mem::take(&mut self.frontier.tasks);
        for task in &mut tasks {
            if task.node.is_start() {
                task.route_again();
            }
        }
        let mut tasks = Parallel::new(tasks, std::mem::take(&mut self.contexts));
        let open = tasks.open().count();
        let ran = if open == 0 {
            Ok(())
        } else {
            match self.runtime(&mut tasks) {
                Err(missing) => Err(missing.into()),
                Ok(runtime) => self.run_open(&runtime, &mut tasks, open).await,
            }
        };
        self.frontier.tasks = std::mem::take(&mut tasks.tasks);
        self.contexts = std::mem::take(&mut tasks.contexts);
        ran?;
        self.results.extend(tasks.into_results());
        Ok(())
    }

    async fn run_open(
        &mut self,
        runtime: &Handle,
        tasks: &mut Parallel<S>,
        open: usize,
    ) -> Result<(), AgentError> {
        let (plan, shared) = (&self.position.plan, &self.position.scope.shared);
        let at_once = shared.max_concurrency.or(plan.at_once);
        let rules = Rules {
            at_once: at_once.unwrap_or(usize::MAX).max(1),
            fail_fast: plan.fail_fast || shared.fail_fast,
        };
        let each = rules.fail_fast || self.observer.watches(&self.position) || rules.at_once < open;
        let indices: Vec<usize> = tasks.open().collect();
        let position = self.position.clone();
        let mut set = TaskSetHandle::new(position, std::mem::take(tasks), each);
        let ran = if each {
            let observer = &mut self.observer;
            let mut open = OpenTasks {
                waiting: indices.iter(),
                recorded: Vec::new(),
            };
            let position = &self.position;
            let ran = run_each(&mut set, runtime, &mut open, &rules, observer, position).await;
            ran.map_err(|error| (error, open.recorded))
        } else {
            for index in indices {
                set.start(runtime, index);
            }
            Ok(())
        };
        match ran {
            Ok(()) => *tasks = set.finish().await,
            Err((error, mut recorded)) => {
                *tasks = set.stop().await;
                if rules.fail_fast {
                    recorded.sort_unstable();
                    let ended = tasks.finished_but(&recorded);
                    // The failure is more important than an error of the saver.
                    let _ = self.observer.tasks_ended(&self.position, ended).await;
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn runtime(&self, tasks: &mut Parallel<S>) -> Result<Handle, NoRuntime> {
        NoRuntime::handle(|| {
            let open: Vec<usize> = tasks.open().collect();
            let nodes = open.iter().filter_map(|index| tasks.tasks.get(*index));
            let mut names = Vec::new();
            for task in nodes {
                names.push(format!("`{}`", self.position.plan.name(task.node)));
            }
            // A worker may have many tasks.
            names.dedup();
            format!("running {} side by side", names.join(", "))
        })
    }
}

/// Runs tasks whose ends count one by one. Each end is stored and emitted.
async fn run_each<S: State>(
    set: &mut TaskSetHandle<S>,
    runtime: &Handle,
    open: &mut OpenTasks<'_>,
    rules: &Rules,
    observer: &mut Observer<S>,
    position: &Position<S>,
) -> Result<(), AgentError> {
    let mut running = 0;
    loop {
        while running < rules.at_once
            && let Some(index) = open.waiting.next()
        {
            set.start(runtime, *index);
            running += 1;
        }
        if running == 0 {
            return Ok(());
        }
        let Some(index) = set.next_report().await else {
            return Ok(());
        };
        running -= 1;
        // A task without a result counts as failed, when the engine gets the results.
        let Some((task, mut result)) = set.ended(index) else {
            continue;
        };
        if rules.fail_fast {
            open.recorded.push(index);
        }
        observer.note_messages(position, &result);
        let ended = observer.task_ended(position, task, index, &mut result, false);
        ended.await?;
        match result {
            TaskResult::Failed(error) if rules.fail_fast => {
                return Err(position.failure(task.node, error));
            }
            result => set.keep(index, result),
        }
    }
}
