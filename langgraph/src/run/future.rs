//! The future of a run, with its cancellation and deadline.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::options::{Begin, Options, Run};
use super::turns::OnThread;
use super::{CancelToken, Outcome, exit_flush};
use crate::checkpoint::{Durability, RunStatus};
use crate::error::{AgentError, CheckpointError, NoRuntime, NodeError};
use crate::graph::plan::Plan;
use crate::log::{ExitBuffer, RunGuard, WriteBehind};
use crate::node::NodeId;
use crate::node::{Command, Output, caught};
use crate::run::setup::{engine, log};
use crate::state::State;
use crate::stream::Emitter;
#[cfg(feature = "tracing")]
use crate::superstep::Span;
use crate::superstep::log::Log;
use crate::superstep::log::Snapshots;
use crate::superstep::{End, Engine, normalize_input};
use crate::thread::resume;

impl<S: State> Run<S> {
    /// The run as a future, in a span if somebody listens.
    pub(super) fn drive(self, emitter: Option<Emitter>) -> RunFuture<S> {
        #[cfg(feature = "tracing")]
        if Span::is_watched() {
            return RunFuture(self.in_span(emitter));
        }
        RunFuture(self.bounded(emitter))
    }

    #[cfg(feature = "tracing")]
    fn in_span(mut self, emitter: Option<Emitter>) -> Driven<S> {
        let id = match &emitter {
            Some(emitter) => emitter.start.run_id.clone(),
            None => langgraph_core::new_id().to_string(),
        };
        let graph = &self.graph.topology().name;
        let span = Span::run(&id, graph, self.options.thread.as_deref());
        self.options.run_id = Some(id);
        Box::pin(span.around(self.bounded(emitter)))
    }

    /// Returns the future of the run, with its cancellation and deadline.
    ///
    /// Each rare part is boxed: otherwise every run would reserve memory for it.
    fn bounded(mut self, emitter: Option<Emitter>) -> Driven<S> {
        if self.options.thread.is_some() {
            self.options.ending.get_or_insert_default();
        }
        let timeout = self.options.timeout;
        let cancel = self.options.cancel.clone();
        let ending = self.options.ending.clone();
        let run = self.undisturbed(emitter);
        let run = match timeout {
            None => run,
            Some(limit) => Box::pin(bounded(limit, ending.clone(), run)),
        };
        match cancel {
            None => run,
            Some(token) => Box::pin(cancellable(token, ending, run)),
        }
    }

