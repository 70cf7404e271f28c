//! An executor whose other process is this one: all that travels is written down and read again.

use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::executor::{
    Executor, Reported, Reporter, Running, TaskCall, TaskHost, TaskReply, TaskReport,
};
use langgraph::run::CancelToken;
use langgraph::{CompiledStateGraph, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

/// Runs tasks as a worker in another process would.
#[derive(Debug)]
pub struct Loopback<S: State>(TaskHost<S>);

impl<S: State> Loopback<S>
where
    S::Update: Serialize + DeserializeOwned,
{
    /// Creates the executor of a graph.
    pub fn of(graph: &CompiledStateGraph<S>) -> Self {
        Self(graph.task_host())
    }
}

type Answer = oneshot::Sender<Result<(), NodeError>>;

/// The way from the task to its call.
struct Way(mpsc::UnboundedSender<(TaskReport, Answer)>);

impl Reporter for Way {
    fn report(&self, report: TaskReport) -> Reported<'_> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let gone = || NodeError::msg("the other end is gone");
            self.0
                .send((travelled(&report)?, answer))
                .map_err(|_| gone())?;
            answered.await.map_err(|_| gone())?
        })
    }
}

/// A value, as it is after its journey.
fn travelled<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, NodeError> {
    Ok(serde_json::from_slice(&serde_json::to_vec(value)?)?)
}

impl<S: State> Executor for Loopback<S> {
    fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
        Box::pin(async move {
            let order = travelled(&task.order())?;
            let state = self.0.snapshot(&task.snapshot()?.text)?;
            let (way, mut reports) = mpsc::unbounded_channel();
            let run = self
                .0
                .run(&order, &state, Arc::new(Way(way)), CancelToken::new());
            let mut run = std::pin::pin!(run);
            let reply = loop {
                tokio::select! {
                    biased;
                    Some((report, answer)) = reports.recv() => {
                        let _ = answer.send(task.report(report).await);
                    }
                    reply = &mut run => break reply,
                }
            };
            travelled::<TaskReply>(&reply)
        })
    }
}
