//! A node inside its policies. Nodes without policies never come here.

use std::future::Future;
use std::sync::Arc;

use super::configured::Policies;
use super::policy::{NodeTimeout, TimeoutKind};
use super::{Call, NodeError, NodeRun, Output, Step};
use crate::state::State;

pub(super) struct Guarded<S: State> {
    step: Arc<dyn Step<S>>,
    policies: Policies,
}

impl<S: State> Guarded<S> {
    pub(super) fn new(step: Arc<dyn Step<S>>, policies: Policies) -> Self {
        Self { step, policies }
    }

    async fn run(&self, call: Call<'_, S>) -> Result<Output<S>, NodeError> {
        let mut attempt = 1;
        loop {
            call.cx.begin_attempt(attempt);
            let error = match self.bounded(self.step.call(call)).await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            // A question is not a failure: it waits for its answer.
            if call.cx.has_open_question() {
                return Err(error);
            }
            let policy = self
                .policies
                .retry
                .iter()
                .find(|policy| policy.accepts(&error));
            match policy {
                Some(policy) if attempt < policy.max_attempts => {
                    tokio::time::sleep(policy.wait(attempt)).await;
                    attempt += 1;
                }
                _ => return Err(error),
            }
        }
    }

    async fn bounded(
        &self,
        run: impl Future<Output = Result<Output<S>, NodeError>>,
    ) -> Result<Output<S>, NodeError> {
        match self.policies.timeout {
            None => run.await,
            Some(limit) => match tokio::time::timeout(limit, run).await {
                Ok(answer) => answer,
                Err(_) => Err(NodeTimeout {
                    kind: TimeoutKind::Run,
                    limit,
                }
                .into()),
            },
        }
    }
}

impl<S: State> Step<S> for Guarded<S> {
    fn call<'a>(&'a self, call: Call<'a, S>) -> NodeRun<'a, S> {
        NodeRun::future(self.run(call))
    }
}
