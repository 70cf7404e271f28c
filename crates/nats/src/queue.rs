//! A queue of tasks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::executor::{Executor, Running, TaskCall, TaskReply};
use tokio::sync::mpsc;

use crate::QueueError;
use crate::driver::{Command, Driver, FromDriver, Mailbox, Submitted, Written, mailbox};
use crate::link::Link;
use crate::metrics::{Counters, Metrics, WorkerInfo};
use crate::objects::Objects;
use crate::options::Options;
use crate::protocol::{Body, Subjects};

/// A queue of tasks: the [`Executor`] of a driver's graphs, and the source of a
/// [`Worker`](crate::Worker)'s tasks.
///
/// Clones are the same queue.
#[derive(Clone, Debug)]
pub struct Queue {
    pub(crate) link: Arc<dyn Link>,
    pub(crate) objects: Objects,
    pub(crate) subjects: Subjects,
    name: String,
    pub(crate) options: Options,
    pub(crate) counters: Arc<Counters>,
    /// The channel to the driver, once a task has begun.
    driver: Arc<Mutex<Option<mpsc::UnboundedSender<Command>>>>,
    next: Arc<AtomicU64>,
    /// The text of the last fingerprint.
    fingerprint: Arc<Mutex<(u64, Arc<str>)>>,
}

/// Orders of up to this many bytes are written before a worker takes them.
const SMALL_ORDER: usize = 4_096;

impl Queue {
    /// Creates the queue of that name over a network.
    pub fn over(link: impl Link, name: &str) -> Self {
        let link: Arc<dyn Link> = Arc::new(link);
        Self {
            objects: Objects::new(Arc::clone(&link), name),
            link,
            subjects: Subjects::new(name),
            name: name.to_owned(),
            options: Options::default(),
            counters: Arc::default(),
            driver: Arc::default(),
            next: Arc::default(),
            fingerprint: Arc::new(Mutex::new((0, fingerprint_text(0)))),
        }
    }

    /// Sets how long a task waits for a worker, one minute unless set; `None` for ever. The time counts
    /// only while no task of the same graph is in flight. A task that no worker takes fails with
    /// [`QueueError::NoWorker`].
    #[must_use]
    pub fn patience(mut self, limit: impl Into<Option<Duration>>) -> Self {
        self.options.patience = limit.into();
        self
    }

    /// Sets after how long without an answer a worker counts as lost, five seconds unless set. A worker
    /// whose process is gone counts as lost at the next ping, within a second.
    #[must_use]
    pub fn lost_after(mut self, limit: Duration) -> Self {
        self.options.lost_after = limit;
        self
    }

    /// Sets how many tasks of a superstep are begun at a time, 1,024 unless set. Set it above the slots of
    /// all workers together.
    #[must_use]
    pub fn at_once(mut self, tasks: usize) -> Self {
        self.options.at_once = tasks.max(1);
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the counters of this driver.
    pub fn metrics(&self) -> Metrics {
        self.counters.now()
    }

    /// Returns the workers that have offered slots to this driver, by name.
    pub fn workers(&self) -> Vec<WorkerInfo> {
        let mut workers: Vec<_> = self.counters.workers().values().cloned().collect();
        workers.sort_by(|a, b| a.name.cmp(&b.name));
        workers
    }

    /// Returns the workers that get no task, because their graph has another fingerprint.
    pub fn refused(&self) -> Vec<String> {
        self.counters.refused()
    }

    /// Returns the channel to the driver, which it starts if needed.
    fn driver(&self) -> mpsc::UnboundedSender<Command> {
        let mut driver = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = driver.as_ref().filter(|known| !known.is_closed()) {
            return known.clone();
        }
        let (commands, run) = Driver::start(self);
        tokio::spawn(run);
        driver.insert(commands).clone()
    }

    fn fingerprint(&self, number: u64) -> Arc<str> {
        let mut last = self
            .fingerprint
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if last.0 != number {
            *last = (number, fingerprint_text(number));
        }
        Arc::clone(&last.1)
    }

    async fn run_task(&self, call: TaskCall<'_>) -> Result<TaskReply, NodeError> {
        let driver = self.driver();
        let task = self.next.fetch_add(1, Ordering::Relaxed);
        let (future, from_driver) = mailbox();
        // Pending tasks are in memory. A large one is written only when it is assigned.
        let written = match Body::small(&call.order(), SMALL_ORDER.min(self.link.limit() / 2))? {
            Some(order) => Some(Written {
                order,
                state: call.snapshot()?,
            }),
            None => None,
        };
        let submitted = Submitted {
            task,
            fingerprint: self.fingerprint(call.fingerprint()),
            future,
            written,
        };
        let ended = || NodeError::from(QueueError::Ended);
        driver
            .send(Command::Submit(submitted))
            .map_err(|_| ended())?;
        let guard = ForgetOnDrop {
            task,
            driver: &driver,
            ended: false,
        };
        self.follow(&call, guard, from_driver).await
    }

    /// Handles the messages of the driver until the task has ended.
    async fn follow(
        &self,
        call: &TaskCall<'_>,
        mut guard: ForgetOnDrop<'_>,
        mut from_driver: Mailbox,
    ) -> Result<TaskReply, NodeError> {
        let ended = || NodeError::from(QueueError::Ended);
        let (task, driver) = (guard.task, guard.driver);
        while let Some(message) = from_driver.recv().await {
            match message {
                FromDriver::Assigned => {
                    let order = call.order();
                    let written = Written {
                        order: self.objects.write(&order, Objects::order()).await?,
                        state: call.snapshot()?,
                    };
                    let command = Command::Send { task, written };
                    driver.send(command).map_err(|_| ended())?;
                }
                FromDriver::Report { report, answer } => {
                    let taken = call.report(*report).await;
                    if let Some(to) = answer {
                        let answer = taken.as_ref().copied().map_err(ToString::to_string);
                        driver
                            .send(Command::Answer { to, answer })
                            .map_err(|_| ended())?;
                        // Of an error of the database, a worker has no more than the text.
                        taken?;
                    }
                }
                FromDriver::Done(reply) => {
                    guard.ended = true;
                    return Ok(self.objects.read(reply).await?);
                }
                FromDriver::NoWorker { patience, refused } => {
                    return Err(QueueError::NoWorker {
                        queue: self.name.clone(),
                        node: call.node().to_owned(),
                        patience,
                        refused,
                    }
                    .into());
                }
            }
        }
        Err(ended())
    }
}

fn fingerprint_text(fingerprint: u64) -> Arc<str> {
    format!("{fingerprint:016x}").into()
}

/// Removes the task from the driver when its future is dropped.
struct ForgetOnDrop<'a> {
    task: u64,
    driver: &'a mpsc::UnboundedSender<Command>,
    /// True once the driver has removed the task.
    ended: bool,
}

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        if !self.ended {
            // A driver that has ended has no tasks.
            let _ = self.driver.send(Command::Forget(self.task));
        }
    }
}

impl Executor for Queue {
    fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
        Box::pin(self.run_task(task))
    }

    fn at_once(&self) -> Option<usize> {
        Some(self.options.at_once)
    }
}
