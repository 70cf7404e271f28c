//! The superstep loop: plan, execute, commit, route, observe.

mod chains;
mod committed;
mod spare;

use std::sync::Arc;

use self::committed::{Committed, Direction, Flow, Unrouted};
use self::spare::{Spare, emptied, taken};
use super::breakpoints::RunBreakpoints;
use super::budget::{Budget, check_cancelled};
use super::commit::{Changes, StateCell};
use super::end::End;
use super::executor::{Executor, Inline, Parallel, Stopped, TaskSlot};
use super::frontier::Frontier;
use super::log::{Observer, Origin};
use super::moment::Moment;
use super::progress::Progress;
use super::route::{ask, asks_routers};
use super::span::Span;
use super::task::Task;
use super::task_result::{Finished, TaskResult};
use super::writer::Writer;
use crate::checkpoint::{Payload, Source};
use crate::error::AgentError;
use crate::graph::inbox::Inbox;
use crate::graph::plan::Plan;
use crate::graph::{CompiledStateGraph, UnfilledJoin};
use crate::node::{CancelToken, Context, Jump, NodeId, Output, Panicked, Scope, Write, Writes};
use crate::state::State;
use crate::state::StateCodec;

/// A running graph.
pub(crate) struct Engine<S: State> {
    pub(crate) plan: Arc<Plan<S>>,
    pub(crate) scope: Arc<Scope>,
    pub(crate) cell: StateCell<S>,
    pub(crate) frontier: Frontier<S>,
    pub(crate) budget: Budget,
    pub(crate) breakpoints: RunBreakpoints,
    pub(crate) observer: Observer<S>,
    /// The codec of the state, if it can be stored as bytes.
    pub(crate) codec: Option<StateCodec<S>>,
    /// Inputs of later calls.
    pub(crate) inbox: Option<Arc<Inbox<S>>>,
    /// Created by the first superstep that is not part of a chain.
    spare: Option<Box<Spare<S>>>,
}

impl<S: State> Engine<S> {
    pub(crate) fn new(graph: &CompiledStateGraph<S>, scope: Scope, state: Arc<S>) -> Self {
        let plan = Arc::clone(&graph.plan);
        Self {
            frontier: Frontier::new(&plan),
            cell: StateCell::new(state),
            budget: Budget::new(scope.limit),
            breakpoints: RunBreakpoints::new(
                plan.interrupt_before.clone(),
                plan.interrupt_after.clone(),
            ),
            observer: Observer::default(),
            codec: graph.codec.or_else(S::codec),
            inbox: None,
            spare: None,
            plan,
            scope: Arc::new(scope),
        }
    }

    /// Takes the input. Then the graph can [run](Self::run).
    pub(crate) fn begin(&mut self, input: Output<S>) -> Result<(), AgentError> {
        let plan = Arc::clone(&self.plan);
        if let Some(input) = self.take_input(&plan, input)? {
            self.frontier.tasks.push(Task::start(input));
        }
        Ok(())
    }

    /// Runs until nothing is left to do, or something stops the run.
    pub(crate) async fn run(&mut self) -> Result<End, AgentError> {
        let plan = Arc::clone(&self.plan);
        if !self.is_quiet() {
            // Boxed, once: a run that nobody observes needs no room for it.
            return Box::pin(self.run_observed(&plan)).await;
        }
        // One context serves every superstep of a chain.
        let mut cx = self.context(NodeId::START);
        loop {
            if let Some(end) = self.run_chains(&plan, &mut cx).await? {
                return Ok(end);
            }
            self.frontier.release_deferred();
            self.frontier.spread(&self.plan, &self.cell.state);
            if self.frontier.next().is_empty() {
                return Ok(End::Done);
            }
            if let Some(end) = Box::pin(self.next_superstep(&plan)).await? {
                return Ok(end);
            }
        }
    }

    /// Runs superstep after superstep.
    async fn run_observed(&mut self, plan: &Arc<Plan<S>>) -> Result<End, AgentError> {
        loop {
            if let Some(end) = self.next_superstep(plan).await? {
                return Ok(end);
            }
        }
    }

    /// Runs the next superstep, if there is one. Returns how the run ended, if it did.
    async fn next_superstep(&mut self, plan: &Arc<Plan<S>>) -> Result<Option<End>, AgentError> {
        if self.frontier.next().is_empty() {
            return Ok(Some(End::Done));
        }
        if self.inbox.as_ref().is_some_and(|inbox| inbox.has_joining()) {
            Box::pin(self.take_joining()).await?;
        }
        let span = self.superstep_span();
        span.around(self.superstep(plan)).await
    }

