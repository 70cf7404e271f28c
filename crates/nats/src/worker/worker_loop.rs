//! The loop of a worker: messages of drivers in, replies and offers out.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use langgraph::State;
use langgraph::run::CancelToken;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::Instrument as _;

use super::Worker;
use super::offers::Offers;
use super::requests::Requests;
use super::run_task::TaskRunner;
use crate::link::Packet;
use crate::protocol::{
    Body, MESSAGE_OVERHEAD, TaskDone, TaskSent, ToAll, ToDriver, ToWorker, decode, encode,
};
use crate::snapshots::Snapshots;
use crate::{Queue, QueueError, id};

/// The tasks of a driver that has sent no ping for this time are dropped.
const DRIVER_TIMEOUT: Duration = Duration::from_secs(15);

const TICK: Duration = Duration::from_millis(500);

struct RunningTask {
    work: JoinHandle<()>,
    cancel: CancelToken,
}

/// A task that has ended here.
struct EndedTask {
    driver: String,
    task: u64,
    /// None if it cannot be written.
    reply: Option<Body>,
}

/// What a worker receives from.
struct Inputs {
    /// Messages of drivers to this worker.
    packets: mpsc::Receiver<Packet>,
    /// Messages to all workers and drivers of the queue.
    all: mpsc::Receiver<Packet>,
    /// The network's reports that a driver did not receive a message.
    undelivered: mpsc::Receiver<Packet>,
    _answers: AbortOnDrop,
}

pub(super) struct WorkerLoop<S: State> {
    runner: Arc<TaskRunner<S>>,
    stop: CancelToken,
    name: String,
    queue: String,
    fingerprint: String,
    offers: Offers,
    /// Drivers of other graphs, which know this worker, and when they last announced work.
    unknown_drivers: BTreeMap<String, Instant>,
    running: BTreeMap<(String, u64), RunningTask>,
    /// When each driver last sent a task or a ping.
    last_ping: BTreeMap<String, Instant>,
    ended: mpsc::UnboundedSender<EndedTask>,
    endings: mpsc::UnboundedReceiver<EndedTask>,
}

impl<S: State> WorkerLoop<S> {
    pub(super) fn new(worker: Worker<S>, queue: &Queue) -> Self {
        let id = id::generate();
        let (ended, endings) = mpsc::unbounded_channel();
        let fingerprint = worker.host.graph().topology().fingerprint();
        let link = Arc::clone(&queue.link);
        let requests = Requests::new(Arc::clone(&link), queue.subjects.worker(&id));
        Self {
            runner: Arc::new(TaskRunner {
                worker: id,
                link,
                objects: queue.objects.clone(),
                subjects: queue.subjects.clone(),
                host: worker.host,
                snapshots: Snapshots::default(),
                requests: Arc::new(requests),
            }),
            stop: worker.stop,
            name: worker.name,
            queue: queue.name().to_owned(),
            fingerprint: format!("{fingerprint:016x}"),
            offers: Offers::new(worker.slots),
            unknown_drivers: BTreeMap::new(),
            running: BTreeMap::new(),
            last_ping: BTreeMap::new(),
            ended,
            endings,
        }
    }