    /// Returns the future without cancellation and deadline.
    fn undisturbed(self, emitter: Option<Emitter>) -> Driven<S> {
        match self.ready(emitter) {
            Ok(run) => run,
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    /// Checks the options. The future holds no more than the run needs: it is what a run costs.
    fn ready(self, emitter: Option<Emitter>) -> Result<Driven<S>, AgentError> {
        let engine = engine(&self.graph, &self.options, emitter)?;
        let log = log(&self.graph, &self.options)?;
        match (log.zip(self.on_thread), self.begin) {
            (None, Begin::Input(input)) => {
                let mut engine = engine;
                let input = entered(&self.graph.plan, &engine, input, self.command)?;
                Ok(Box::pin(async move {
                    engine.begin(input);
                    let end = engine.run().await?;
                    outcome(engine, end)
                }))
            }
            (None, Begin::Proceed(_)) => Err(CheckpointError::NoCheckpointer(String::new()).into()),
            (Some((log, on_thread)), begin) => {
                let emitter = engine.position.scope.emitter.clone();
                let run = Self { begin, ..self };
                Ok(on_thread.start(OnThread {
                    run,
                    engine,
                    log,
                    emitter,
                }))
            }
        }
    }
}

/// The future of a run: what `run.await` waits for.
///
/// A panic of code that no node calls, such as a state's `Clone`, ends the run and not the program.
pub struct RunFuture<S: State>(Driven<S>);

impl<S: State> Future for RunFuture<S> {
    type Output = Result<Outcome<S>, AgentError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        caught(|| self.0.as_mut().poll(cx))
            .unwrap_or_else(|panic| Poll::Ready(Err(AgentError::Panicked(panic.into_message()))))
    }
}

impl_debug!([S: State] RunFuture<S>);

pub(super) type Driven<S> = Pin<Box<dyn Future<Output = Result<Outcome<S>, AgentError>> + Send>>;

pub(super) fn outcome<S: State>(engine: Engine<S>, end: End) -> Result<Outcome<S>, AgentError> {
    match end {
        End::Done => {
            let shared = &engine.position.scope.shared;
            shared.report_unfilled_joins(engine.unfilled_joins());
            Ok(Outcome::Done {
                unfilled_joins: shared.take_unfilled_joins(),
                state: engine.into_state(),
            })
        }
        End::Paused(_, Some(refused)) => Err(*refused),
        End::Paused(interrupts, None) if interrupts.is_empty() && engine.drains() => {
            let next = engine.frontier.names(&engine.position.plan);
            let state = engine.into_state();
            Ok(Outcome::Drained { state, next })
        }
        End::Paused(interrupts, None) => {
            let next = engine.frontier.names(&engine.position.plan);
            Ok(Outcome::Interrupted {
                interrupts,
                next,
                state: engine.into_state(),
            })
        }
        End::Parent(parent) => Err(AgentError::NoParent {
            command: format!("{parent:?}"),
        }),
    }
}

/// Prepares the input and the update of a command for merging.
pub(super) fn entered<S: State>(
    plan: &Plan<S>,
    engine: &Engine<S>,
    input: Result<Output<S>, NodeError>,
    command: Option<Box<Command<S>>>,
) -> Result<Output<S>, AgentError> {
    let mut input = input.map_err(|error| engine.position.failure(NodeId::START, error))?;
    if let Some(command) = command {
        let command = command.into_parts();
        input.writes.extend(command.writes);
        input.jump = input.jump.and(command.jump);
    }
    normalize_input(plan, &mut input);
    Ok(input)
}

pub(super) async fn with_log<S: State>(
    plan: &Plan<S>,
    engine: &mut Engine<S>,
    log: Log,
    begin: Begin<S>,
    command: Option<Box<Command<S>>>,
    options: &Options,
) -> Result<End, AgentError> {
    match options.durability {
        Durability::Sync => on_thread(plan, engine, log, begin, command, options).await,
        Durability::Async => {
            NoRuntime::handle(|| {
                let thread = &log.key.thread;
                format!("storing thread `{thread}` in the background (`Durability::Async`)")
            })?;
            let behind = Arc::new(WriteBehind::new(Arc::clone(&log.saver), log.ending.clone()));
            let log = Log {
                saver: Arc::<WriteBehind>::clone(&behind),
                // The writer knows what is stored.
                ending: None,
                ..log
            };
            let ended = on_thread(plan, engine, log, begin, command, options).await;
            // The error of the run takes precedence.
            let written = behind.flush().await;
            ended.and_then(|end| Ok(written.map(|()| end)?))
        }
        Durability::Exit => {
            let buffer = Arc::new(ExitBuffer::new(Arc::clone(&log.saver)));
            let log = Log {
                saver: Arc::<ExitBuffer>::clone(&buffer),
                // The end has a snapshot; intermediate ones are useless.
                snapshots: Snapshots::Never,
                encodes: false,
                // Until its end, nothing of the run is stored.
                ending: None,
                ..log
            };
            let ended = on_thread(plan, engine, log.clone(), begin, command, options).await;
            let saved = exit_flush::save(engine, &buffer, &log).await;
            ended.and_then(|end| saved.map(|()| end))
        }
    }
}

async fn on_thread<S: State>(
    plan: &Plan<S>,
    engine: &mut Engine<S>,
    log: Log,
    begin: Begin<S>,
    command: Option<Box<Command<S>>>,
    options: &Options,
) -> Result<End, AgentError> {
    let at = options.at;
    match begin {
        Begin::Input(input) => {
            let input = entered(plan, engine, input, command)?;
            let policy = options.on_open_question.unwrap_or_default();
            Box::pin(resume::start(engine, log, at, input, policy)).await?;
        }
        Begin::Proceed(given) => {
            let mut command = command.map(|command| command.into_parts());
            if let Some(command) = &mut command {
                normalize_input(plan, command);
            }
            Box::pin(resume::proceed(engine, log, at, given?, command)).await?;
        }
    }
    let ended = engine.run().await;
    // A failed run also rests at its end.
    let status = match &ended {
        Ok(End::Done | End::Parent(_)) => RunStatus::Done,
        Ok(End::Paused(interrupts, None)) if interrupts.is_empty() && engine.drains() => {
            RunStatus::Drained
        }
        Ok(End::Paused(..)) => RunStatus::Interrupted,
        Err(AgentError::Cancelled) => RunStatus::Cancelled,
        Err(_) => RunStatus::Failed,
    };
    let rested = engine.observer.rest(status).await;
    ended.and_then(|end| rested.map(|()| end))
}

async fn bounded<S: State>(
    limit: Duration,
    ending: Option<Arc<RunGuard>>,
    mut run: Driven<S>,
) -> Result<Outcome<S>, AgentError> {
    NoRuntime::handle(|| format!("the run's time limit of {limit:?}"))?;
    if let Ok(result) = tokio::time::timeout(limit, run.as_mut()).await {
        return result;
    }
    // The run is dropped next: the thread learns why.
    if let Some(ending) = &ending {
        ending.set(RunStatus::TimedOut);
    }
    stop(run, ending).await;
    Err(AgentError::TimedOut(limit))
}

async fn cancellable<S: State>(
    token: CancelToken,
    ending: Option<Arc<RunGuard>>,
    mut run: Driven<S>,
) -> Result<Outcome<S>, AgentError> {
    let ended = {
        let mut cancelled = pin!(token.cancelled());
        poll_fn(|cx| {
            // The token first, so that a run that is always ready can be cancelled.
            if cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            run.as_mut().poll(cx).map(Some)
        })
        .await
    };
    if let Some(ended) = ended {
        return ended;
    }
    stop(run, ending).await;
    Err(AgentError::Cancelled)
}

/// Drops a run, and waits until nothing of it is written any more.
async fn stop<S: State>(run: Driven<S>, ending: Option<Arc<RunGuard>>) {
    drop(run);
    if let Some(ending) = ending {
        ending.drained().await;
    }
}