    /// Returns the span of the next superstep. Taking up the input is none of its own.
    fn superstep_span(&self) -> Span {
        let tasks = &self.frontier.tasks;
        if !Span::is_watched() || tasks.iter().all(|task| task.node.is_start()) {
            return Span::none();
        }
        Span::superstep(&self.scope, self.budget.shown_step() + 1, tasks.len())
    }

    /// Runs one superstep.
    async fn superstep(&mut self, plan: &Arc<Plan<S>>) -> Result<Option<End>, AgentError> {
        check_cancelled(&self.scope)?;
        if self.drains() || self.breakpoints.stop_before(&self.frontier.tasks) {
            return Ok(Some(self.pause_at_breakpoint().await));
        }
        // Taking the input does not count as a superstep.
        let counts = !self.frontier.tasks.iter().all(|task| task.node.is_start());
        if !counts {
            self.budget.begin_start();
        } else if self.budget.is_spent() {
            return Err(self.budget.spent(self.frontier.names(plan)));
        } else if self.budget.begin_superstep(&self.scope) {
            self.budget.give_turn().await;
        }
        let stops_after = self.breakpoints.stop_after(&self.frontier.tasks);
        let spare = std::mem::take(&mut self.spare().tasks);
        let mut tasks = std::mem::replace(&mut self.frontier.tasks, spare);
        let committed = loop {
            let slots = self.execute(plan, tasks).await?;
            match self.commit(plan, slots).await? {
                Flow::Continue(committed) => break committed,
                Flow::Again(again) => tasks = again,
                Flow::Pause(end) => return Ok(Some(end)),
            }
        };
        let wrote = committed.wrote;
        if let Some(end) = self.route(plan, committed).await? {
            return Ok(Some(end));
        }
        self.observe(wrote).await?;
        if stops_after {
            self.frontier.release_deferred();
            let end = self.pause_at_breakpoint().await;
            self.breakpoints.passed = true;
            return Ok(Some(end));
        }
        Ok(None)
    }

    /// Runs tasks on the snapshot: one inline, several in parallel.
    async fn execute(
        &mut self,
        plan: &Arc<Plan<S>>,
        tasks: Vec<Task<S>>,
    ) -> Result<Vec<TaskSlot<S>>, AgentError> {
        let mut slots = self.slots(tasks);
        if self.scope.emitter.is_some() {
            self.announce(&mut slots).await;
        }
        let at = Moment {
            plan,
            scope: &self.scope,
            state: &self.cell.state,
            step: self.budget.step,
        };
        let executed = if slots.len() == 1 {
            Inline.run(&at, slots, &mut self.observer).await
        } else {
            Parallel.run(&at, slots, &mut self.observer).await
        };
        executed.map_err(|Stopped { slots, error }| {
            self.frontier.tasks = slots.into_iter().map(|slot| slot.into_parts().0).collect();
            error
        })
    }

