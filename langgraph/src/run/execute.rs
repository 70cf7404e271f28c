//! Running the tasks of a superstep.

use std::sync::{Arc, OnceLock};

use tokio::task::JoinSet;

use super::commit::merge;
use super::machine::{Machine, Task};
use super::panic::{Panicked, catch};
use super::route::{ask, check_jump};
use crate::AgentError;
use crate::error::InvalidUpdate;
use crate::graph::plan::{Plan, Routes};
use crate::node::{Argument, Call, Context, Jump, NodeError, Output, Questions, Write, Writes};
use crate::state::State;

/// How a task ended.
pub(super) enum Ended<S: State> {
    Finished(Done<S>),
    /// It waits for an answer.
    Asked {
        questions: Questions,
        /// What the node did, when it is its routers that wait: it does not run again.
        ran: Option<Done<S>>,
        /// What is wrong with the answer that it has got.
        refused: Option<NodeError>,
    },
    Failed(NodeError),
}

/// Why a node or a router has no answer yet.
pub(super) enum Unsettled {
    Asked(Questions, Option<NodeError>),
    Failed(NodeError),
}

impl From<NodeError> for Unsettled {
    fn from(error: NodeError) -> Self {
        Self::Failed(error)
    }
}

impl Unsettled {
    /// How the task ended whose node did `ran`.
    pub(super) fn ended<S: State>(self, ran: Option<Done<S>>) -> Ended<S> {
        match self {
            Self::Asked(questions, refused) => Ended::Asked {
                questions,
                ran,
                refused,
            },
            Self::Failed(error) => Ended::Failed(error),
        }
    }
}

/// What a task did.
pub(super) struct Done<S: State> {
    pub(super) output: Output<S>,
    /// What its routers answered, when they were asked before the commit.
    pub(super) routes: Vec<Routes<S>>,
    /// True when the node did not run, because its cache had the answer.
    pub(super) cached: bool,
}

impl<S: State> Done<S> {
    pub(super) const fn new(output: Output<S>) -> Self {
        Self {
            output,
            routes: Vec::new(),
            cached: false,
        }
    }
}

impl<S: State> Clone for Done<S> {
    fn clone(&self) -> Self {
        Self {
            output: self.output.clone(),
            routes: self.routes.clone(),
            cached: self.cached,
        }
    }
}

/// Runs one task to its output. Its routers are not asked yet.
// A block for the same reason as in `run_one_of`.
#[allow(clippy::manual_async_fn)]
pub(super) fn run_task<'a, S: State>(
    plan: &'a Plan<S>,
    state: &'a S,
    cx: &'a Context,
    task: &'a Task<S>,
) -> impl Future<Output = Ended<S>> + Send + 'a {
    async move {
        let Some(node) = plan.nodes.get(task.node) else {
            return Ended::Failed(NodeError::msg("there is no such node"));
        };
        let result = catch(|| node.step.call(call(state, cx, task))).await;
        match judge(state, cx, result) {
            Ended::Finished(done) => match check_jump(plan, task.node, &done.output.jump) {
                Ok(()) => Ended::Finished(done),
                Err(error) => Ended::Failed(error),
            },
            ended => ended,
        }
    }
}

/// What the node of a task is started with.
fn call<'a, S: State>(state: &'a S, cx: &'a Context, task: &'a Task<S>) -> Call<'a, S> {
    let (state, item) = match &task.argument {
        None => (state, None),
        Some(Argument::Item(item)) => (state, Some(&**item)),
        Some(Argument::State(sent)) => (&**sent, None),
    };
    Call { state, item, cx }
}

/// What a task's answer means, with the questions it has asked.
pub(super) fn judge<S: State>(
    state: &S,
    cx: &Context,
    result: Result<Output<S>, NodeError>,
) -> Ended<S> {
    match settle(result, cx) {
        Ok(mut output) => {
            prepare(state, &mut output.writes);
            Ended::Finished(Done {
                output,
                routes: Vec::new(),
                cached: cx.is_from_cache(),
            })
        }
        Err(unsettled) => unsettled.ended(None),
    }
}

/// An answer is one only when no question is open.
#[allow(clippy::result_large_err)] // moved once, where a task ends
pub(super) fn settle<T>(result: Result<T, NodeError>, cx: &Context) -> Result<T, Unsettled> {
    match (result, cx.take_questions()) {
        (Ok(answer), None) => Ok(answer),
        (Ok(_), Some(questions)) => {
            let key = questions.own.map_or_else(
                || "a graph inside".to_owned(),
                |question| format!("`{}`", question.key),
            );
            Err(Unsettled::Failed(NodeError::msg(format!(
                "went on without the answer to {key}; pass the error on with `?`"
            ))))
        }
        (Err(_), Some(questions)) => Err(Unsettled::Asked(questions, cx.take_refused())),
        (Err(error), None) => Err(Unsettled::Failed(error)),
    }
}

/// Fixes whatever is random in writes, before anybody stores or merges them.
pub(super) fn prepare<S: State>(state: &S, writes: &mut Writes<S>) {
    for write in writes.as_mut_slice() {
        if let Write::Update(update) | Write::Overwrite(update) = write {
            state.prepare(update);
        }
    }
}

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

/// True when the routers of a node that answered so are asked.
pub(super) fn asks<S: State>(plan: &Plan<S>, node: usize, jump: &Jump<S>) -> bool {
    !plan.outgoing(node).routers.is_empty() && follows_edges(jump)
}

pub(super) fn follows_edges<S: State>(jump: &Jump<S>) -> bool {
    match jump {
        Jump::Edges => true,
        Jump::To(to) => to.edges,
        Jump::End | Jump::Parent(_) => false,
    }
}

/// Asks the routers of a node, whose own writes they see.
pub(super) async fn look<S: State>(
    plan: &Plan<S>,
    node: usize,
    state: &S,
    output: &Output<S>,
    cx: &Context,
) -> Result<Vec<Routes<S>>, Unsettled> {
    if !asks(plan, node, &output.jump) {
        return Ok(Vec::new());
    }
    let view = preview(plan, node, state, &output.writes)
        .map_err(|error| NodeError::from_agent(error.into()))?;
    ask(plan, node, &view, cx).await
}

/// The state as the routers of one of several tasks see it.
fn preview<S: State>(
    plan: &Plan<S>,
    node: usize,
    state: &S,
    writes: &Writes<S>,
) -> Result<S, InvalidUpdate> {
    let mut view = state.clone();
    for write in writes.as_slice() {
        match write {
            Write::Update(update) => merge(plan, node, &mut view, update.clone())?,
            Write::Overwrite(update) => view.overwrite(update.clone()),
            Write::State(state) => view.clone_from(state),
        }
    }
    Ok(view)
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
