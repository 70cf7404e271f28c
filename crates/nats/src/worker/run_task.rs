//! Runs one task of a worker.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use langgraph::State;
use langgraph::error::NodeError;
use langgraph::executor::{TaskHost, TaskOrder, TaskReply};
use langgraph::run::CancelToken;

use super::reporter::DriverReporter;
use super::requests::Requests;
use crate::QueueError;
use crate::link::Link;
use crate::objects::Objects;
use crate::protocol::{Body, SnapshotAnswer, Subjects, TaskSent, ToDriver, decode, encode};
use crate::snapshots::Snapshots;

/// What the tasks of a worker use.
pub(super) struct TaskRunner<S: State> {
    pub(super) worker: String,
    pub(super) link: Arc<dyn Link>,
    pub(super) objects: Objects,
    pub(super) subjects: Subjects,
    pub(super) host: TaskHost<S>,
    pub(super) snapshots: Snapshots<S>,
    pub(super) requests: Arc<Requests>,
}

impl<S: State> TaskRunner<S> {
    /// Runs a task; returns its reply, or `None` if that cannot be written.
    pub(super) async fn run(
        &self,
        driver: &str,
        sent: TaskSent,
        cancel: CancelToken,
    ) -> Option<Body> {
        let task = sent.task;
        let run = AssertUnwindSafe(self.reply(driver, sent, cancel));
        // A panic outside of the node is a mistake of this crate; the task fails all the same.
        let reply = run.catch_unwind().await;
        let reply =
            reply.unwrap_or_else(|_| TaskReply::failed(NodeError::msg("the worker panicked")));
        let name = Objects::reply(driver, &self.worker, task);
        match self.objects.write(&reply, name.clone()).await {
            Ok(body) => Some(body),
            Err(error) => {
                let failed = TaskReply::failed(error);
                self.objects.write(&failed, name).await.ok()
            }
        }
    }

    async fn reply(&self, driver: &str, sent: TaskSent, cancel: CancelToken) -> TaskReply {
        let order: TaskOrder = match self.objects.take(sent.order).await {
            Ok(order) => order,
            Err(error) => return TaskReply::failed(error),
        };
        let subject = self.subjects.driver(driver);
        let cell = self.snapshots.cell(&sent.state);
        let state = cell.get_or_try_init(|| self.fetch(&subject, &sent.state));
        let state = match state.await {
            Ok(state) => Arc::clone(state),
            Err(error) => return TaskReply::failed(error),
        };
        let reporter = Arc::new(DriverReporter {
            link: Arc::clone(&self.link),
            requests: Arc::clone(&self.requests),
            driver: subject,
            worker: self.worker.clone(),
            task: sent.task,
        });
        self.host.run(&order, &state, reporter, cancel).await
    }

    /// Fetches a snapshot.
    async fn fetch(&self, driver: &str, id: &str) -> Result<Arc<S>, NodeError> {
        let request = encode(&ToDriver::Snapshot { id: id.to_owned() })?;
        let answer = self.requests.request(driver, request).await?;
        let text = match decode(&answer)? {
            SnapshotAnswer::Text(text) => text,
            SnapshotAnswer::Stored(name) => {
                let text = String::from_utf8(self.objects.get(name).await?.into());
                text.map_err(|error| QueueError::link("invalid text of a state", error))?
            }
            SnapshotAnswer::Gone => {
                return Err(NodeError::msg("the driver has ended the superstep"));
            }
        };
        self.host.snapshot(&text)
    }
}
