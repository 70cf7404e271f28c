//! Sessions: runs on threads.
//!
//! A session holds its thread, runs its input on it, and hands the thread over to the call that waits
//! behind it. It goes one way: open the log, start or resume, drive the engine, close.

mod exit;
mod inputs;
mod options;
mod outcome;
pub(crate) mod prepare;
pub(crate) mod resume;
pub(crate) mod start;
mod storage;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) use options::CallOptions;
pub use outcome::Outcome;

use self::storage::{Storage, end_of};
use crate::checkpoint::{CheckpointId, Durability, RunStatus};
use crate::error::{AgentError, NodeError};
use crate::graph::CompiledStateGraph;
use crate::graph::inbox::{Inbox, Inboxes};
use crate::graph::thread_policy::ThreadPolicy;
use crate::log::ResumeValue;
use crate::node::{Command, Output};
use crate::record::Log;
use crate::state::State;
use crate::stream::{Emitter, RunStart};
use crate::superstep::{End, Engine};
use crate::task::normalize_input;

/// What a run begins with.
pub(crate) enum RunInput<S: State> {
    /// An input at START.
    New(Result<Output<S>, NodeError>),
    /// The position of the thread, with answers to its interrupts.
    Resume(Result<Vec<ResumeValue>, AgentError>),
}

impl<S: State> Default for RunInput<S> {
    /// Goes on at the position of the thread, without answers.
    fn default() -> Self {
        Self::Resume(Ok(Vec::new()))
    }
}

/// The future of a run.
pub(crate) type BoxedRun<S> = Pin<Box<dyn Future<Output = Result<Outcome<S>, AgentError>> + Send>>;

/// A run on a thread.
pub(crate) struct Session<S: State> {
    pub(crate) graph: CompiledStateGraph<S>,
    pub(crate) options: CallOptions,
    pub(crate) log: Log,
    pub(crate) emitter: Option<Emitter>,
}

impl<S: State> Session<S> {
    /// Starts a session. A run refers to this function only where it names its thread, so that a program without
    /// threads is compiled without what they need.
    pub(crate) fn start(
        self,
        engine: Box<Engine<S>>,
        input: RunInput<S>,
        command: Option<Box<Command<S>>>,
    ) -> BoxedRun<S> {
        let active = ActiveSession {
            policy: self.options.thread_policy(),
            durability: self.options.durability(),
            at: self.options.at,
            held: self.options.held,
            inboxes: self.graph.inboxes,
            begun: self.emitter.map(|emitter| emitter.start),
            log: self.log,
        };
        let input = Box::new(input);
        Box::pin(async move { active.run(engine, input, command).await })
    }
}

/// What a session keeps of its graph and its options until its run ends.
struct ActiveSession {
    log: Log,
    policy: ThreadPolicy,
    durability: Durability,
    /// The checkpoint at which the run begins.
    at: Option<CheckpointId>,
    /// The caller holds the thread.
    held: bool,
    inboxes: Option<Arc<Inboxes>>,
    /// The start of the run, as its stream sees it.
    begun: Option<Arc<RunStart>>,
}

impl ActiveSession {
    /// Runs one input, or resumes.
    async fn run_input<S: State>(
        &self,
        mut engine: Box<Engine<S>>,
        input: Box<RunInput<S>>,
        command: Option<Box<Command<S>>>,
        inbox: &Arc<Inbox>,
    ) -> Result<Outcome<S>, AgentError> {
        engine.inbox = Some(Arc::clone(inbox));
        let storage = Storage::open(self.durability, &self.log)?;
        let started = self.start_or_resume(&mut engine, storage.log(), *input, command);
        let ended = match Box::pin(started).await {
            Ok(()) => drive(&mut engine).await,
            Err(error) => Err(error),
        };
        let end = storage.close(&engine, ended).await?;
        Outcome::of_end(end, engine.position, &engine.frontier)
    }

    async fn start_or_resume<S: State>(
        &self,
        engine: &mut Engine<S>,
        log: &Log,
        input: RunInput<S>,
        command: Option<Box<Command<S>>>,
    ) -> Result<(), AgentError> {
        let at = self.at;
        match input {
            RunInput::New(mut input) => {
                let input = prepare::input(&engine.position, &mut input, command)?;
                let input = std::mem::replace(input, Output::none());
                let policy = self.policy.on_open_interrupt;
                start::start(engine, log, at, input, policy).await
            }
            RunInput::Resume(answers) => {
                let mut command = command.map(|command| command.into_parts());
                if let Some(command) = &mut command {
                    normalize_input(&engine.position.plan, command);
                }
                resume::resume_at(engine, log, at, answers?, command).await
            }
        }
    }
}

/// Runs the engine, and records how the run ended.
async fn drive<S: State>(engine: &mut Engine<S>) -> Result<End, AgentError> {
    let ended = engine.run().await;
    // A failed run has ended too.
    let status = match &ended {
        Ok(End::Done | End::Parent(_)) => RunStatus::Done,
        Ok(End::Paused(interrupts, None)) => {
            let shared = &engine.position.scope.shared;
            shared.pause_status(!interrupts.is_empty())
        }
        Ok(End::Paused(_, Some(_))) => RunStatus::Interrupted,
        Err(AgentError::Cancelled) => RunStatus::Cancelled,
        Err(_) => RunStatus::Failed,
    };
    let interrupts = match &ended {
        Ok(End::Paused(interrupts, _)) => &**interrupts,
        _ => &[],
    };
    let rested = engine.observer.rest(status, interrupts).await;
    end_of(ended, rested)
}
