//! The messages between drivers and workers.

use bytes::Bytes;
use langgraph::executor::TaskReport;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::QueueError;
use crate::link::Link;

/// Messages take a few bytes beside what they carry.
pub(crate) const ROOM: usize = 1_024;

/// What everyone on a queue hears.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToAll {
    /// A driver has tasks that wait.
    Work {
        driver: String,
        fingerprint: String,
        /// The number of the announcement.
        epoch: u64,
    },
    /// A worker is new.
    Hello { worker: String },
}

/// What a worker hears.
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

/// What a driver hears.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToDriver {
    /// A worker has a free slot.
    Offer {
        worker: String,
        /// Who that is, for people.
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

/// A task on its way to a worker.
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

/// What a message takes besides the bodies, for each task.
const BESIDE: usize = 160;

impl TaskSent {
    /// Returns the most bytes that it takes in a message.
    pub(crate) fn bytes(&self) -> usize {
        BESIDE + self.order.bytes()
    }
}

impl TaskDone {
    /// Returns the most bytes that it takes in a message.
    pub(crate) fn bytes(&self) -> usize {
        BESIDE + self.reply.bytes()
    }
}

/// A value as JSON in a message, or its name in the object store. It is written once, and read by the task
/// that needs it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    Here(Box<RawValue>),
    Stored(String),
}

impl Body {
    /// Returns the value if it has at most that many bytes.
    pub(crate) fn small(value: &impl Serialize, limit: usize) -> Result<Option<Self>, QueueError> {
        let text = raw(value)?;
        Ok((text.get().len() <= limit).then_some(Self::Here(text)))
    }

    /// Stores the value if it does not fit into a message.
    pub(crate) async fn new(
        link: &dyn Link,
        value: &impl Serialize,
        name: &str,
    ) -> Result<Self, QueueError> {
        let text = raw(value)?;
        if text.get().len() + 2 * ROOM <= link.limit() {
            return Ok(Self::Here(text));
        }
        let bytes = Bytes::copy_from_slice(text.get().as_bytes());
        link.put(name.to_owned(), bytes).await?;
        Ok(Self::Stored(name.to_owned()))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Here(text) => text.get().len(),
            Self::Stored(name) => name.len(),
        }
    }

    /// Returns the value, and removes it from the store.
    pub(crate) async fn open<T: DeserializeOwned>(self, link: &dyn Link) -> Result<T, QueueError> {
        match self {
            Self::Here(text) => decode(text.get().as_bytes()),
            Self::Stored(name) => {
                let value = decode(&link.get(name.clone()).await?)?;
                link.delete(name).await?;
                Ok(value)
            }
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

fn raw(value: &impl Serialize) -> Result<Box<RawValue>, QueueError> {
    to_raw_value(value).map_err(|error| QueueError::link("a message cannot be written", error))
}

pub(crate) fn encode(value: &impl Serialize) -> Result<Bytes, QueueError> {
    let bytes = serde_json::to_vec(value);
    let bytes = bytes.map_err(|error| QueueError::link("a message cannot be written", error))?;
    Ok(bytes.into())
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, QueueError> {
    serde_json::from_slice(bytes)
        .map_err(|error| QueueError::link("a message cannot be read", error))
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

    pub(crate) fn worker(&self, worker: &str) -> String {
        format!("{}.worker.{worker}", self.queue)
    }

    pub(crate) fn driver(&self, driver: &str) -> String {
        format!("{}.driver.{driver}", self.queue)
    }

    /// Where a driver hears that a worker is gone.
    pub(crate) fn pinged(&self, driver: &str, worker: &str) -> String {
        format!("{}.{worker}", self.driver(driver))
    }
}
