//! The superstep loop: run the tasks, commit their writes, route, advance, store and emit.

use std::pin::pin;
use std::sync::Arc;

use super::apart::Apart;
use super::breakpoints::RunBreakpoints;
use super::budget::{Budget, check_cancelled};
use super::commit::{Commit, Merged};
use super::end::{End, Stop};
use super::frontier::Frontier;
use super::observer::Observer;
use crate::checkpoint::{Few, Payload};
use crate::error::{AgentError, Panicked};
use crate::graph::inbox::Inbox;
use crate::node::{Context, NodeId, Output};
use crate::record::{Coder, Origin};
use crate::span::Span;
use crate::state::{State, StateCodec, Write, Writes};
use crate::task::{Changes, Finished, Position, Task, TaskResult, Writer, run_task};

/// A run of a graph.
pub(crate) struct Engine<S: State> {
    pub(crate) position: Position<S>,
    pub(crate) frontier: Frontier<S>,
    pub(crate) budget: Budget,
    pub(crate) breakpoints: RunBreakpoints,
    pub(crate) observer: Observer<S>,
    /// What a subgraph changes, for its parent.
    pub(crate) changes: Option<Changes<S>>,
    /// The codec of the state, if it can be stored as bytes.
    pub(crate) codec: Option<StateCodec<S>>,
    /// Inputs of later calls.
    pub(crate) inbox: Option<Arc<Inbox>>,
    /// The contexts of the current tasks, in their order.
    pub(super) contexts: Few<Context>,
    /// The results of the current tasks, in their order; empty until they run, unless they are known before.
    pub(super) results: Vec<TaskResult<S>>,
}

impl<S: State> Engine<S> {
    /// Creates an engine that has nothing to do yet. It is large: inlined, it is not moved.
    #[inline]
    pub(crate) fn new(
        position: Position<S>,
        breakpoints: RunBreakpoints,
        codec: Option<StateCodec<S>>,
    ) -> Self {
        Self {
            frontier: Frontier::new(&position),
            budget: Budget::new(position.scope.limit),
            breakpoints,
            observer: Observer::default(),
            changes: None,
            codec,
            inbox: None,
            contexts: Few::default(),
            results: Vec::new(),
            position,
        }
    }

    /// Takes the input. Then the graph can [run](Self::run).
    #[inline]
    pub(crate) fn begin(&mut self, input: Output<S>) {
        self.frontier.tasks = vec![Task::by_edge(NodeId::START)];
        self.results = vec![Finished::new(input).into()];
    }

    /// Runs until nothing is left to do, or something stops the run.
    pub(crate) async fn run(&mut self) -> Result<End, AgentError> {
        let ran = self.supersteps().await;
        ran.map_or_else(Stop::into_end, |()| Ok(End::Done))
    }

    async fn supersteps(&mut self) -> Result<(), Stop> {
        self.take_unobserved_input()?;
        while !self.frontier.tasks.is_empty() || self.breakpoints.was_cut_off {
            if Inbox::waits(self.inbox.as_deref()) {
                Box::pin(self.merge_later_inputs()).await?;
            }
            if Span::is_watched() {
                let span = self.superstep_span();
                Box::pin(span.around(self.superstep())).await?;
            } else {
                self.superstep().await?;
            }
        }
        Ok(())
    }

    /// Takes an input that nothing observes, and that no router looks at: it needs no superstep of its own.
    fn take_unobserved_input(&mut self) -> Result<(), Stop> {
        if self.results.is_empty() || self.observer.watches(&self.position) || self.must_route() {
            return Ok(());
        }
        self.position.step += 1;
        self.commit(Writer::from)?;
        self.advance()
    }

    async fn superstep(&mut self) -> Result<(), Stop> {
        check_cancelled(&self.position.scope)?;
        // The breakpoint first: a thread that waits at one does not go on by itself.
        if self.breakpoints.stop_before(&self.frontier.tasks) {
            return Err(self.pause_at_breakpoint());
        }
        if self.observer.drains(&self.position.scope) {
            return Err(self.pause_between_supersteps());
        }
        if self.begin_superstep()? {
            self.budget.give_turn().await;
        }
        self.prepare_contexts();
        if self.position.scope.emitter.is_some() {
            self.show_tasks();
        }
        if let Some(room) = self.position.lacks_room() {
            room.await;
        }
        let ran_alone = self.run_tasks().await?;
        let mut merged = self.commit(Writer::from)?;
        let mut unrouted = None;
        if self.must_route() {
            unrouted = self.route().await;
            let result = unrouted.and_then(|index| self.results.get(index));
            merged.waits |= result.is_some_and(TaskResult::is_interrupted);
        }
        // If the router of a map fails, the tasks of the map stay stored as finished.
        let unrouted = unrouted.filter(|_| merged.waits || self.results.len() == 1);
        if let Some(index) = unrouted.or(ran_alone.then_some(0))
            && let Some(task) = self.frontier.tasks.get(index)
            && let Some(result) = self.results.get_mut(index)
            && self.observer.watches(&self.position)
        {
            let (observer, position) = (&mut self.observer, &self.position);
            Box::pin(observer.task_ended(position, task, index, result, true)).await?;
        }
        self.check_failed()?;
        if merged.waits {
            return Err(self.pause(merged));
        }
        let pauses_after = self.breakpoints.stop_after(&self.frontier.tasks);
        self.advance()?;
        if merged.wrote {
            self.position.emit_values();
        }
        if self.observer.recorder.is_some() {
            let pending = self.frontier.pending();
            let pauses = pauses_after || self.breakpoints.stops_before(pending.tasks);
            let (observer, position) = (&mut self.observer, &self.position);
            observer.store_superstep(position, pending, pauses).await?;
            observer.emit_checkpoint(position, pending);
        }
        if pauses_after {
            self.breakpoints.passed = true;
            return Err(self.pause_at_breakpoint());
        }
        Ok(())
    }