    /// Merges the tasks' writes, in order; pauses if one of the tasks waits.
    async fn commit(
        &mut self,
        plan: &Plan<S>,
        mut slots: Vec<TaskSlot<S>>,
    ) -> Result<Flow<S>, AgentError> {
        let alone = slots.len() == 1;
        let (at, _, observer) = self.split();
        let watched = observer.watches(&at);
        // A superstep of an earlier run may have stopped in the middle of a merge.
        let left_behind = slots.iter().all(|slot| slot.known)
            && slots.iter().any(|slot| !slot.task.node.is_start());
        let untouched = left_behind.then(|| Arc::clone(&self.cell.state));
        let mut tasks = taken(&mut self.spare().tasks, slots.len());
        let mut writes = Vec::with_capacity(slots.len());
        let mut directions = taken(&mut self.spare().directions, slots.len());
        let mut routers: Option<(Context, Option<Finished<S>>)> = None;
        let mut interrupts = Vec::new();
        let (mut paused, mut refused, mut failed) = (false, None, None);
        for (index, slot) in slots.drain(..).enumerate() {
            let known = slot.known;
            let (task, cx, result) = slot.into_parts();
            let (node, mut cx) = (task.node, Some(cx));
            match result.unwrap_or_else(|| TaskResult::Failed(Panicked::lost().into())) {
                TaskResult::Finished(done) => {
                    if alone
                        && done.routes.is_empty()
                        && asks_routers(plan, node, &done.output.jump)
                    {
                        let record = (watched && !known).then(|| done.clone());
                        routers = cx.take().map(|cx| (cx, record));
                    }
                    writes.push((Writer::from(node), done.output.writes));
                    let shared = !alone && task.is_item_of(plan);
                    let last = cx.take().filter(|_| shared).map(|cx| Box::new((index, cx)));
                    let same = |to: &&mut Direction<S>| to.node == node && to.last.is_some();
                    let all = shared.then(|| directions.iter_mut().find(same));
                    match all.flatten() {
                        Some(all) => {
                            let jump = std::mem::replace(&mut all.jump, Jump::Edges);
                            all.jump = jump.and(done.output.jump);
                            all.last = last;
                        }
                        None => directions.push(Direction {
                            node,
                            jump: done.output.jump,
                            routes: done.routes,
                            last,
                        }),
                    }
                }
                TaskResult::Asked {
                    questions,
                    ran,
                    refused: bad,
                } => {
                    paused = true;
                    let (at, _, observer) = self.split();
                    if let (None, Some(error)) = (&refused, bad) {
                        refused = Some(at.failure(node, error));
                    }
                    let current = observer.current();
                    let asked = &observer.asking;
                    interrupts.extend(asked.interrupts(current, &at, &task, index, questions));
                    writes.extend(ran.map(|done| (Writer::from(node), done.output.writes)));
                }
                TaskResult::Failed(error) => {
                    failed.get_or_insert((node, error));
                }
            }
            tasks.push(task);
        }
        self.spare().slots = emptied(slots);
        if let Some((node, error)) = failed {
            self.frontier.tasks = tasks;
            return Err(self.split().0.failure(node, error));
        }
        let wrote = match (self.merge(plan, writes), untouched) {
            (Ok(wrote), _) => wrote,
            (Err(_), Some(untouched)) if !paused => {
                self.cell.state = untouched;
                return Ok(Flow::Again(tasks));
            }
            (Err(error), _) => {
                self.frontier.tasks = tasks;
                return Err(error);
            }
        };
        // A command to the parent ends this graph, so the interrupts of its siblings do not count.
        let leaves = |to: &Direction<S>| matches!(to.jump, Jump::Parent(_));
        if paused && !directions.iter().any(leaves) {
            // The superstep is not over: finished tasks are shown, and wait for the others.
            self.frontier.tasks = tasks;
            if wrote {
                self.split().0.emit_values().await;
            }
            return Ok(Flow::Pause(End::Paused(interrupts, refused.map(Box::new))));
        }
        let unrouted = routers.and_then(|routers| Some((routers, tasks.pop()?)));
        Ok(Flow::Continue(Committed {
            directions,
            unrouted: unrouted.map(|((cx, record), task)| Unrouted { task, cx, record }),
            wrote,
            tasks,
        }))
    }

    /// Merges the writes of a superstep. Returns true if there were any.
    fn merge(
        &mut self,
        plan: &Plan<S>,
        mut writes: Vec<(Writer, Writes<S>)>,
    ) -> Result<bool, AgentError> {
        match writes.pop() {
            Some((writer, only)) if writes.is_empty() => self.merge_one(plan, writer, only),
            last => {
                writes.extend(last);
                let mut commit = self.cell.commit(plan, self.scope.emitter.is_some());
                Ok(commit.superstep(writes)?)
            }
        }
    }

    /// Merges the writes of a superstep's only task. Returns true if there were any.
    fn merge_one(
        &mut self,
        plan: &Plan<S>,
        writer: Writer,
        writes: Writes<S>,
    ) -> Result<bool, AgentError> {
        // The first superstep of a subgraph belongs to the parent's superstep, so the parent's
        // ephemeral fields are visible in it.
        let enters = self.budget.step == 0 && !self.scope.namespace.is_empty();
        let is_input = writer == Writer::Start;
        let mut commit = self.cell.commit(plan, self.scope.emitter.is_some());
        let wrote = if enters && is_input {
            commit.entry(writer, writes)?
        } else {
            commit.one(writer, writes)?
        };
        if is_input && self.cell.changes.is_some() {
            // The input comes from the caller, so it is not a change of this graph.
            self.cell.changes = Some(Changes::default());
        }
        Ok(wrote)
    }

