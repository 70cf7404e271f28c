//! A worker at work.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use langgraph::State;
use langgraph::executor::{TaskHost, TaskOrder, TaskReply};
use langgraph::run::CancelToken;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tracing::Instrument as _;

use super::Worker;
use super::home::Home;
use super::requests::Requests;
use crate::link::{Link, Packet};
use crate::protocol::{
    Body, ROOM, SnapshotAnswer, Subjects, TaskDone, TaskSent, ToAll, ToDriver, ToWorker, decode,
    encode,
};
use crate::snapshots::Snapshots;
use crate::{Queue, QueueError};

/// An offer without an answer is made again after this time.
const OFFER: Duration = Duration::from_secs(2);

/// A driver that pings no more is gone after this time.
const GONE: Duration = Duration::from_secs(15);

const TICK: Duration = Duration::from_millis(500);

/// A driver with work.
struct Interested {
    driver: String,
    epoch: u64,
}

struct Running {
    work: JoinHandle<()>,
    cancel: CancelToken,
}

/// A task that has ended here.
struct Ended {
    driver: String,
    task: u64,
    /// None if it cannot be written.
    reply: Option<Body>,
}

pub(super) struct Serving<S: State> {
    shared: Arc<Shared<S>>,
    stop: CancelToken,
    name: String,
    queue: String,
    fingerprint: String,
    slots: usize,
    /// Drivers with work, in turn.
    interested: VecDeque<Interested>,
    /// The newest announcement of each driver.
    epochs: BTreeMap<String, u64>,
    /// Drivers of other graphs, which have been told once.
    strangers: BTreeSet<String>,
    offers: BTreeMap<u64, Instant>,
    next_offer: u64,
    running: BTreeMap<(String, u64), Running>,
    pinged: BTreeMap<String, Instant>,
    ended: mpsc::UnboundedSender<Ended>,
    endings: mpsc::UnboundedReceiver<Ended>,
}

/// What the tasks of a worker share.
struct Shared<S: State> {
    id: String,
    link: Arc<dyn Link>,
    subjects: Subjects,
    host: TaskHost<S>,
    snapshots: Snapshots<S>,
    requests: Arc<Requests>,
}

impl<S: State> Serving<S> {
    pub(super) fn new(worker: Worker<S>, queue: &Queue) -> Self {
        let id = format!("{:016x}", fastrand::u64(..));
        let (ended, endings) = mpsc::unbounded_channel();
        let fingerprint = worker.host.graph().topology().fingerprint();
        let link = Arc::clone(&queue.link);
        let requests = Requests::new(Arc::clone(&link), queue.subjects.worker(&id));
        Self {
            shared: Arc::new(Shared {
                id,
                link,
                subjects: queue.subjects.clone(),
                host: worker.host,
                snapshots: Snapshots::default(),
                requests: Arc::new(requests),
            }),
            stop: worker.stop,
            name: worker.name,
            queue: queue.name().to_owned(),
            fingerprint: format!("{fingerprint:016x}"),
            slots: worker.slots,
            interested: VecDeque::new(),
            epochs: BTreeMap::new(),
            strangers: BTreeSet::new(),
            offers: BTreeMap::new(),
            next_offer: 0,
            running: BTreeMap::new(),
            pinged: BTreeMap::new(),
            ended,
            endings,
        }
    }

