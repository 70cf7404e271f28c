//! The messages between drivers and workers.

use bytes::Bytes;
use langgraph::executor::TaskReport;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::QueueError;

/// The bytes of a message besides its tasks, at most.
pub(crate) const MESSAGE_OVERHEAD: usize = 1_024;

/// A message to all drivers and workers of a queue.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToAll {
    /// A driver has pending tasks.
    Work {
        driver: String,
        fingerprint: String,
        /// The number of the announcement.
        epoch: u64,
    },
    /// A worker has started.
    Hello { worker: String },
}

/// A message to a worker.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToWorker {
    /// Tasks that were ready at the same time.
    Tasks {
        driver: String,
        tasks: Vec<TaskSent>,
    },
    /// The driver has no task for the offer.
    Decline {
        driver: String,
        offer: u64,
        /// The last announcement of the driver.
        epoch: u64,
        /// The fingerprint that the driver needs, if the worker has another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wanted: Option<String>,
    },
    Cancel {
        task: u64,
        driver: String,
    },
    Ping {
        driver: String,
        number: u64,
    },
}

/// A message to a driver.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToDriver {
    /// A worker has a free slot.
    Offer {
        worker: String,
        /// The worker's name, for people.
        name: String,
        fingerprint: String,
        offer: u64,
    },
    Pong {
        worker: String,
        number: u64,
        /// The tasks of this driver that run.
        tasks: Vec<u64>,
    },
    /// Asks for a snapshot.
    Snapshot { id: String },
    Report {
        worker: String,
        task: u64,
        report: TaskReport,
    },
    /// Tasks that had ended at the same time.
    Done {
        worker: String,
        tasks: Vec<TaskDone>,
    },
}

/// A task, as it is sent to a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TaskSent {
    pub(crate) task: u64,
    /// The offer that it answers.
    pub(crate) offer: u64,
    /// The id of the snapshot.
    pub(crate) state: String,
    /// A [`TaskOrder`](langgraph::executor::TaskOrder).
    pub(crate) order: Body,
}

/// A task that a worker has run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TaskDone {
    pub(crate) task: u64,
    /// A [`TaskReply`](langgraph::executor::TaskReply).
    pub(crate) reply: Body,
    /// An offer of the slot that is free now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<u64>,
}

/// The bytes of a task in a message besides its body, at most.
const TASK_OVERHEAD: usize = 160;

impl TaskSent {
    /// Returns the most bytes that it takes in a message.
    pub(crate) fn bytes(&self) -> usize {
        TASK_OVERHEAD + self.order.bytes()
    }
}

impl TaskDone {
    /// Returns the most bytes that it takes in a message.
    pub(crate) fn bytes(&self) -> usize {
        TASK_OVERHEAD + self.reply.bytes()
    }
}

/// A value as JSON in a message, or the name of its object. It is written once, and read by the task that
/// needs it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    Inline(Box<RawValue>),
    Stored(String),
}

impl Body {
    /// Returns the value if it has at most that many bytes.
    pub(crate) fn small(value: &impl Serialize, limit: usize) -> Result<Option<Self>, QueueError> {
        let text = raw(value)?;
        Ok((text.get().len() <= limit).then_some(Self::Inline(text)))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Inline(text) => text.get().len(),
            Self::Stored(name) => name.len(),
        }
    }
}

/// The answer to a worker that asks for a snapshot.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SnapshotAnswer {
    Text(String),
    Stored(String),
    /// The superstep is over.
    Gone,
}

/// The answer to a report that has to be stored.
pub(crate) type ReportAnswer = Result<(), String>;

pub(crate) fn raw(value: &impl Serialize) -> Result<Box<RawValue>, QueueError> {
    to_raw_value(value).map_err(|error| QueueError::link("failed to encode a message", error))
}

pub(crate) fn encode(value: &impl Serialize) -> Result<Bytes, QueueError> {
    let bytes = serde_json::to_vec(value);
    let bytes = bytes.map_err(|error| QueueError::link("failed to encode a message", error))?;
    Ok(bytes.into())
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, QueueError> {
    serde_json::from_slice(bytes)
        .map_err(|error| QueueError::link("failed to decode a message", error))
}

/// The subjects of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Subjects {
    queue: String,
}

impl Subjects {
    pub(crate) fn new(queue: &str) -> Self {
        Self {
            queue: format!("langgraph.{queue}"),
        }
    }

    pub(crate) fn all(&self) -> String {
        format!("{}.all", self.queue)
    }

    /// Where the network reports that a driver did not receive a worker's message.
    pub(crate) fn undelivered(&self, worker: &str, driver: &str) -> String {
        format!("{}.undelivered.{worker}.{driver}", self.queue)
    }

    pub(crate) fn worker(&self, worker: &str) -> String {
        format!("{}.worker.{worker}", self.queue)
    }

    pub(crate) fn driver(&self, driver: &str) -> String {
        format!("{}.driver.{driver}", self.queue)
    }

    /// Where the network reports that a worker did not receive a driver's message.
    pub(crate) fn undelivered_to_worker(&self, driver: &str, worker: &str) -> String {
        format!("{}.{worker}", self.driver(driver))
    }
}