    /// Runs the tasks. A plain one that is alone is followed by those of its [chain](Self::run_chain), each of which is
    /// a superstep; then the task is the last one of these. Returns true if an only task has run: its end is stored
    /// and emitted when its writes are merged and its routers have answered, since it counts only then.
    async fn run_tasks(&mut self) -> Result<bool, Stop> {
        if !self.results.is_empty() {
            return Ok(false);
        }
        let ([task], [cx]) = (&mut *self.frontier.tasks, &*self.contexts) else {
            Box::pin(self.run_parallel()).await?;
            return Ok(false);
        };
        if let Some(known) = task.take_result() {
            self.results.push(known);
            return Ok(false);
        }
        // It runs in the engine's own task: it spawns nothing and clones no state.
        let is_plain = task.is_plain() && self.observer.interrupt_ids.given.is_empty();
        if !is_plain || Span::is_watched() {
            let result = run_task(&self.position, task, cx).await;
            self.results.push(result);
        } else {
            self.results.push(Finished::new(Output::none()).into());
            if self.observer.watches(&self.position) {
                // A reader of events may hold the state, as long as nothing is merged into it.
                let chain = self.run_chain::<true, Arc<S>>(|state| state, Arc::make_mut);
                Apart(pin!(chain)).await?;
            } else {
                // Nothing else holds it: checked once, and not for every merge.
                let chain = self.run_chain::<false, S>(Arc::make_mut, |state| state);
                Apart(pin!(chain)).await?;
            }
        }
        if let Some(result) = self.results.first() {
            self.observer.note_messages(&self.position, result);
        }
        Ok(true)
    }

