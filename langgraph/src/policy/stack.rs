//! A node inside its policies. Nodes without policies do not use this module.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::RetryPolicy;
use super::cache::Cached;
use super::error_handler::{ErasedHandler, NodeFailure};
use super::limits::alarm;
use super::middleware::{Middleware, NodeCall};
use super::policies::Policies;
use crate::error::NodeError;
use crate::log::TaskPosition;
use crate::node::{Call, Context, ErasedItem, GraphNode, NodeRun, Output, Step, catch};
use crate::state::State;

/// From the outside in: the cache, the error handler, the retries, the middleware, the time limits,
/// the node.
pub(crate) struct Stack<S: State> {
    pub(crate) cache: Option<Cached<S>>,
    handler: Option<Arc<dyn ErasedHandler<S>>>,
    retry: Vec<RetryPolicy>,
    middleware: Vec<Arc<dyn Middleware<S>>>,
    node: Limited<S>,
}

/// A node inside its time limits.
struct Limited<S: State> {
    step: Arc<dyn Step<S>>,
    timeout: Option<Duration>,
    idle: Option<Duration>,
}

impl<S: State> Stack<S> {
    pub(crate) fn new(
        step: Arc<dyn Step<S>>,
        cache: Option<Cached<S>>,
        policies: Policies<S>,
    ) -> Self {
        Self {
            cache,
            handler: policies.handler,
            retry: policies.retry,
            middleware: policies.middleware,
            node: Limited {
                step,
                timeout: policies.timeout,
                idle: policies.idle,
            },
        }
    }

    async fn run(&self, call: Call<'_, S>) -> Result<Output<S>, NodeError> {
        let Some(cache) = self.cached(call.cx) else {
            return self.handled(call).await;
        };
        let key = cache.key(&call)?;
        if let Some(output) = cache.get(&key, call.cx).await {
            call.cx.answer_from_cache();
            return Ok(output);
        }
        match self.attempts(call).await {
            Ok(output) => {
                if !call.cx.has_open_interrupt() {
                    cache.put(key, &output, call).await;
                }
                Ok(output)
            }
            Err(failed) => self.handle(call, failed).await,
        }
    }

    /// Returns the cache, unless a person's answers affect the node's output. A run that rehearses what is stored takes
    /// nothing from other runs, and leaves them nothing.
    fn cached(&self, cx: &Context) -> Option<&Cached<S>> {
        let rehearses = cx.place().is_some_and(TaskPosition::is_dry_run);
        let cache = self.cache.as_ref();
        cache.filter(|_| !cx.has_answers() && !rehearses)
    }

    async fn handled(&self, call: Call<'_, S>) -> Result<Output<S>, NodeError> {
        match self.attempts(call).await {
            Ok(output) => Ok(output),
            Err(failed) => self.handle(call, failed).await,
        }
    }

    async fn handle(&self, call: Call<'_, S>, failed: Failed) -> Result<Output<S>, NodeError> {
        let Failed { error, attempts } = failed;
        match &self.handler {
            // An interrupt is not a failure.
            Some(handler) if !call.cx.has_open_interrupt() => {
                let item = call.item.and_then(|item| item.to_json().ok());
                let failure = NodeFailure::new(call.cx.name(), error, attempts, item);
                let answer = handler.handle(call.state, &failure, call.cx).await;
                answer.map_err(|error| failure.after(error))
            }
            _ => Err(error),
        }
    }

    async fn attempts(&self, call: Call<'_, S>) -> Result<Output<S>, Failed> {
        let mut attempts = 1;
        loop {
            call.cx.begin_attempt(attempts, !self.retry.is_empty());
            let answer = if self.middleware.is_empty() {
                self.node.run(call).await
            } else {
                NodeCall::new(call, &self.middleware, &self.node)
                    .run()
                    .await
            };
            let error = match answer {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            // An interrupt is not a failure: it waits for its answer.
            let is_failure = !call.cx.has_open_interrupt();
            let policy = self.retry.iter().find(|policy| policy.accepts(&error));
            match policy {
                Some(policy) if is_failure => match policy.next_attempt(attempts, &error).await {
                    Ok(true) => attempts += 1,
                    Ok(false) => return Err(Failed { error, attempts }),
                    Err(error) => return Err(Failed { error, attempts }),
                },
                _ => return Err(Failed { error, attempts }),
            }
        }
    }
}

impl<S: State> Limited<S> {
    async fn run(&self, call: Call<'_, S>) -> Result<Output<S>, NodeError> {
        // A panic becomes an error here, so that it is retried and handled like one.
        let run = catch(|| self.step.call(call));
        let Some(mut alarm) = alarm(self.timeout, self.idle, call.cx)? else {
            return run.await;
        };
        let mut run = pin!(run);
        poll_fn(|cx| match run.as_mut().poll(cx) {
            Poll::Pending => alarm.as_mut().poll(cx).map(|exceeded| Err(exceeded.into())),
            answer @ Poll::Ready(_) => answer,
        })
        .await
    }
}

impl<S: State> Step<S> for Limited<S> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        NodeRun::future(self.run(call))
    }
}

/// A failed node without attempts left.
struct Failed {
    error: NodeError,
    attempts: u32,
}

impl<S: State> Step<S> for Stack<S> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        NodeRun::future(self.run(call))
    }

    fn graph(&self) -> Option<GraphNode<'_>> {
        self.node.step.graph()
    }

    fn check_item(&self, item: &dyn ErasedItem, node: &str) -> Result<(), NodeError> {
        self.node.step.check_item(item, node)
    }
}