    /// Follows the tasks' targets: the only place that puts nodes on the frontier.
    async fn route(
        &mut self,
        plan: &Plan<S>,
        mut committed: Committed<S>,
    ) -> Result<Option<End>, AgentError> {
        if let Some(unrouted) = committed.unrouted {
            let node = unrouted.task.node;
            match ask(plan, node, &*self.cell.state, &unrouted.cx).await {
                Ok(routes) => {
                    if let Some(direction) = committed.directions.first_mut() {
                        direction.routes = routes;
                    }
                }
                Err(ended) => {
                    let Unrouted { task, record, .. } = unrouted;
                    let result = ended.after(record);
                    return self
                        .fail_routing(vec![task], 0, result, committed.wrote)
                        .await;
                }
            }
            // Routers belong to the task: it is finished only when they have answered.
            if let Some(record) = unrouted.record {
                let (at, _, observer) = self.split();
                observer.finished(&at, &unrouted.task, record).await?;
            }
        }
        for to in &mut committed.directions {
            let Some((index, cx)) = to.last.take().map(|last| *last) else {
                continue;
            };
            if asks_routers(plan, to.node, &to.jump) {
                match ask(plan, to.node, &*self.cell.state, &cx).await {
                    Ok(routes) => to.routes = routes,
                    Err(ended) => {
                        let Committed { tasks, wrote, .. } = committed;
                        return self.fail_routing(tasks, index, ended, wrote).await;
                    }
                }
            }
        }
        for Direction {
            node, jump, routes, ..
        } in committed.directions.drain(..)
        {
            match jump {
                Jump::Parent(parent) => return Ok(Some(End::Parent(parent))),
                jump => self.frontier.follow(plan, node, jump, routes)?,
            }
        }
        self.frontier.put_in_order();
        let spare = self.spare();
        spare.tasks = emptied(committed.tasks);
        spare.directions = emptied(committed.directions);
        Ok(None)
    }

    /// Ends a superstep whose tasks have run and whose routers failed: those of its only task, or
    /// those that follow all tasks of a node.
    async fn fail_routing(
        &mut self,
        tasks: Vec<Task<S>>,
        index: usize,
        result: TaskResult<S>,
        wrote: bool,
    ) -> Result<Option<End>, AgentError> {
        self.frontier.tasks = tasks;
        let (at, frontier, observer) = self.split();
        let Some(task) = frontier.tasks.get(index) else {
            return Ok(None);
        };
        let mut stored = Ok(());
        // Several tasks are stored as finished already, and do not run again.
        let stays = frontier.tasks.len() > 1 && matches!(result, TaskResult::Failed(_));
        if observer.watches(&at) && !stays {
            stored = observer.task_ended(&at, task, index, &result, true).await;
        }
        match result {
            TaskResult::Asked {
                questions, refused, ..
            } => {
                stored?;
                if wrote {
                    at.emit_values().await;
                }
                let current = observer.current();
                let interrupts = observer
                    .asking
                    .interrupts(current, &at, task, index, questions);
                let refused = refused.map(|error| at.failure(task.node, error));
                Ok(Some(End::Paused(interrupts, refused.map(Box::new))))
            }
            // The task's error is more important than an error of storing it.
            TaskResult::Failed(error) => Err(at.failure(task.node, error)),
            TaskResult::Finished(_) => Ok(None),
        }
    }

    /// Stores and emits the result of a superstep; does nothing if nobody observes the run.
    async fn observe(&mut self, wrote: bool) -> Result<(), AgentError> {
        self.frontier.release_deferred();
        self.frontier.spread(&self.plan, &self.cell.state);
        let (at, frontier, observer) = self.split();
        if observer.watches(&at) {
            observer.superstep_ended(&at, frontier, wrote).await?;
        }
        Ok(())
    }

    /// Returns true if nobody observes single supersteps, so chains need not stop for them.
    fn is_quiet(&mut self) -> bool {
        let (at, _, observer) = self.split();
        !Span::is_watched()
            && !observer.watches(&at)
            && observer.asking.given.is_empty()
            && self.breakpoints.is_empty()
    }

    /// Creates the slots of a superstep's tasks, with their contexts.
    fn slots(&mut self, mut tasks: Vec<Task<S>>) -> Vec<TaskSlot<S>> {
        let mut slots = taken(&mut self.spare().slots, tasks.len());
        let at = self.moment();
        let current = self.observer.current();
        slots.extend(tasks.drain(..).enumerate().map(|(index, task)| {
            let mut cx = self.context(task.node);
            cx.set_place(self.observer.place(index));
            let asking = &self.observer.asking;
            asking.restore_memory(current, &at, &mut cx, index, &task);
            TaskSlot::new(task, cx)
        }));
        self.spare().tasks = emptied(tasks);
        slots
    }

    fn spare(&mut self) -> &mut Spare<S> {
        self.spare.get_or_insert_default()
    }

