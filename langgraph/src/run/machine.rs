//! The superstep loop: plan, execute, commit, route, repeat.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::commit::{Changes, Commit};
use super::execute::{Done, Ended, Unsettled, asks};
use super::panic::Panicked;
use super::record::Recorder;
use super::route::{ask, check_jump};
use crate::AgentError;
use crate::checkpoint::StateCodec;
use crate::error::Failure;
use crate::graph::plan::{Plan, Stops};
use crate::graph::{NodeKind, NodeName};
use crate::node::{
    Answer, Argument, Context, Interrupt, Jump, NodeError, OnceRecord, Output, ParentCommand,
    Questions, Scope,
};
use crate::state::State;

/// How many supersteps pass before the loop makes sure that others get their turn.
pub(super) const TURN: usize = 128;

/// How long the loop goes on before others get their turn.
const TURN_TIME: Duration = Duration::from_millis(1);

/// A task of the next superstep.
pub(super) struct Task<S: State> {
    pub(super) node: usize,
    /// What a send gave it; tasks started by edges have none.
    pub(super) argument: Option<Argument<S>>,
    /// Answers to what it asked before.
    pub(super) answers: Vec<Answer>,
    /// What it has done once.
    pub(super) once: Vec<OnceRecord>,
    /// How it ended in an earlier run; it does not run again.
    pub(super) prior: Option<Box<Ended<S>>>,
    /// What its node did in an earlier run, when its routers had a question: only they are asked.
    pub(super) ran: Option<Box<Done<S>>>,
}

impl<S: State> Task<S> {
    pub(super) const fn by_edge(node: usize) -> Self {
        Self {
            node,
            argument: None,
            answers: Vec::new(),
            once: Vec::new(),
            prior: None,
            ran: None,
        }
    }

    pub(super) const fn sent(node: usize, argument: Argument<S>) -> Self {
        Self {
            node,
            argument: Some(argument),
            answers: Vec::new(),
            once: Vec::new(),
            prior: None,
            ran: None,
        }
    }

    /// The same task, to run once more.
    pub(super) fn again(&self) -> Self {
        Self {
            node: self.node,
            argument: self.argument.clone(),
            answers: self.answers.clone(),
            once: self.once.clone(),
            prior: None,
            ran: self.ran.clone(),
        }
    }
}

/// How a graph came to its end.
pub(super) enum End {
    /// Nothing is left to do.
    Done,
    /// Tasks asked questions, or a breakpoint was reached.
    Paused(Vec<Interrupt>),
    /// It waits as before, because an answer was none.
    Refused(Vec<Interrupt>, Box<AgentError>),
    /// A command ended this graph and goes on in the one around it.
    Parent(Box<ParentCommand>),
}

impl End {
    /// A pause; what is wrong with an answer goes to whoever gave it.
    pub(super) fn paused(interrupts: Vec<Interrupt>, refused: Option<AgentError>) -> Self {
        match refused {
            None => Self::Paused(interrupts),
            Some(error) => Self::Refused(interrupts, Box::new(error)),
        }
    }
}

/// A graph that runs.
pub(super) struct Machine<S: State> {
    pub(super) plan: Arc<Plan<S>>,
    pub(super) scope: Arc<Scope>,
    /// Shared only while several tasks read it; unique again behind the barrier.
    pub(super) state: Arc<S>,
    /// The tasks of the next superstep: nodes in the graph's order, then sends in theirs.
    pub(super) frontier: Vec<Task<S>>,
    /// Sends that routing has found so far; they follow the nodes.
    pub(super) sends: Vec<Task<S>>,
    /// Deferred nodes that have been reached.
    pub(super) deferred: Vec<usize>,
    /// What each join has seen.
    pub(super) joins: Vec<Seen>,
    /// The superstep in which each node was last put on the frontier; made when there are many.
    pub(super) marks: Vec<usize>,
    /// The superstep, counted over the life of the thread; -1 before START's.
    pub(super) step: i64,
    /// The supersteps of this run.
    pub(super) taken: usize,
    /// When others last got their turn; none while the run is young.
    pub(super) last_turn: Option<Instant>,
    pub(super) before: Stops,
    pub(super) after: Stops,
    /// True when the breakpoint before the frontier has been passed already.
    pub(super) passed: bool,
    /// Everything written, for the graph around this one.
    pub(super) changes: Option<Changes<S>>,
    /// The thread's log, if the run has a thread.
    pub(super) recorder: Option<Box<Recorder<S>>>,
    /// Which call of its task it is, and the answers that the task was given, for a graph without a
    /// log of its own.
    pub(super) call: usize,
    pub(super) given: Vec<Answer>,
    /// How the state becomes bytes, if it does.
    pub(super) codec: Option<StateCodec<S>>,
}

/// What a join has seen of its sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) sources: crate::state::FieldSet,
    pub(super) count: usize,
}

