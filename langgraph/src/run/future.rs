//! The future of a run, with its cancellation and time limit.

use std::future::{Future, IntoFuture, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::{CancelToken, Outcome, Run};
use crate::checkpoint::RunStatus;
use crate::error::{AgentError, CheckpointError, NoRuntime};
use crate::log::RunGuard;
use crate::node::{Output, caught};
use crate::session::prepare;
use crate::session::{BoxedRun, RunInput, Session};
#[cfg(feature = "tracing")]
use crate::span::Span;
use crate::state::State;
use crate::stream::Emitter;
use crate::superstep::Engine;

impl<S: State> IntoFuture for Run<S> {
    type Output = Result<Outcome<S>, AgentError>;
    type IntoFuture = RunFuture<S>;

    fn into_future(mut self) -> RunFuture<S> {
        self.drive(None)
    }
}

impl<S: State> Run<S> {
    /// Turns the run into a future, in a span if spans are read. It takes what it needs: a run is large, and would be
    /// moved several times.
    pub(super) fn drive(&mut self, emitter: Option<Emitter>) -> RunFuture<S> {
        self.options.run.or(self.graph.defaults.as_deref());
        #[cfg(feature = "tracing")]
        if Span::is_watched() {
            return RunFuture(self.in_span(emitter));
        }
        RunFuture(self.within_limits(emitter))
    }

    #[cfg(feature = "tracing")]
    fn in_span(&mut self, emitter: Option<Emitter>) -> BoxedRun<S> {
        let id = match &emitter {
            Some(emitter) => emitter.start.run_id.clone(),
            None => langgraph_core::new_id().to_string(),
        };
        let graph = &self.graph.topology().name;
        let span = Span::run(&id, graph, self.options.thread.as_deref());
        self.options.run_id = Some(id);
        Box::pin(span.around(self.within_limits(emitter)))
    }

    /// Returns the future of the run, with its cancellation and time limit.
    ///
    /// Each rare part is boxed: otherwise every run would reserve memory for it.
    fn within_limits(&mut self, emitter: Option<Emitter>) -> BoxedRun<S> {
        if self.options.thread.is_some() {
            self.options.ending.get_or_insert_default();
        }
        let timeout = self.options.run.timeout;
        let cancel = self.options.run.cancel.clone();
        let ending = self.options.ending.clone();
        let run = match self.prepare(emitter) {
            Ok(run) => run,
            Err(error) => Box::pin(std::future::ready(Err(error))),
        };
        let run = match timeout {
            None => run,
            Some(limit) => Box::pin(limited(limit, ending.clone(), run)),
        };
        match cancel {
            None => run,
            Some(token) => Box::pin(cancellable(token, ending, run)),
        }
    }

    /// Checks the options. The future holds no more than the run needs: it is what a run costs.
    fn prepare(&mut self, emitter: Option<Emitter>) -> Result<BoxedRun<S>, AgentError> {
        let (position, breakpoints) = prepare::position(&self.graph, &self.options, emitter)?;
        let log = prepare::log(&self.graph, &self.options)?;
        let command = self.command.take();
        let mut engine = Box::new(Engine::new(position, breakpoints, self.graph.state_codec()));
        if let (Some(log), Some(start)) = (log, self.session) {
            let emitter = engine.position.scope.emitter.as_deref().cloned();
            let session = Session {
                graph: self.graph.clone(),
                options: std::mem::take(&mut self.options),
                log,
                emitter,
            };
            let input = std::mem::take(&mut self.input);
            return Ok(start(session, engine, input, command));
        }
        let RunInput::New(input) = &mut self.input else {
            return Err(CheckpointError::NoCheckpointer(String::new()).into());
        };
        let prepared = || prepare::input(&engine.position, input, command);
        let input = prepare::own_code(prepared)??;
        engine.begin(std::mem::replace(input, Output::none()));
        Ok(Box::pin(async move {
            let end = engine.run().await?;
            Outcome::of_end(end, engine.position, &engine.frontier)
        }))
    }
}

/// The future of a run: what `run.await` waits for.
///
/// A panic of code that no node calls, such as a state's `Clone`, ends the run and not the program.
pub struct RunFuture<S: State>(BoxedRun<S>);

impl<S: State> Future for RunFuture<S> {
    type Output = Result<Outcome<S>, AgentError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        caught(|| self.0.as_mut().poll(cx))
            .unwrap_or_else(|panic| Poll::Ready(Err(AgentError::Panicked(panic.into_message()))))
    }
}

impl_debug!([S: State] RunFuture<S>);

async fn limited<S: State>(
    limit: Duration,
    ending: Option<Arc<RunGuard>>,
    mut run: BoxedRun<S>,
) -> Result<Outcome<S>, AgentError> {
    NoRuntime::handle(|| format!("the run's time limit of {limit:?}"))?;
    if let Ok(result) = tokio::time::timeout(limit, run.as_mut()).await {
        return result;
    }
    // The run is dropped next: the thread learns why.
    if let Some(ending) = &ending {
        ending.set(RunStatus::TimedOut);
    }
    Err(stop(run, ending, AgentError::TimedOut(limit)).await)
}

async fn cancellable<S: State>(
    token: CancelToken,
    ending: Option<Arc<RunGuard>>,
    mut run: BoxedRun<S>,
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
    Err(stop(run, ending, AgentError::Cancelled).await)
}

/// Drops a run, and waits until nothing of it is written any more. Returns the error of the run: why it was stopped, or
/// why something could not be stored, which the caller does not know yet.
async fn stop<S: State>(
    run: BoxedRun<S>,
    ending: Option<Arc<RunGuard>>,
    why: AgentError,
) -> AgentError {
    drop(run);
    let Some(ending) = ending else { return why };
    ending.drained().await;
    ending.take_failure().map_or(why, AgentError::from)
}
