//! Running the tasks of a superstep.

use std::sync::Arc;

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
    },
    Failed(NodeError),
}

/// Why a node or a router has no answer yet.
pub(super) enum Unsettled {
    Asked(Questions),
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
            Self::Asked(questions) => Ended::Asked { questions, ran },
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
pub(super) async fn run_task<S: State>(
    plan: &Plan<S>,
    state: &S,
    cx: &Context,
    task: &Task<S>,
) -> Ended<S> {
    let Some(node) = plan.nodes.get(task.node) else {
        return Ended::Failed(NodeError::msg("there is no such node"));
    };
    let call = match &task.argument {
        None => Call {
            state,
            item: None,
            cx,
        },
        Some(Argument::Item(item)) => Call {
            state,
            item: Some(&**item),
            cx,
        },
        Some(Argument::State(sent)) => Call {
            state: &**sent,
            item: None,
            cx,
        },
    };
    let result = catch(|| node.step.call(call)).await;
    match judge(state, cx, result) {
        Ended::Finished(done) => match check_jump(plan, task.node, &done.output.jump) {
            Ok(()) => Ended::Finished(done),
            Err(error) => Ended::Failed(error),
        },
        ended => ended,
    }
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
        (Err(_), Some(questions)) => Err(Unsettled::Asked(questions)),
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

/// Runs one of several tasks, and asks its routers: they see the snapshot and this task's own
/// writes, not its siblings'.
async fn run_with_routers<S: State>(
    plan: &Plan<S>,
    state: &S,
    cx: &Context,
    task: &Task<S>,
) -> Ended<S> {
    let ended = match &task.ran {
        Some(done) => Ended::Finished(Done::clone(done)),
        None => run_task(plan, state, cx, task).await,
    };
    let Ended::Finished(mut done) = ended else {
        return ended;
    };
    match look(plan, task.node, state, &done.output, cx).await {
        Ok(routes) => {
            done.routes = routes;
            Ended::Finished(done)
        }
        Err(unsettled) => unsettled.ended(Some(done)),
    }
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
    /// Runs `tasks` side by side and returns how each ended, in task order.
    ///
    /// Fails at the first failure if that stops the others.
    pub(super) async fn execute(
        &mut self,
        tasks: &mut Vec<Task<S>>,
    ) -> Result<Vec<Ended<S>>, AgentError> {
        let mut ended: Vec<Option<Ended<S>>> = tasks
            .iter_mut()
            .map(|task| task.prior.take().map(|ended| *ended))
            .collect();
        self.take_up(tasks, &mut ended).await?;
        let mut waiting: Vec<(usize, Task<S>)> = Vec::new();
        for (index, (task, ended)) in tasks.iter().zip(&ended).enumerate() {
            if ended.is_none() {
                let mut copy = Task::by_edge(task.node);
                copy.argument.clone_from(&task.argument);
                copy.answers.clone_from(&task.answers);
                copy.ran.clone_from(&task.ran);
                waiting.push((index, copy));
            }
            if !matches!(ended, Some(Ended::Asked { .. })) && task.ran.is_none() {
                self.tell_started(task).await;
            }
        }
        for (task, ended) in tasks.iter().zip(&ended) {
            if let Some(Ended::Finished(done)) = ended {
                self.tell_kept(task, done).await;
            }
            if let Some(done) = &task.ran {
                self.tell_kept(task, done).await;
            }
        }
        let at_once = self
            .scope
            .shared
            .max_concurrency
            .unwrap_or(usize::MAX)
            .max(1);
        let mut waiting = waiting.into_iter();
        let mut running = JoinSet::new();
        for (index, task) in waiting.by_ref().take(at_once) {
            running.spawn(self.task(index, task));
        }
        let fail_fast = self.plan.fail_fast || self.scope.shared.fail_fast;
        while let Some(joined) = running.join_next().await {
            // A task catches its own panics and is not aborted before this loop ends, so joining
            // does not fail.
            if let Ok((index, result)) = joined {
                let node = tasks.get(index).map_or(usize::MAX, |task| task.node);
                self.record_ended(index, node, &result).await?;
                if let Some(task) = tasks.get(index) {
                    self.tell_ended(task, index, &result).await;
                }
                match result {
                    Ended::Failed(error) if fail_fast => {
                        // Waits until they are dropped: nothing goes on behind the error.
                        running.shutdown().await;
                        self.frontier = std::mem::take(tasks);
                        return Err(self.failure(node, error));
                    }
                    result => {
                        if let Some(slot) = ended.get_mut(index) {
                            *slot = Some(result);
                        }
                    }
                }
            }
            if let Some((index, task)) = waiting.next() {
                running.spawn(self.task(index, task));
            }
        }
        let lost = || Ended::Failed(Panicked::lost().into());
        Ok(ended
            .into_iter()
            .map(|ended| ended.unwrap_or_else(lost))
            .collect())
    }

    /// START has no code: what it has taken up goes its way.
    async fn take_up(
        &mut self,
        tasks: &[Task<S>],
        ended: &mut [Option<Ended<S>>],
    ) -> Result<(), AgentError> {
        let plan = Arc::clone(&self.plan);
        for (index, (task, slot)) in tasks.iter().zip(ended).enumerate() {
            let Some(Ended::Finished(done)) = slot else {
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
                    *slot = Some(ended);
                }
            }
        }
        Ok(())
    }

    fn task(
        &self,
        index: usize,
        task: Task<S>,
    ) -> impl Future<Output = (usize, Ended<S>)> + Send + 'static {
        let plan = Arc::clone(&self.plan);
        let state = Arc::clone(&self.state);
        let mut cx = self.context(task.node);
        cx.set_place(self.recorder.as_ref().and_then(|log| log.place(index)));
        if !task.answers.is_empty() {
            cx.answer(task.answers.clone());
        }
        async move { (index, run_with_routers(&plan, &state, &cx, &task).await) }
    }
}
