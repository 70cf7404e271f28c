//! The way home of a task.

use std::sync::Arc;

use langgraph::NodeError;
use langgraph::executor::{Reported, Reporter, TaskReport};

use super::requests::Requests;
use crate::link::Link;
use crate::protocol::{ReportAnswer, ToDriver, decode, encode};

/// The driver of a task.
pub(super) struct Home {
    pub(super) link: Arc<dyn Link>,
    pub(super) requests: Arc<Requests>,
    /// The subject of the driver.
    pub(super) driver: String,
    pub(super) worker: String,
    pub(super) task: u64,
}

impl Home {
    async fn send(&self, report: TaskReport) -> Result<(), NodeError> {
        let stored = matches!(report, TaskReport::Once(_));
        let (worker, task) = (self.worker.clone(), self.task);
        let message = encode(&ToDriver::Report {
            worker,
            task,
            report,
        })?;
        if !stored {
            return Ok(self.link.send(self.driver.clone(), None, message).await?);
        }
        // It is done once only if the driver has stored it.
        let answer = self.requests.ask(&self.driver, message).await?;
        decode::<ReportAnswer>(&answer)?.map_err(NodeError::msg)
    }
}

impl Reporter for Home {
    fn report(&self, report: TaskReport) -> Reported<'_> {
        Box::pin(self.send(report))
    }
}
