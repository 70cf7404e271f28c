//! The course of a session: it gets its thread, at once or behind the active run, runs its input, and hands the
//! thread over.

use std::pin::pin;
use std::time::Duration;

use super::{ActiveSession, Outcome, RunInput, prepare};
use crate::error::{AgentError, CheckpointError, NoRuntime, Panicked};
use crate::graph::inbox::{Delivery, Handover, OpenInbox, Untyped};
use crate::graph::thread_policy::OnConflict;
use crate::log::{BoxFuture, Lease};
use crate::node::{Command, Jump};
use crate::state::State;
use crate::superstep::Engine;
use crate::thread::lease::claim;

/// How long a call waits for the thread before it looks again for an active run.
const PATIENCE: Duration = Duration::from_millis(250);

/// What a call on a thread gets.
enum Claim {
    /// The outcome of the active run, which merged its input.
    Merged(Untyped),
    /// The thread.
    Thread(Handover),
}

impl ActiveSession {
    /// Runs the input when the session has its thread; or gives it to the active run, which merges it.
    ///
    /// Its future lives as long as the run, and an async function has room for its arguments twice: the large ones are
    /// boxed.
    pub(super) async fn run<S: State>(
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
                Claim::Merged(outcome) => {
                    let outcome = outcome.downcast().map(|outcome| *outcome);
                    return outcome.map_err(|_| Panicked::lost().into());
                }
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
        inbox.inbox.report_end(&|| delivery(&ended));
        if !self.held {
            hand_over(lease, inbox, ended.is_err()).await;
        }
        ended
    }

    fn open_inbox(&self) -> OpenInbox {
        let inboxes = self.inboxes.clone().unwrap_or_default();
        inboxes.open(&self.log.key.thread)
    }

    async fn claim<S: State>(
        &self,
        engine: &Engine<S>,
        input: &mut RunInput<S>,
        command: &mut Option<Box<Command<S>>>,
    ) -> Result<Claim, AgentError> {
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
        let joins = policy.on_conflict == OnConflict::Join;
        let mergeable = prepared
            .as_ref()
            .filter(|input| joins && matches!(input.jump, Jump::Edges));
        let copy = || mergeable.map(|input| -> Untyped { Box::new(input.clone()) });
        self.deliver_or_claim(prepared.is_some(), &copy).await
    }

    fn claimed(&self, lease: Option<Lease>) -> Handover {
        let inbox = self.open_inbox();
        Handover { lease, inbox }
    }

    /// Waits behind the active run, which may merge `input`, or takes the lease of the thread. A call with a new input
    /// counts as accepted when it waits; an answer, when its node has taken it.
    fn deliver_or_claim<'a>(
        &'a self,
        is_new: bool,
        input: &'a (dyn Fn() -> Option<Untyped> + Send + Sync),
    ) -> BoxFuture<'a, Result<Claim, AgentError>> {
        Box::pin(async move {
            let policy = self.policy;
            let thread = self.log.key.thread.clone();
            let inboxes = self.inboxes.clone().unwrap_or_default();
            let call = policy.on_conflict.name();
            NoRuntime::handle(|| format!("waiting for other runs on thread `{thread}` ({call})"))?;
            loop {
                let begun = self.begun.as_deref().filter(|_| is_new);
                match inboxes.deliver(&thread, input(), begun).await {
                    Some(Delivery::HandedOver(thread)) => return Ok(Claim::Thread(thread)),
                    Some(Delivery::Ended(outcome)) => return Ok(Claim::Merged(outcome)),
                    Some(Delivery::Failed(kind, reason)) => {
                        return Err(AgentError::JoinedRun {
                            thread,
                            kind,
                            reason,
                        });
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
                let lease =
                    Lease::take(&self.log.saver, &thread, PATIENCE, policy.lease_term, call);
                match lease.await {
                    Ok(lease) => return Ok(Claim::Thread(self.claimed(Some(lease)))),
                    Err(CheckpointError::Held { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        })
    }
}

/// Hands the thread over to the call that waits behind a run which has ended.
fn hand_over(mut lease: Option<Lease>, inbox: OpenInbox, failed: bool) -> BoxFuture<'static, ()> {
    Box::pin(async move {
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
    })
}

/// Returns what becomes of the calls whose inputs a run has merged.
fn delivery<S: State>(ended: &Result<Outcome<S>, AgentError>) -> Delivery {
    match ended {
        Ok(outcome) => Delivery::Ended(Box::new(outcome.clone())),
        Err(error) => Delivery::Failed(error.kind(), error.to_string()),
    }
}
