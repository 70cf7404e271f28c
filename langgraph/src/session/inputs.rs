//! The course of a session: it gets its thread, at once or behind the active run, runs its input, and hands the
//! thread over.

use std::pin::pin;
use std::time::Duration;

use super::{ActiveSession, Outcome, RunInput, prepare};
use crate::error::{AgentError, CheckpointError, NoRuntime};
use crate::graph::inbox::{Delivery, Handover, OpenInbox, RunEnd};
use crate::graph::thread_policy::OnConflict;
use crate::log::Lease;
use crate::node::{Command, Jump, Output};
use crate::state::State;
use crate::superstep::Engine;
use crate::thread::lease::claim;

/// How long a call waits for the thread before it looks again for an active run.
const PATIENCE: Duration = Duration::from_millis(250);

/// What a call on a thread gets.
enum Claim<S: State> {
    /// The active run merged its input.
    Merged(Outcome<S>),
    /// The thread.
    Thread(Handover<S>),
}

impl<S: State> ActiveSession<S> {
    /// Runs the input when the session has its thread; or gives it to the active run, which merges it.
    ///
    /// Its future lives as long as the run, and an async function has room for its arguments twice: the large ones are
    /// boxed.
    pub(super) async fn run(
        &self,
        engine: Box<Engine<S>>,
        mut input: Box<RunInput<S>>,
        mut command: Option<Box<Command<S>>>,
    ) -> Result<Outcome<S>, AgentError> {
        let thread = if self.held {
            // The caller has the lease, and releases it.
            self.claimed(None)
        } else {
            let claimed = self.claim(&engine, &mut input, &mut command);
            match Box::pin(claimed).await? {
                Claim::Merged(outcome) => return Ok(outcome),
                Claim::Thread(thread) => thread,
            }
        };
        let Handover { lease, inbox } = thread;
        let mut lease = lease.map(|lease| lease.with_guard(self.log.ending.clone()));
        let ended = {
            let run = pin!(self.run_input(engine, input, command, &inbox.inbox));
            match &mut lease {
                Some(lease) => lease.during(run).await,
                None => run.await,
            }
        };
        inbox.inbox.report_end(|| run_end(&ended));
        if !self.held {
            hand_over(lease, inbox, ended.is_err()).await;
        }
        ended
    }

    fn open_inbox(&self) -> OpenInbox<S> {
        let inboxes = self.inboxes.clone().unwrap_or_default();
        inboxes.open(&self.log.key.thread)
    }

    async fn claim(
        &self,
        engine: &Engine<S>,
        input: &mut RunInput<S>,
        command: &mut Option<Box<Command<S>>>,
    ) -> Result<Claim<S>, AgentError> {
        let policy = self.policy;
        if !policy.on_conflict.hands_over() || self.at.is_some() {
            let lease = claim(policy, &self.log.saver, &self.log.key.thread).await?;
            return Ok(Claim::Thread(self.claimed(lease)));
        }
        let prepared = match input {
            RunInput::Resume(_) => None,
            RunInput::New(new) => {
                let prepared = prepare::input(&engine.position, new, command.take())?;
                Some(prepared.clone())
            }
        };
        self.deliver_or_claim(prepared).await
    }

    fn claimed(&self, lease: Option<Lease>) -> Handover<S> {
        let inbox = self.open_inbox();
        Handover { lease, inbox }
    }

    /// Waits behind the active run, or takes the lease of the thread.
    async fn deliver_or_claim(&self, input: Option<Output<S>>) -> Result<Claim<S>, AgentError> {
        let policy = self.policy;
        let thread = self.log.key.thread.clone();
        let inboxes = self.inboxes.clone().unwrap_or_default();
        let call = policy.on_conflict.name();
        NoRuntime::handle(|| format!("waiting for other runs on thread `{thread}` ({call})"))?;
        loop {
            let input = input.as_ref();
            let accept = || {
                // An answer counts as accepted when its node has taken it.
                if let (Some(start), Some(_)) = (&self.begun, input) {
                    start.accept();
                }
            };
            let mergeable = input.filter(|input| {
                policy.on_conflict == OnConflict::Join && matches!(input.jump, Jump::Edges)
            });
            match inboxes.deliver(&thread, mergeable.cloned(), accept).await {
                Some(Delivery::HandedOver(thread)) => return Ok(Claim::Thread(thread)),
                Some(Delivery::Ended(end)) => return merged(end, thread).map(Claim::Merged),
                Some(Delivery::Dropped) => {
                    return Err(AgentError::JoinedRun {
                        thread,
                        kind: AgentError::Cancelled.kind(),
                        reason: AgentError::Cancelled.to_string(),
                    });
                }
                Some(Delivery::Returned) | None => {}
            }
            let lease = Lease::take(&self.log.saver, &thread, PATIENCE, policy.lease_term, call);
            match lease.await {
                Ok(lease) => return Ok(Claim::Thread(self.claimed(Some(lease)))),
                Err(CheckpointError::Held { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// Hands the thread over to the call that waits behind a run which has ended.
async fn hand_over<S: State>(mut lease: Option<Lease>, inbox: OpenInbox<S>, failed: bool) {
    let keeps_thread = match &lease {
        Some(lease) if failed => lease.is_held().await,
        _ => true,
    };
    if keeps_thread {
        lease = inbox.hand_over(lease);
    } else {
        // The calls that wait try to take a lease of their own.
        drop(inbox);
    }
    if let Some(lease) = lease {
        lease.release().await;
    }
}

/// Returns the end of a run, for the calls whose inputs it has merged.
fn run_end<S: State>(ended: &Result<Outcome<S>, AgentError>) -> RunEnd<S> {
    match ended {
        Ok(Outcome::Done {
            state,
            unfilled_joins,
        }) => RunEnd::Done(state.clone(), unfilled_joins.clone()),
        Ok(Outcome::Interrupted {
            state,
            interrupts,
            next,
        }) => RunEnd::Interrupted(state.clone(), interrupts.clone(), next.clone()),
        Ok(Outcome::Drained { state, next }) => RunEnd::Drained(state.clone(), next.clone()),
        Err(error) => RunEnd::Failed(error.kind(), error.to_string()),
    }
}

/// Returns the outcome of a call whose input a run has merged.
fn merged<S>(end: RunEnd<S>, thread: String) -> Result<Outcome<S>, AgentError> {
    match end {
        RunEnd::Done(state, unfilled_joins) => Ok(Outcome::Done {
            state,
            unfilled_joins,
        }),
        RunEnd::Interrupted(state, interrupts, next) => Ok(Outcome::Interrupted {
            state,
            interrupts,
            next,
        }),
        RunEnd::Drained(state, next) => Ok(Outcome::Drained { state, next }),
        RunEnd::Failed(kind, reason) => Err(AgentError::JoinedRun {
            thread,
            kind,
            reason,
        }),
    }
}