    pub(super) async fn run(mut self) -> Result<(), QueueError> {
        let mut inputs = self.listen().await?;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.stop.clone();
        loop {
            if stop.is_cancelled() || stop.is_draining() && self.running.is_empty() {
                return Ok(());
            }
            // Of each of the first, there is little at a time.
            let done = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                _ = ticks.tick() => self.tick().await,
                Some(ended) = self.endings.recv() => self.end(ended).await,
                Some(packet) = inputs.undelivered.recv() => self.undelivered(&packet).await,
                packet = inputs.all.recv() => match packet {
                    None => return Err(QueueError::Ended),
                    Some(packet) => self.announced(packet).await,
                },
                packet = inputs.packets.recv() => match packet {
                    None => return Err(QueueError::Ended),
                    Some(packet) => self.packet(packet).await,
                },
            };
            if let Err(error) = done {
                tracing::warn!(%error, worker = self.name, "a worker failed to handle a message");
            }
        }
    }

    /// Subscribes, and greets the drivers.
    async fn listen(&self) -> Result<Inputs, QueueError> {
        let runner = &self.runner;
        let own = runner.subjects.worker(&runner.worker);
        let undelivered = runner.subjects.undelivered(&runner.worker, ">");
        let mut answers = runner.link.listen(format!("{own}.>")).await?;
        let requests = Arc::clone(&runner.requests);
        let answered = tokio::spawn(async move {
            while let Some(packet) = answers.recv().await {
                requests.answered(packet);
            }
        });
        let inputs = Inputs {
            packets: runner.link.listen(own).await?,
            all: runner.link.listen(runner.subjects.all()).await?,
            undelivered: runner.link.listen(undelivered).await?,
            _answers: AbortOnDrop(answered),
        };
        let worker = runner.worker.clone();
        let hello = encode(&ToAll::Hello { worker })?;
        runner.link.send(runner.subjects.all(), None, hello).await?;
        Ok(inputs)
    }

    /// Handles the announcement of a driver with work.
    async fn announced(&mut self, packet: Packet) -> Result<(), QueueError> {
        let Some(Ok(ToAll::Work {
            driver,
            fingerprint,
            epoch,
        })) = packet.payload.as_deref().map(decode)
        else {
            return Ok(());
        };
        if fingerprint != self.fingerprint {
            // One offer, without a slot, lets the driver name this worker.
            let last = self.unknown_drivers.insert(driver.clone(), Instant::now());
            return match last {
                None => self.offer(&driver, 0).await,
                Some(_) => Ok(()),
            };
        }
        self.offers.announced(driver, epoch);
        self.offer_free_slots().await
    }

    async fn undelivered(&mut self, packet: &Packet) -> Result<(), QueueError> {
        if packet.payload.is_none() {
            let driver = packet.subject.rsplit('.').next().unwrap_or_default();
            self.offers.remove(driver);
        }
        self.offer_free_slots().await
    }

    async fn packet(&mut self, packet: Packet) -> Result<(), QueueError> {
        let Some(payload) = &packet.payload else {
            return Ok(());
        };
        match decode(payload)? {
            ToWorker::Tasks { driver, tasks } => {
                self.last_ping.insert(driver.clone(), Instant::now());
                for sent in tasks {
                    self.offers.accepted(sent.offer);
                    self.start(driver.clone(), sent);
                }
                Ok(())
            }
            ToWorker::Decline {
                driver,
                offer,
                epoch,
                wanted,
            } => {
                if let Some(wanted) = wanted {
                    tracing::warn!(
                        worker = self.name,
                        own = self.fingerprint,
                        wanted,
                        "a driver has another graph, and gives this worker no tasks"
                    );
                }
                self.offers.declined(&driver, offer, epoch);
                self.offer_free_slots().await
            }
            ToWorker::Cancel { task, driver } => {
                if let Some(running) = self.running.remove(&(driver, task)) {
                    running.stop();
                }
                self.offer_free_slots().await
            }
            ToWorker::Ping { driver, number } => {
                self.last_ping.insert(driver.clone(), Instant::now());
                let own = self.running.keys().filter(|(of, _)| *of == driver);
                let pong = ToDriver::Pong {
                    worker: self.runner.worker.clone(),
                    number,
                    tasks: own.map(|(_, task)| *task).collect(),
                };
                self.send(&driver, &pong).await
            }
        }
    }

    fn start(&mut self, driver: String, sent: TaskSent) {
        let task = sent.task;
        let cancel = CancelToken::new();
        let (runner, token) = (Arc::clone(&self.runner), cancel.clone());
        let (ended, of) = (self.ended.clone(), driver.clone());
        let span = tracing::info_span!("task", queue = self.queue, worker = self.name, task);
        let work = async move {
            let reply = runner.run(&of, sent, token).await;
            let _ = ended.send(EndedTask {
                driver: of,
                task,
                reply,
            });
        };
        let work = tokio::spawn(work.instrument(span));
        let running = RunningTask { work, cancel };
        if let Some(previous) = self.running.insert((driver, task), running) {
            previous.stop();
        }
    }

    /// Sends the replies of tasks that have ended, each with the next offer if that goes to the same driver.
    async fn end(&mut self, first: EndedTask) -> Result<(), QueueError> {
        let mut replies: BTreeMap<String, Vec<TaskDone>> = BTreeMap::new();
        let mut ended = Some(first);
        while let Some(EndedTask {
            driver,
            task,
            reply,
        }) = ended
        {
            // One that is missing was cancelled. The driver gives a task without a reply to another worker.
            if self.running.remove(&(driver.clone(), task)).is_some()
                && let Some(reply) = reply
            {
                let next = self.next_for(&driver);
                let done = TaskDone { task, reply, next };
                replies.entry(driver).or_default().push(done);
            }
            ended = self.endings.try_recv().ok();
        }
        for (driver, tasks) in replies {
            self.send_done(&driver, tasks).await?;
        }
        self.offer_free_slots().await
    }

    fn next_for(&mut self, driver: &str) -> Option<u64> {
        if self.stop.is_draining() {
            return None;
        }
        self.offers.next_for(driver, self.running.len())
    }

    /// Sends replies, in as few messages as they fit into.
    async fn send_done(&self, driver: &str, tasks: Vec<TaskDone>) -> Result<(), QueueError> {
        let limit = self.runner.link.limit();
        let mut rest = tasks.into_iter().peekable();
        while rest.peek().is_some() {
            let (mut tasks, mut bytes) = (Vec::new(), MESSAGE_OVERHEAD);
            while let Some(done) =
                rest.next_if(|done| tasks.is_empty() || bytes + done.bytes() <= limit)
            {
                bytes += done.bytes();
                tasks.push(done);
            }
            let worker = self.runner.worker.clone();
            self.send(driver, &ToDriver::Done { worker, tasks }).await?;
        }
        Ok(())
    }

    /// Offers the free slots to the drivers with work, in turn.
    async fn offer_free_slots(&mut self) -> Result<(), QueueError> {
        while !self.stop.is_draining()
            && let Some((driver, offer)) = self.offers.next(self.running.len())
        {
            self.offer(&driver, offer).await?;
        }
        Ok(())
    }

    async fn offer(&self, driver: &str, offer: u64) -> Result<(), QueueError> {
        let offer = ToDriver::Offer {
            worker: self.runner.worker.clone(),
            name: self.name.clone(),
            fingerprint: self.fingerprint.clone(),
            offer,
        };
        self.send(driver, &offer).await
    }

    /// Sends a message to a driver. The network reports at once if the driver's process is gone.
    async fn send(&self, driver: &str, message: &ToDriver) -> Result<(), QueueError> {
        let runner = &self.runner;
        let subject = runner.subjects.driver(driver);
        let undelivered = runner.subjects.undelivered(&runner.worker, driver);
        let message = encode(message)?;
        runner.link.send(subject, Some(undelivered), message).await
    }

    async fn tick(&mut self) -> Result<(), QueueError> {
        self.offers.expire();
        self.unknown_drivers
            .retain(|_, at| at.elapsed() <= DRIVER_TIMEOUT);
        let silent = self.last_ping.iter();
        let silent = silent.filter(|(_, at)| at.elapsed() > DRIVER_TIMEOUT);
        let silent: Vec<_> = silent.map(|(driver, _)| driver.clone()).collect();
        for driver in silent {
            self.last_ping.remove(&driver);
            self.offers.remove(&driver);
            self.running.retain(|(of, _), running| {
                if *of == driver {
                    running.stop();
                }
                *of != driver
            });
        }
        self.offer_free_slots().await
    }
}

impl RunningTask {
    fn stop(&self) {
        self.cancel.cancel();
        self.work.abort();
    }
}

impl<S: State> Drop for WorkerLoop<S> {
    fn drop(&mut self) {
        self.running.values().for_each(RunningTask::stop);
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