    pub(super) async fn run(mut self) -> Result<(), QueueError> {
        let shared = Arc::clone(&self.shared);
        let own = shared.subjects.worker(&shared.id);
        let mut packets = shared.link.listen(own.clone()).await?;
        let mut answers = shared.link.listen(format!("{own}.>")).await?;
        let mut all = shared.link.listen(shared.subjects.all()).await?;
        let requests = Arc::clone(&shared.requests);
        let answered = tokio::spawn(async move {
            while let Some(packet) = answers.recv().await {
                requests.answered(packet);
            }
        });
        let _answered = Abort(answered);
        let worker = shared.id.clone();
        let hello = encode(&ToAll::Hello { worker })?;
        shared.link.send(shared.subjects.all(), None, hello).await?;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.stop.clone();
        loop {
            if stop.is_cancelled() || stop.is_draining() && self.running.is_empty() {
                return Ok(());
            }
            let done = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                packet = packets.recv() => match packet {
                    None => return Err(QueueError::Ended),
                    Some(packet) => self.packet(packet).await,
                },
                packet = all.recv() => match packet {
                    None => return Err(QueueError::Ended),
                    Some(packet) => self.heard(packet).await,
                },
                Some(ended) = self.endings.recv() => self.end(ended).await,
                _ = ticks.tick() => self.tick().await,
            };
            if let Err(error) = done {
                tracing::warn!(%error, worker = self.name, "a message of a worker is lost");
            }
        }
    }

    /// Hears of a driver with work.
    async fn heard(&mut self, packet: Packet) -> Result<(), QueueError> {
        let Some(Ok(ToAll::Work {
            driver,
            fingerprint,
            epoch,
        })) = packet.payload.as_deref().map(decode)
        else {
            return Ok(());
        };
        if fingerprint != self.fingerprint {
            // The driver is told once, so that it can name this worker.
            if self.strangers.insert(driver.clone()) {
                return self.offer(&driver, 0).await;
            }
            return Ok(());
        }
        self.epochs.insert(driver.clone(), epoch);
        match self
            .interested
            .iter_mut()
            .find(|known| known.driver == driver)
        {
            Some(known) => known.epoch = epoch,
            None => self.interested.push_back(Interested { driver, epoch }),
        }
        self.fill().await
    }

    async fn packet(&mut self, packet: Packet) -> Result<(), QueueError> {
        let Some(payload) = &packet.payload else {
            return Ok(());
        };
        match decode(payload)? {
            ToWorker::Tasks { driver, tasks } => {
                self.pinged.insert(driver.clone(), Instant::now());
                for sent in tasks {
                    self.offers.remove(&sent.offer);
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
                self.offers.remove(&offer);
                if let Some(wanted) = wanted {
                    tracing::warn!(
                        worker = self.name,
                        own = self.fingerprint,
                        wanted,
                        "a driver has another graph, and gives this worker no tasks"
                    );
                }
                // It may have announced new work since.
                self.interested
                    .retain(|known| known.driver != driver || known.epoch > epoch);
                self.fill().await
            }
            ToWorker::Cancel { task, driver } => {
                if let Some(running) = self.running.remove(&(driver, task)) {
                    running.stop();
                }
                self.fill().await
            }
            ToWorker::Ping { driver, number } => {
                self.pinged.insert(driver.clone(), Instant::now());
                let own = self.running.keys().filter(|(at, _)| *at == driver);
                let pong = ToDriver::Pong {
                    worker: self.shared.id.clone(),
                    number,
                    tasks: own.map(|(_, task)| *task).collect(),
                };
                self.tell(&driver, &pong).await
            }
        }
    }

    fn start(&mut self, driver: String, sent: TaskSent) {
        let TaskSent {
            task, state, order, ..
        } = sent;
        let cancel = CancelToken::new();
        let (shared, token) = (Arc::clone(&self.shared), cancel.clone());
        let (ended, at) = (self.ended.clone(), driver.clone());
        let span = tracing::info_span!("task", queue = self.queue, worker = self.name, task);
        let work = async move {
            let run = shared.run_task(&at, task, &state, order, token);
            // A panic outside of the node is a mistake of this crate; the task fails all the same.
            let reply = std::panic::AssertUnwindSafe(run).catch_unwind().await;
            let reply = reply.unwrap_or_else(|_| {
                TaskReply::failed(langgraph::NodeError::msg("the worker panicked"))
            });
            let name = format!("reply-{}-{task}", shared.id);
            let reply = match Body::new(&*shared.link, &reply, &name).await {
                Ok(reply) => Some(reply),
                Err(error) => {
                    let failed = TaskReply::failed(error);
                    Body::new(&*shared.link, &failed, &name).await.ok()
                }
            };
            let _ = ended.send(Ended {
                driver: at,
                task,
                reply,
            });
        };
        let work = tokio::spawn(work.instrument(span));
        let running = Running { work, cancel };
        if let Some(twice) = self.running.insert((driver, task), running) {
            twice.stop();
        }
    }

    /// Sends the replies of tasks that have ended, each with the next offer if that goes to the same driver.
    async fn end(&mut self, first: Ended) -> Result<(), QueueError> {
        let mut replies: BTreeMap<String, Vec<TaskDone>> = BTreeMap::new();
        let mut ended = Some(first);
        while let Some(Ended {
            driver,
            task,
            reply,
        }) = ended
        {
            // Another one was cancelled meanwhile. The driver gives one without a reply away again.
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
        self.fill().await
    }

    /// Offers a slot to the driver of a task that has ended, if it is that driver's turn.
    fn next_for(&mut self, driver: &str) -> Option<u64> {
        let same = self
            .interested
            .front()
            .is_some_and(|next| next.driver == driver);
        let next = (same && self.free() > 0).then(|| self.new_offer());
        if next.is_some() {
            self.interested.rotate_left(1);
        }
        next
    }

    /// Sends replies, in as few messages as they fit into.
    async fn send_done(&self, driver: &str, tasks: Vec<TaskDone>) -> Result<(), QueueError> {
        let limit = self.shared.link.limit();
        let mut rest = tasks.into_iter().peekable();
        while rest.peek().is_some() {
            let (mut tasks, mut bytes) = (Vec::new(), ROOM);
            while let Some(done) =
                rest.next_if(|done| tasks.is_empty() || bytes + done.bytes() <= limit)
            {
                bytes += done.bytes();
                tasks.push(done);
            }
            let worker = self.shared.id.clone();
            self.tell(driver, &ToDriver::Done { worker, tasks }).await?;
        }
        Ok(())
    }

    fn free(&self) -> usize {
        if self.stop.is_draining() {
            return 0;
        }
        self.slots
            .saturating_sub(self.running.len() + self.offers.len())
    }

    fn new_offer(&mut self) -> u64 {
        self.next_offer += 1;
        self.offers.insert(self.next_offer, Instant::now());
        self.next_offer
    }

    /// Offers the free slots to the drivers with work, in turn.
    async fn fill(&mut self) -> Result<(), QueueError> {
        while self.free() > 0
            && let Some(next) = self.interested.front()
        {
            let driver = next.driver.clone();
            self.interested.rotate_left(1);
            let offer = self.new_offer();
            self.offer(&driver, offer).await?;
        }
        Ok(())
    }

    async fn offer(&self, driver: &str, offer: u64) -> Result<(), QueueError> {
        let offer = ToDriver::Offer {
            worker: self.shared.id.clone(),
            name: self.name.clone(),
            fingerprint: self.fingerprint.clone(),
            offer,
        };
        self.tell(driver, &offer).await
    }

    async fn tell(&self, driver: &str, message: &ToDriver) -> Result<(), QueueError> {
        let subject = self.shared.subjects.driver(driver);
        self.shared.link.send(subject, None, encode(message)?).await
    }

    async fn tick(&mut self) -> Result<(), QueueError> {
        self.offers.retain(|_, made| made.elapsed() < OFFER);
        let gone = self.pinged.iter().filter(|(_, at)| at.elapsed() > GONE);
        let gone: Vec<_> = gone.map(|(driver, _)| driver.clone()).collect();
        for driver in gone {
            self.pinged.remove(&driver);
            self.epochs.remove(&driver);
            self.strangers.remove(&driver);
            self.interested.retain(|known| known.driver != driver);
            self.running.retain(|(at, _), running| {
                if *at == driver {
                    running.stop();
                }
                *at != driver
            });
        }
        self.fill().await
    }
}

impl Running {
    fn stop(&self) {
        self.cancel.cancel();
        self.work.abort();
    }
}

impl<S: State> Drop for Serving<S> {
    fn drop(&mut self) {
        self.running.values().for_each(Running::stop);
    }
}

struct Abort(JoinHandle<()>);

impl Drop for Abort {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<S: State> Shared<S> {
    async fn run_task(
        &self,
        driver: &str,
        task: u64,
        state: &str,
        order: Body,
        cancel: CancelToken,
    ) -> TaskReply {
        let subject = self.subjects.driver(driver);
        let order: TaskOrder = match order.open(&*self.link).await {
            Ok(order) => order,
            Err(error) => return TaskReply::failed(error),
        };
        let cell = self.snapshots.cell(state);
        let state = cell.get_or_try_init(|| self.fetch(&subject, state)).await;
        let state = match state {
            Ok(state) => Arc::clone(state),
            Err(error) => return TaskReply::failed(error),
        };
        let home = Arc::new(Home {
            link: Arc::clone(&self.link),
            requests: Arc::clone(&self.requests),
            driver: subject,
            worker: self.id.clone(),
            task,
        });
        self.host.run(&order, &state, home, cancel).await
    }

    /// Fetches a snapshot.
    async fn fetch(&self, driver: &str, id: &str) -> Result<Arc<S>, langgraph::NodeError> {
        let ask = encode(&ToDriver::Snapshot { id: id.to_owned() })?;
        let answer = self.requests.ask(driver, ask).await?;
        let text = match decode(&answer)? {
            SnapshotAnswer::Text(text) => text,
            SnapshotAnswer::Stored(name) => {
                let bytes = self.link.get(name).await?;
                let text = String::from_utf8(bytes.into());
                text.map_err(|error| QueueError::link("a state cannot be read", error))?
            }
            SnapshotAnswer::Gone => {
                return Err(langgraph::NodeError::msg(
                    "the driver has ended the superstep",
                ));
            }
        };
        self.host.snapshot(&text)
    }
}