impl<S: State> Machine<S> {
    pub(super) fn new(plan: Arc<Plan<S>>, scope: Arc<Scope>, state: S) -> Self {
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

    /// Takes the input: merges it and follows START's edges.
    pub(super) async fn start(&mut self, input: Output<S>) -> Result<(), AgentError> {
        let plan = Arc::clone(&self.plan);
        let start = plan.nodes.len();
        // A graph inside another starts in the superstep around it: its first nodes see what is
        // ephemeral there.
        let inside = self.step < 0 && !self.scope.namespace.is_empty();
        self.step += 1;
        let mut commit = self.commit();
        let merged = if inside {
            commit.entry(start, input.writes)
        } else {
            commit.one(start, input.writes)
        };
        let wrote = merged?;
        let mut asked = check_jump(&plan, start, &input.jump)
            .map(|()| Vec::new())
            .map_err(Unsettled::from);
        if asked.is_ok() && asks(&plan, start, &input.jump) {
            let mut cx = self.context(start);
            cx.set_place(self.recorder.as_ref().and_then(|log| log.place(0)));
            self.remind(&mut cx, 0, &Task::by_edge(start));
            asked = ask(&plan, start, &self.state, &cx).await;
        }
        let routes = match asked {
            Ok(routes) => routes,
            Err(unsettled) => {
                let (mut task, ended) = (Task::by_edge(start), unsettled.ended(None));
                let noted = if self.watched() {
                    Box::pin(self.note(&task, &ended)).await
                } else {
                    Ok(())
                };
                // It says more than that it could not be noted.
                if let Ended::Failed(error) = ended {
                    return Err(self.failure(start, error));
                }
                noted?;
                if wrote {
                    Box::pin(self.tell_values()).await;
                }
                // The input has not gone its way yet: the loop pauses with it.
                self.step -= 1;
                task.prior = Some(Box::new(ended));
                self.frontier.push(task);
                return Ok(());
            }
        };
        self.follow(&plan, start, input.jump, routes)?;
        self.settle();
        if self.watched() {
            Box::pin(self.conclude(wrote)).await?;
        }
        Ok(())
    }

    pub(super) fn context(&self, node: usize) -> Context {
        Context::new(Arc::clone(&self.scope), self.shown_step(), self.taken, node)
    }

    /// The superstep as nodes see it.
    pub(super) fn shown_step(&self) -> usize {
        usize::try_from(self.step).unwrap_or(0)
    }

    pub(super) fn is_start(&self, task: &Task<S>) -> bool {
        task.node >= self.plan.nodes.len()
    }

    /// Runs until nothing is left to do, or something stops it.
    pub(super) async fn run(&mut self) -> Result<End, AgentError> {
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
    pub(super) fn into_state(self) -> S {
        Arc::unwrap_or_clone(self.state)
    }

    /// The nodes that run next.
    pub(super) fn next(&self) -> Vec<NodeName> {
        self.frontier
            .iter()
            .map(|task| self.plan.node_name(task.node))
            .collect()
    }

    /// True when somebody reads the run's events, or its thread is kept.
    pub(super) fn watched(&self) -> bool {
        self.scope.emitter.is_some() || self.recorder.is_some()
    }

    /// Tells and stores what a superstep has made.
    pub(super) async fn conclude(&mut self, wrote: bool) -> Result<(), AgentError> {
        self.release_deferred();
        if wrote {
            self.tell_values().await;
        }
        self.record_superstep().await
    }

    /// A superstep of several tasks: side by side on one snapshot, committed in task order.
    async fn several(&mut self, plan: &Plan<S>) -> Result<Option<End>, AgentError> {
        let mut tasks = std::mem::take(&mut self.frontier);
        let known = tasks.iter().all(|task| task.prior.is_some());
        // Merging may stop half way through a superstep that an earlier run left behind.
        let untouched = known.then(|| Arc::clone(&self.state));
        let endings = self.execute(&mut tasks).await?;
        let mut paused = false;
        let mut refused = None;
        let mut interrupts = Vec::new();
        let mut writes = Vec::with_capacity(tasks.len());
        let mut directions = Vec::with_capacity(tasks.len());
        let mut failed = None;
        for (index, (task, ending)) in tasks.iter().zip(endings).enumerate() {
            let lost = || Ended::Failed(Panicked::lost().into());
            match ending.into_inner().unwrap_or_else(lost) {
                Ended::Finished(done) => {
                    writes.push((task.node, done.output.writes));
                    directions.push((task.node, done.output.jump, done.routes));
                }
                Ended::Asked {
                    questions,
                    ran,
                    refused: bad,
                } => {
                    paused = true;
                    if let (None, Some(error)) = (&refused, bad) {
                        refused = Some(self.failure(task.node, error));
                    }
                    writes.extend(ran.map(|done| (task.node, done.output.writes)));
                    interrupts.extend(self.interrupts(task, index, questions));
                }
                Ended::Failed(error) => {
                    failed.get_or_insert((task.node, error));
                }
            }
        }
        if let Some((node, error)) = failed {
            self.frontier = tasks;
            return Err(self.failure(node, error));
        }
        let wrote = match (self.commit().all(writes), untouched) {
            (Ok(wrote), _) => wrote,
            // What was left behind does not fit together: its tasks run again.
            (Err(_), Some(untouched))
                if !paused && tasks.iter().any(|task| !self.is_start(task)) =>
            {
                self.state = untouched;
                self.frontier = tasks;
                return Box::pin(self.several(plan)).await;
            }
            (Err(error), _) => {
                self.frontier = tasks;
                return Err(error.into());
            }
        };
        if paused {
            // The superstep is not over: what has finished is shown, and waits for the others.
            self.frontier = tasks;
            if wrote {
                self.tell_values().await;
            }
            return Ok(Some(End::paused(interrupts, refused)));
        }
        for (node, jump, routes) in directions {
            match jump {
                Jump::Parent(parent) => return Ok(Some(End::Parent(parent))),
                jump => self.follow(plan, node, jump, routes)?,
            }
        }
        self.settle();
        if self.watched() {
            self.conclude(wrote).await?;
        }
        Ok(None)
    }

    pub(super) fn commit(&mut self) -> Commit<'_, S> {
        Commit {
            plan: &self.plan,
            state: &mut self.state,
            observed: self.changes.is_some() || self.scope.emitter.is_some(),
            changes: self.changes.as_mut(),
        }
    }

    /// The questions of a task as the caller sees them.
    pub(super) fn interrupts(
        &self,
        task: &Task<S>,
        index: usize,
        questions: Questions,
    ) -> Vec<Interrupt> {
        let (base, namespace) = (self.base(), &self.scope.namespace);
        super::load::interrupts(
            &base,
            index,
            &self.plan.node_name(task.node),
            namespace,
            questions,
        )
    }

    /// What the ids of questions of the current superstep begin with.
    fn base(&self) -> String {
        if let Some(checkpoint) = self.recorder.as_ref().and_then(|log| log.current()) {
            return checkpoint.to_string();
        }
        let path: Vec<_> = self.scope.namespace.iter().map(|name| &**name).collect();
        format!("{}#{}@{}", path.join("/"), self.call, self.step)
    }

    /// Tells a task what is known of it from earlier runs.
    pub(super) fn remind(&self, cx: &mut Context, index: usize, task: &Task<S>) {
        if self.given.is_empty() {
            return cx.remember(&task.answers, &task.once);
        }
        // A graph that keeps no log runs from its beginning: it finds its answers by their ids.
        let own = format!("{}:{index}:", self.base());
        let answers = self.given.iter().map(|answer| Answer {
            key: answer
                .key
                .strip_prefix(&own)
                .unwrap_or(&answer.key)
                .to_owned(),
            value: answer.value.clone(),
        });
        let answers: Vec<_> = answers.chain(task.answers.iter().cloned()).collect();
        cx.remember(&answers, &task.once);
    }

    /// The error of a node, with where it happened.
    pub(super) fn failure(&self, node: usize, error: NodeError) -> AgentError {
        // A graph inside has said already what failed where.
        match error.into_agent() {
            Ok(inner) => inner,
            Err(error) => {
                let name = self.plan.node_name(node);
                let namespace = self.scope.namespace.to_vec();
                let source = Failure(error);
                match self.plan.topology.nodes.get(node).map(|node| &node.kind) {
                    Some(NodeKind::Remote { agent }) => AgentError::Remote {
                        node: name,
                        namespace,
                        agent: agent.clone(),
                        source,
                    },
                    _ => AgentError::Node {
                        node: name,
                        namespace,
                        source,
                    },
                }
            }
        }
    }
}

/// Lets others run, now and then: a loop over nodes that never wait stays interruptible.
///
/// By the clock and not by tokio's budget, of which one call takes too little: supersteps may be
/// as long as their nodes compute.
pub(super) async fn give_turn(last: &mut Option<Instant>) {
    match last {
        Some(turn) if turn.elapsed() < TURN_TIME => {}
        Some(turn) => {
            tokio::task::yield_now().await;
            *turn = Instant::now();
        }
        // The clock starts here: a short run need not look at it.
        None => *last = Some(Instant::now()),
    }
}

/// Between two supersteps a cancelled run stops, also one whose nodes never wait.
#[inline]
pub(super) fn check_cancelled(scope: &Scope) -> Result<(), AgentError> {
    match &scope.shared.cancel {
        Some(token) if token.is_cancelled() => Err(AgentError::Cancelled),
        _ => Ok(()),
    }
}
