//! The turns of a run on a thread: its own, and those of inputs that later calls hand to it.

use std::sync::Arc;
use std::time::Duration;

use super::Outcome;
use super::future::{Driven, entered, outcome, with_log};
use super::options::{Begin, Options, Run};
use super::setup;
use crate::error::{AgentError, CheckpointError, NoRuntime};
use crate::graph::CompiledStateGraph;
use crate::graph::inbox::{Handed, TurnEnd};
use crate::graph::thread_policy::{OnConflict, ThreadPolicy};
use crate::log::Lease;
use crate::node::{Command, Jump, Output};
use crate::state::State;
use crate::stream::Emitter;
use crate::superstep::Engine;
use crate::superstep::log::Log;
use crate::thread::lease::{claim, hold};

/// How long a call waits for the thread before it looks again for an active run.
const PATIENCE: Duration = Duration::from_millis(250);

/// A run on a thread, ready to start.
pub(super) struct OnThread<S: State> {
    pub(super) run: Run<S>,
    pub(super) engine: Engine<S>,
    pub(super) log: Log,
    pub(super) emitter: Option<Emitter>,
}

/// A call on a thread either joins the active run or claims the thread.
enum JoinOrClaim<S> {
    /// The active run took its input.
    Joined(Outcome<S>),
    /// No run is active; this one holds the lease.
    Claimed(Lease),
}

/// Starts runs on threads.
pub(super) trait StartOnThread<S: State>: Send + Sync {
    fn start(&self, run: OnThread<S>) -> Driven<S>;
}

pub(super) struct Start;

impl<S: State> StartOnThread<S> for Start {
    fn start(&self, run: OnThread<S>) -> Driven<S> {
        Box::pin(run.start())
    }
}

impl<S: State> OnThread<S> {
    /// Runs under the policy of the thread.
    async fn start(mut self) -> Result<Outcome<S>, AgentError> {
        let mut policy = self.run.graph.threads;
        let options = &mut self.run.options;
        policy.on_conflict = options.on_conflict.unwrap_or(policy.on_conflict);
        options
            .on_open_question
            .get_or_insert(policy.on_open_question);
        if options.held {
            return Box::pin(self.turns()).await;
        }
        let lease = if policy.on_conflict.hands_over() && options.at.is_none() {
            match Box::pin(self.join_or_claim(policy)).await? {
                JoinOrClaim::Joined(outcome) => return Ok(outcome),
                JoinOrClaim::Claimed(lease) => Some(lease),
            }
        } else {
            claim(policy, &self.log.saver, &self.log.key.thread).await?
        };
        let ending = self.run.options.ending.clone();
        hold(lease, ending, Box::pin(self.turns())).await
    }

    /// Hands the input to the active run, or takes the lease of the thread.
    async fn join_or_claim(&mut self, policy: ThreadPolicy) -> Result<JoinOrClaim<S>, AgentError> {
        let (graph, thread) = (self.run.graph.clone(), self.log.key.thread.clone());
        let inboxes = graph.inboxes.clone().unwrap_or_default();
        let input = self.input()?;
        let call = policy.on_conflict.name();
        NoRuntime::handle(|| format!("waiting for other runs on thread `{thread}` ({call})"))?;
        loop {
            let accept = || {
                if let Some(emitter) = &self.emitter {
                    emitter.start.accept();
                }
            };
            if let Some(input) = &input {
                let joins =
                    policy.on_conflict == OnConflict::Join && matches!(input.jump, Jump::Edges);
                match inboxes.hand(&thread, input, joins, accept).await {
                    Some(Handed::Ended(end)) => {
                        return joined(end, thread).map(JoinOrClaim::Joined);
                    }
                    Some(Handed::Dropped) => {
                        return Err(AgentError::JoinedRun {
                            thread,
                            kind: AgentError::Cancelled.kind(),
                            reason: AgentError::Cancelled.to_string(),
                        });
                    }
                    Some(Handed::Returned) | None => {}
                }
            }
            let lease = Lease::take(&self.log.saver, &thread, PATIENCE, policy.lease_term, call);
            match lease.await {
                Ok(lease) => return Ok(JoinOrClaim::Claimed(lease)),
                Err(CheckpointError::Held { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the input of the run, prepared; `None` if it resumes. Its own turn then takes the
    /// same input.
    fn input(&mut self) -> Result<Option<Output<S>>, AgentError> {
        let Run {
            graph,
            begin,
            command,
            ..
        } = &mut self.run;
        let Begin::Input(input) = begin else {
            return Ok(None);
        };
        let given = std::mem::replace(input, Ok(Output::none()));
        let prepared = entered(&graph.plan, &self.engine, given, command.take())?;
        *input = Ok(prepared.clone());
        Ok(Some(prepared))
    }

    /// Runs the turn of its own input, then those of the inputs that it is handed.
    async fn turns(self) -> Result<Outcome<S>, AgentError> {
        let Self {
            run,
            mut engine,
            log,
            emitter,
        } = self;
        let Run {
            graph,
            begin,
            command,
            mut options,
            ..
        } = run;
        let inboxes = graph.inboxes.clone().unwrap_or_default();
        let open = inboxes.open(&log.key.thread);
        engine.inbox = Some(Arc::clone(&open.inbox));
        let mut ended = turn(&graph, engine, log.clone(), begin, command, &options).await;
        loop {
            open.inbox.end_turn(|| turn_end(&ended));
            if !matches!(ended, Ok(Outcome::Done { .. })) {
                return ended;
            }
            let Some(input) = open.inbox.next_turn() else {
                return ended;
            };
            options.at = None;
            let mut engine = setup::engine(&graph, &options, emitter.clone())?;
            engine.inbox = Some(Arc::clone(&open.inbox));
            let begin = Begin::Input(Ok(input));
            ended = turn(&graph, engine, log.clone(), begin, None, &options).await;
        }
    }
}

/// Runs one turn.
async fn turn<S: State>(
    graph: &CompiledStateGraph<S>,
    mut engine: Engine<S>,
    log: Log,
    begin: Begin<S>,
    command: Option<Box<Command<S>>>,
    options: &Options,
) -> Result<Outcome<S>, AgentError> {
    let end = with_log(&graph.plan, &mut engine, log, begin, command, options).await?;
    outcome(engine, end)
}

/// Returns what the calls learn whose inputs a turn has taken.
fn turn_end<S: State>(ended: &Result<Outcome<S>, AgentError>) -> TurnEnd<S> {
    match ended {
        Ok(Outcome::Done {
            state,
            unfilled_joins,
        }) => TurnEnd::Done(state.clone(), unfilled_joins.clone()),
        Ok(Outcome::Interrupted {
            state,
            interrupts,
            next,
        }) => TurnEnd::Paused(state.clone(), interrupts.clone(), next.clone()),
        Ok(Outcome::Drained { state, next }) => {
            TurnEnd::Paused(state.clone(), Vec::new(), next.clone())
        }
        Err(error) => TurnEnd::Failed(error.kind(), error.to_string()),
    }
}

/// Returns the outcome of a call whose input a turn has taken.
fn joined<S>(end: TurnEnd<S>, thread: String) -> Result<Outcome<S>, AgentError> {
    match end {
        TurnEnd::Done(state, unfilled_joins) => Ok(Outcome::Done {
            state,
            unfilled_joins,
        }),
        TurnEnd::Paused(state, interrupts, next) => Ok(Outcome::Interrupted {
            state,
            interrupts,
            next,
        }),
        TurnEnd::Failed(kind, reason) => Err(AgentError::JoinedRun {
            thread,
            kind,
            reason,
        }),
    }
}
