//! The inputs of a session: its own, and those that later calls have queued.

use std::time::Duration;

use super::{Outcome, RunInput, Session, prepare};
use crate::error::{AgentError, CheckpointError, NoRuntime};
use crate::graph::inbox::{Delivery, TurnEnd};
use crate::graph::thread_policy::{OnConflict, ThreadPolicy};
use crate::log::Lease;
use crate::node::{Command, Jump, Output};
use crate::state::State;
use crate::superstep::Engine;
use crate::thread::lease::{claim, hold};

/// How long a call waits for the thread before it looks again for an active run.
const PATIENCE: Duration = Duration::from_millis(250);

/// What a call on a thread gets.
enum Claim<S> {
    /// The active run took its input.
    Delivered(Outcome<S>),
    /// The lease of the thread, if the policy needs one.
    Thread(Option<Lease>),
}

impl<S: State> Session<S> {
    /// Holds the thread, and runs the input; or gives the input to the active run.
    pub(super) async fn run(
        self,
        engine: Engine<S>,
        mut input: RunInput<S>,
        mut command: Option<Box<Command<S>>>,
    ) -> Result<Outcome<S>, AgentError> {
        if self.options.held {
            return self.run_all(engine, input, command).await;
        }
        let claimed = self.claim(&engine, &mut input, &mut command);
        let lease = match Box::pin(claimed).await? {
            Claim::Delivered(outcome) => return Ok(outcome),
            Claim::Thread(lease) => lease,
        };
        let ending = self.options.ending.clone();
        hold(
            lease,
            ending,
            Box::pin(self.run_all(engine, input, command)),
        )
        .await
    }

    async fn claim(
        &self,
        engine: &Engine<S>,
        input: &mut RunInput<S>,
        command: &mut Option<Box<Command<S>>>,
    ) -> Result<Claim<S>, AgentError> {
        let policy = self.options.thread_policy();
        if !policy.on_conflict.hands_over() || self.options.at.is_some() {
            let lease = claim(policy, &self.log.saver, &self.log.key.thread).await?;
            return Ok(Claim::Thread(lease));
        }
        let prepared = match input {
            RunInput::Resume(_) => None,
            RunInput::New(new) => {
                let given = std::mem::replace(new, Ok(Output::none()));
                let prepared = prepare::input(&engine.position, given, command.take())?;
                *new = Ok(prepared.clone());
                Some(prepared)
            }
        };
        self.deliver_or_claim(policy, prepared).await
    }

    /// Gives the input to the active run, or takes the lease of the thread.
    async fn deliver_or_claim(
        &self,
        policy: ThreadPolicy,
        input: Option<Output<S>>,
    ) -> Result<Claim<S>, AgentError> {
        let thread = self.log.key.thread.clone();
        let inboxes = self.graph.inboxes.clone().unwrap_or_default();
        let call = policy.on_conflict.name();
        NoRuntime::handle(|| format!("waiting for other runs on thread `{thread}` ({call})"))?;
        loop {
            let accept = || {
                if let Some(emitter) = &self.emitter {
                    emitter.start.accept();
                }
            };
            if let Some(input) = &input {
                let merges =
                    policy.on_conflict == OnConflict::Join && matches!(input.jump, Jump::Edges);
                match inboxes.deliver(&thread, input, merges, accept).await {
                    Some(Delivery::Ended(end)) => {
                        return delivered(end, thread).map(Claim::Delivered);
                    }
                    Some(Delivery::Dropped) => {
                        return Err(AgentError::JoinedRun {
                            thread,
                            kind: AgentError::Cancelled.kind(),
                            reason: AgentError::Cancelled.to_string(),
                        });
                    }
                    Some(Delivery::Returned) | None => {}
                }
            }
            let lease = Lease::take(&self.log.saver, &thread, PATIENCE, policy.lease_term, call);
            match lease.await {
                Ok(lease) => return Ok(Claim::Thread(Some(lease))),
                Err(CheckpointError::Held { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Runs its own input, then the queued ones, each as a turn.
    async fn run_all(
        mut self,
        engine: Engine<S>,
        input: RunInput<S>,
        command: Option<Box<Command<S>>>,
    ) -> Result<Outcome<S>, AgentError> {
        let inboxes = self.graph.inboxes.clone().unwrap_or_default();
        let open = inboxes.open(&self.log.key.thread);
        let mut ended = self.run_input(engine, input, command, &open.inbox).await;
        loop {
            open.inbox.end_turn(|| turn_end(&ended));
            if !matches!(ended, Ok(Outcome::Done { .. })) {
                return ended;
            }
            let Some(input) = open.inbox.next_turn() else {
                return ended;
            };
            self.options.at = None;
            let engine = prepare::engine(&self.graph, &self.options, self.emitter.clone())?;
            let input = RunInput::New(Ok(input));
            ended = self.run_input(engine, input, None, &open.inbox).await;
        }
    }
}

/// Returns the end of a turn, for the calls whose inputs it has taken.
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
fn delivered<S>(end: TurnEnd<S>, thread: String) -> Result<Outcome<S>, AgentError> {
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
