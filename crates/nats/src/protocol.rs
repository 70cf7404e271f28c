//! The messages between drivers and workers.

use bytes::Bytes;
use langgraph::executor::{TaskOrder, TaskReply, TaskReport};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::QueueError;
use crate::link::Link;

/// Messages take a few bytes beside what they carry.
const ROOM: usize = 1_024;

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
#[allow(clippy::large_enum_variant)] // most of them are tasks
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToWorker {
    Task {
        task: u64,
        driver: String,
        /// The offer that it answers.
        offer: u64,
        /// The id of the snapshot.
        state: String,
        order: Body<TaskOrder>,
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
#[allow(clippy::large_enum_variant)] // most of them are replies
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
    Done {
        worker: String,
        task: u64,
        reply: Body<TaskReply>,
        /// An offer of the slot that is free now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<u64>,
    },
}

/// A value in a message, or its name in the object store.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body<T> {
    Here(T),
    Stored(String),
}

impl<T: Serialize + DeserializeOwned> Body<T> {
    /// Stores the value if it does not fit into a message.
    pub(crate) async fn new(link: &dyn Link, value: T, name: &str) -> Result<Self, QueueError> {
        let bytes = encode(&value)?;
        // Text inside text may double.
        if bytes.len() * 2 + ROOM <= link.limit() {
            return Ok(Self::Here(value));
        }
        link.put(name.to_owned(), bytes).await?;
        Ok(Self::Stored(name.to_owned()))
    }

    /// Returns the value, and removes it from the store.
    pub(crate) async fn open(self, link: &dyn Link) -> Result<T, QueueError> {
        match self {
            Self::Here(value) => Ok(value),
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
