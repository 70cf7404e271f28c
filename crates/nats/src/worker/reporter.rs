//! Sends the reports of a task to its driver.

use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::executor::{Reported, Reporter, TaskReport};

use super::requests::Requests;
use crate::link::Link;
use crate::protocol::{ReportAnswer, ToDriver, decode, encode};

/// Sends the reports of one task.
pub(super) struct DriverReporter {
    pub(super) link: Arc<dyn Link>,
    pub(super) requests: Arc<Requests>,
    /// The subject of the driver.
    pub(super) driver: String,
    pub(super) worker: String,
    pub(super) task: u64,
}

impl DriverReporter {
    async fn send(&self, report: TaskReport) -> Result<(), NodeError> {
        let needs_answer = matches!(report, TaskReport::Once(_));
        let (worker, task) = (self.worker.clone(), self.task);
        let message = encode(&ToDriver::Report {
            worker,
            task,
            report,
        })?;
        if !needs_answer {
            return Ok(self.link.send(self.driver.clone(), None, message).await?);
        }
        // A result of `once` counts only when the driver has stored it.
        let answer = self.requests.request(&self.driver, message).await?;
        decode::<ReportAnswer>(&answer)?.map_err(NodeError::msg)
    }
}

impl Reporter for DriverReporter {
    fn report(&self, report: TaskReport) -> Reported<'_> {
        Box::pin(self.send(report))
    }
}
