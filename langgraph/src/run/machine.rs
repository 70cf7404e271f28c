//! The superstep loop: plan, execute, commit, route, repeat.

use std::sync::Arc;
use std::time::Instant;

use super::commit::{Changes, Commit};
use super::end::End;
use super::record::Recorder;
use super::task::Task;
use super::turn::{TURN, check_cancelled, give_turn};
use crate::AgentError;
use crate::checkpoint::StateCodec;
use crate::graph::NodeName;
use crate::graph::plan::{Plan, Stops};
use crate::node::{Answer, Context, Scope};
use crate::state::State;

/// A graph that runs.
pub(crate) struct Machine<S: State> {
    pub(crate) plan: Arc<Plan<S>>,
    pub(crate) scope: Arc<Scope>,
    /// Shared only while several tasks read it; unique again behind the barrier.
    pub(crate) state: Arc<S>,
    /// The tasks of the next superstep: nodes in the graph's order, then sends in theirs.
    pub(crate) frontier: Vec<Task<S>>,
    /// Sends that routing has found so far; they follow the nodes.
    pub(crate) sends: Vec<Task<S>>,
    /// Deferred nodes that have been reached.
    pub(crate) deferred: Vec<usize>,
    /// What each join has seen.
    pub(crate) joins: Vec<Seen>,
    /// The superstep in which each node was last put on the frontier; made when there are many.
    pub(crate) marks: Vec<usize>,
    /// The superstep, counted over the life of the thread; -1 before START's.
    pub(crate) step: i64,
    /// The supersteps of this run.
    pub(crate) taken: usize,
    /// When others last got their turn; none while the run is young.
    pub(crate) last_turn: Option<Instant>,
    pub(crate) before: Stops,
    pub(crate) after: Stops,
    /// True when the breakpoint before the frontier has been passed already.
    pub(crate) passed: bool,
    /// Everything written, for the graph around this one.
    pub(crate) changes: Option<Changes<S>>,
    /// The thread's log, if the run has a thread.
    pub(crate) recorder: Option<Box<Recorder<S>>>,
    /// Which call of its task it is, and the answers that the task was given, for a graph without a
    /// log of its own.
    pub(crate) call: usize,
    pub(crate) given: Vec<Answer>,
    /// How the state becomes bytes, if it does.
    pub(crate) codec: Option<StateCodec<S>>,
}

/// What a join has seen of its sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) sources: crate::state::FieldSet,
    pub(crate) count: usize,
}

impl<S: State> Machine<S> {
    pub(crate) fn new(plan: Arc<Plan<S>>, scope: Arc<Scope>, state: S) -> Self {
        Self {
            marks: Vec::new(),
            joins: vec![Seen::default(); plan.joins.len()],
            before: plan.interrupt_before.clone(),
            after: plan.interrupt_after.clone(),
            state: Arc::new(state),
            // Room for one task, which most frontiers have.
            frontier: Vec::with_capacity(1),
            sends: Vec::new(),
            deferred: Vec::new(),
            step: -1,
            taken: 0,
            last_turn: None,
            passed: false,
            changes: None,
            recorder: None,
            call: 0,
            given: Vec::new(),
            codec: S::codec(),
            plan,
            scope,
        }
    }

    pub(crate) fn context(&self, node: usize) -> Context {
        Context::new(Arc::clone(&self.scope), self.shown_step(), self.taken, node)
    }

    /// The superstep as nodes see it.
    pub(crate) fn shown_step(&self) -> usize {
        usize::try_from(self.step).unwrap_or(0)
    }

    pub(crate) fn is_start(&self, task: &Task<S>) -> bool {
        task.node >= self.plan.nodes.len()
    }

    /// Runs until nothing is left to do, or something stops it.
    pub(crate) async fn run(&mut self) -> Result<End, AgentError> {
        let plan = Arc::clone(&self.plan);
        // One context serves every superstep of a single task.
        let mut cx = self.context(0);
        let quiet = !self.watched()
            && self.given.is_empty()
            && self.before.is_never()
            && self.after.is_never();
        loop {
            if quiet && let Some(end) = self.stride(&plan, &mut cx).await? {
                return Ok(end);
            }
            if self.frontier.is_empty() && self.deferred.is_empty() {
                return Ok(End::Done);
            }
            // In a box, so that a run that does not come here needs no room for it.
            if let Some(end) = Box::pin(self.walk(&plan, &mut cx, quiet)).await? {
                return Ok(end);
            }
        }
    }

    /// Takes supersteps of every kind; when `quiet`, until a stride can go on.
    async fn walk(
        &mut self,
        plan: &Plan<S>,
        cx: &mut Context,
        quiet: bool,
    ) -> Result<Option<End>, AgentError> {
        loop {
            self.release_deferred();
            if self.frontier.is_empty() {
                return Ok(Some(End::Done));
            }
            if quiet && self.plain_task().is_some() {
                return Ok(None);
            }
            check_cancelled(&self.scope)?;
            let stops = |stops: &Stops, machine: &Self| {
                machine
                    .frontier
                    .iter()
                    .any(|task| !machine.is_start(task) && stops.contains(task.node))
            };
            if !std::mem::take(&mut self.passed)
                && !self.before.is_never()
                && stops(&self.before, self)
            {
                self.tell_breakpoint().await;
                return Ok(Some(End::Paused(Vec::new())));
            }
            // An input that is taken up now is no superstep of its own.
            let counts = !self.frontier.iter().all(|task| self.is_start(task));
            if counts && self.taken >= self.scope.limit {
                return Err(AgentError::StepLimit {
                    limit: self.scope.limit,
                    next: self.next(),
                });
            }
            let stops_after = !self.after.is_never() && stops(&self.after, self);
            self.taken += usize::from(counts);
            self.step += 1;
            if let Some(pulse) = &self.scope.pulse {
                pulse.beat();
            }
            if self.taken.is_multiple_of(TURN) {
                give_turn(&mut self.last_turn).await;
            }
            let end = if self.frontier.len() == 1 {
                self.one(plan, cx).await?
            } else {
                self.several(plan).await?
            };
            if end.is_some() {
                return Ok(end);
            }
            if stops_after {
                self.release_deferred();
                self.tell_breakpoint().await;
                self.passed = true;
                return Ok(Some(End::Paused(Vec::new())));
            }
        }
    }

    /// The state at the end.
    pub(crate) fn into_state(self) -> S {
        Arc::unwrap_or_clone(self.state)
    }

    /// The nodes that run next.
    pub(crate) fn next(&self) -> Vec<NodeName> {
        self.frontier
            .iter()
            .map(|task| self.plan.node_name(task.node))
            .collect()
    }

    /// True when somebody reads the run's events, or its thread is kept.
    pub(crate) fn watched(&self) -> bool {
        self.scope.emitter.is_some() || self.recorder.is_some()
    }

    /// Tells and stores what a superstep has made.
    pub(crate) async fn conclude(&mut self, wrote: bool) -> Result<(), AgentError> {
        self.release_deferred();
        if wrote {
            self.tell_values().await;
        }
        self.record_superstep().await
    }

    pub(crate) fn commit(&mut self) -> Commit<'_, S> {
        Commit {
            plan: &self.plan,
            state: &mut self.state,
            observed: self.changes.is_some() || self.scope.emitter.is_some(),
            changes: self.changes.as_mut(),
        }
    }
}