    /// Goes on to the tasks that follow the results.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<(), Stop> {
        self.frontier.advance(&self.position, &mut self.results)?;
        self.results.clear();
        Ok(())
    }

    /// Returns the first failure of a task.
    pub(super) fn check_failed(&mut self) -> Result<(), AgentError> {
        for (task, result) in self.frontier.tasks.iter().zip(&mut self.results) {
            if let TaskResult::Failed(error) = result {
                let error = std::mem::replace(error, Panicked::lost().into());
                return Err(self.position.failure(task.node, error));
            }
        }
        Ok(())
    }

    /// Begins the tasks for the readers of events.
    fn show_tasks(&mut self) {
        let tasks = &self.frontier.tasks;
        self.observer.tasks_begin(&self.position, tasks);
        for (cx, task) in self.contexts.iter_mut().zip(self.observer.shown.iter()) {
            cx.set_task(Arc::clone(task));
        }
    }

    /// Counts the superstep, unless it only takes the input. Returns true if the run has to yield.
    fn begin_superstep(&mut self) -> Result<bool, Stop> {
        let tasks = &self.frontier.tasks;
        self.frontier.followed.check(tasks)?;
        let takes_input = tasks.iter().all(|task| task.node.is_start());
        if !takes_input && self.budget.is_spent() {
            let next = self.frontier.pending().names(&self.position.plan);
            return Err(self.budget.spent(next).into());
        }
        self.position.step += 1;
        Ok(!takes_input && self.budget.begin_superstep(&self.position.scope))
    }

    /// Merges the tasks' writes, in order; none if a task has failed.
    ///
    /// # Errors
    ///
    /// If the writes cannot be merged.
    #[inline]
    pub(super) fn commit(&mut self, author: impl Fn(NodeId) -> Writer) -> Result<Merged, Stop> {
        if let ([task], [TaskResult::Finished(done)]) = (&*self.frontier.tasks, &mut *self.results)
        {
            let waits = false;
            if let Some(wrote) = done.merged {
                return Ok(Merged { wrote, waits });
            }
            let writes = std::mem::take(&mut done.output.writes);
            // The input is stored as one, with the checkpoint that it begins.
            if !task.node.is_start() && self.observer.keeps_output(&self.position.scope) {
                // The copy: the original may have fresh ids, which make merging cheap.
                done.output.writes = writes.clone();
            }
            let wrote = self.merge_one(author(task.node), writes)?;
            return Ok(Merged { wrote, waits });
        }
        self.commit_all(author)
    }

    fn commit_all(&mut self, author: impl Fn(NodeId) -> Writer) -> Result<Merged, Stop> {
        let mut writes = Vec::with_capacity(self.results.len());
        let mut merged = Merged::default();
        for index in self.frontier.merge_order(self.results.len()) {
            let done = match self.results.get_mut(index) {
                Some(TaskResult::Finished(done)) => Some(done),
                Some(TaskResult::Interrupted(open)) => {
                    merged.waits = true;
                    open.ran.as_mut()
                }
                Some(TaskResult::Failed(_)) => return Ok(Merged::default()),
                None => None,
            };
            if let Some((task, done)) = self.frontier.tasks.get(index).zip(done) {
                let written = &mut done.output.writes;
                match done.merged {
                    Some(wrote) => merged.wrote |= wrote,
                    None => writes.push((author(task.node), std::mem::take(written))),
                }
            }
        }
        // A command to the parent ends this graph, so the interrupts of the others do not count.
        merged.waits &= !self.results.iter().any(TaskResult::leaves_graph);
        // The tasks that wait see the ephemeral values until one has finished.
        if !(merged.waits && writes.is_empty()) {
            merged.wrote |= self.commit_to_state().superstep(writes)?;
        }
        Ok(merged)
    }

    /// Merges the writes of an only task.
    fn merge_one(&mut self, writer: Writer, writes: Writes<S>) -> Result<bool, Stop> {
        let is_input = writer == Writer::Start;
        // The first superstep of a subgraph belongs to the parent's superstep, so the parent's
        // ephemeral fields are visible in it.
        let enters = is_input && self.position.step == 0 && self.position.is_subgraph();
        let mut commit = self.commit_to_state();
        let wrote = if enters {
            commit.entry(writer, writes)?
        } else {
            commit.one(writer, writes)?
        };
        if is_input && self.changes.is_some() {
            // The input comes from the caller, so it is not a change of this graph.
            self.changes = Some(Changes::default());
        }
        Ok(wrote)
    }

    #[inline]
    pub(crate) fn commit_to_state(&mut self) -> Commit<'_, S> {
        let observed = self.position.scope.emitter.is_some() || self.changes.is_some();
        let tracked = observed || self.observer.recorder.is_some();
        Commit {
            plan: &self.position.plan,
            state: &mut self.position.state,
            written: tracked.then_some(&mut self.position.written),
            observed,
            changes: self.changes.as_mut(),
        }
    }

    /// Returns the span of the next superstep. Taking the input has none.
    fn superstep_span(&self) -> Span {
        let tasks = &self.frontier.tasks;
        if tasks.iter().all(|task| task.node.is_start()) {
            return Span::none();
        }
        let step = self.position.shown_step() + 1;
        Span::superstep(&self.position.scope, step, tasks.len())
    }

    /// Prepares a context for each task.
    fn prepare_contexts(&mut self) {
        let step = self.position.shown_step();
        let taken = self.budget.taken;
        let tasks = &self.frontier.tasks;
        for (cx, task) in self.contexts.iter_mut().zip(tasks) {
            cx.reuse(step, taken, task.node);
        }
        if self.contexts.len() != tasks.len() {
            self.contexts = self.new_contexts();
        }
        self.observer
            .restore(&self.position, &mut self.contexts, tasks);
    }

    #[inline]
    pub(super) fn new_contexts(&self) -> Few<Context> {
        let (scope, step) = (&self.position.scope, self.position.shown_step());
        let taken = self.budget.taken;
        let new = |task: &Task<S>| Context::new(Arc::clone(scope), step, taken, task.node);
        match &*self.frontier.tasks {
            [only] => Few::one(new(only)),
            tasks => Context::numbered(tasks.iter().map(new)).collect(),
        }
    }

    /// Stores and emits a checkpoint of the current position.
    pub(crate) async fn record(
        &mut self,
        origin: Origin,
        entry: Option<Payload>,
    ) -> Result<(), AgentError> {
        let (observer, pending) = (&mut self.observer, self.frontier.pending());
        if let Some(recorder) = &mut observer.recorder {
            recorder
                .record(&self.position, pending, origin, entry)
                .await?;
            observer.emit_checkpoint(&self.position, pending);
        }
        Ok(())
    }

    /// Returns what encodes the graph's values.
    pub(crate) fn coder(&self) -> Coder<S> {
        Coder {
            plan: Arc::clone(&self.position.plan),
            codec: self.codec,
        }
    }

    /// Applies writes from outside to the state. Returns true if a field was written.
    pub(crate) fn apply_external(&mut self, writes: Vec<Write<S>>) -> Result<bool, AgentError> {
        let wrote = self
            .commit_to_state()
            .entry(Writer::External, writes.into());
        Ok(wrote?)
    }

    /// Returns the final state.
    pub(crate) fn into_state(self) -> S {
        Arc::unwrap_or_clone(self.position.state)
    }
}