    /// Emits the start of tasks, then the writes of tasks that do not run again.
    async fn announce(&mut self, slots: &mut [TaskSlot<S>]) {
        self.observer.progress = Progress::of(&self.plan, slots).map(Box::new);
        let at = self.moment();
        let begins = slots.iter().any(|slot| !slot.task.node.is_start());
        if begins && self.scope.namespace.is_empty() {
            self.scope.shared.begin_superstep();
        }
        for slot in &mut *slots {
            let (task, result) = slot.parts();
            if !matches!(result, Some(TaskResult::Asked { .. })) && task.ran().is_none() {
                at.emit_started(task).await;
            }
        }
        for slot in slots {
            let (task, result) = slot.parts();
            if let Some(TaskResult::Finished(done)) = result {
                at.emit_kept(task, done).await;
            }
            if let Some(done) = task.ran() {
                at.emit_kept(task, done).await;
            }
        }
        if let Some(maps) = &self.observer.progress {
            for (_, map) in maps.maps() {
                at.emit_progress(map).await;
            }
        }
    }

    /// Merges the inputs of later calls into the state, if nothing is open in it.
    async fn take_joining(&mut self) -> Result<(), AgentError> {
        let Some(inbox) = self.inbox.clone() else {
            return Ok(());
        };
        if !self.frontier.tasks.iter().all(Task::is_new) || self.cell.state.dismiss().is_some() {
            return Ok(());
        }
        let mut taken = Vec::new();
        inbox.take_joining(|input| {
            let writes = input.writes.into_vec();
            let untouched = Arc::clone(&self.cell.state);
            if let Err(error) = self.apply_external(writes.clone()) {
                self.cell.state = untouched;
                return Err((error.kind(), error.to_string()));
            }
            taken.extend(writes);
            Ok(())
        });
        if taken.is_empty() {
            return Ok(());
        }
        let origin = Origin::child_of(self.observer.current(), Source::Input);
        let entry = self.observer.entry(taken)?;
        self.budget.step += 1;
        self.record(origin, entry).await?;
        self.moment().emit_values().await;
        Ok(())
    }

    /// Returns true if the run has to stop at the end of a superstep, and its thread can go on.
    pub(crate) fn drains(&self) -> bool {
        let token = self.scope.shared.cancel.as_ref();
        self.observer.recorder.is_some() && token.is_some_and(CancelToken::is_draining)
    }

    async fn pause_at_breakpoint(&self) -> End {
        self.moment().emit_breakpoint().await;
        End::Paused(Vec::new(), None)
    }

    pub(crate) fn context(&self, node: NodeId) -> Context {
        let (step, taken) = (self.budget.shown_step(), self.budget.taken);
        Context::new(Arc::clone(&self.scope), step, taken, node)
    }

    /// Applies writes from outside to the state. Returns true if a field was written.
    pub(crate) fn apply_external(&mut self, writes: Vec<Write<S>>) -> Result<bool, AgentError> {
        let observed = self.scope.emitter.is_some();
        let mut commit = self.cell.commit(&self.plan, observed);
        Ok(commit.entry(Writer::External, writes.into())?)
    }

    /// Stores a checkpoint of the current position.
    pub(crate) async fn record(
        &mut self,
        origin: Origin,
        entry: Option<Payload>,
    ) -> Result<(), AgentError> {
        let (at, frontier, observer) = self.split();
        observer.record(&at, frontier, origin, entry).await
    }

    /// Emits the checkpoint of the current position.
    pub(crate) async fn emit_checkpoint(&self) {
        let at = self.moment();
        let checkpoint = |values| self.observer.shown(&at, &self.frontier, values);
        at.emit_checkpoint(checkpoint).await;
    }

    /// Returns the joins with some of their sources, but not all.
    pub(crate) fn unfilled_joins(&self) -> Vec<UnfilledJoin> {
        let namespace = &self.scope.namespace;
        self.frontier.unfilled_joins(&self.plan, namespace)
    }

    /// Returns the current position of the run.
    pub(crate) fn moment(&self) -> Moment<'_, S> {
        Moment {
            plan: &self.plan,
            scope: &self.scope,
            state: &self.cell.state,
            step: self.budget.step,
        }
    }

    /// Returns the current position, the frontier, and the observer.
    pub(crate) fn split(&mut self) -> (Moment<'_, S>, &Frontier<S>, &mut Observer<S>) {
        let at = Moment {
            plan: &self.plan,
            scope: &self.scope,
            state: &self.cell.state,
            step: self.budget.step,
        };
        (at, &self.frontier, &mut self.observer)
    }

    /// Returns the final state.
    pub(crate) fn into_state(self) -> S {
        Arc::unwrap_or_clone(self.cell.state)
    }
}
