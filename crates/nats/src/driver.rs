//! The driver of a queue: gives tasks to workers, and takes back those of lost ones.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use langgraph::executor::{SnapshotText, TaskOrder, TaskReply, TaskReport};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::QueueError;
use crate::link::{Link, Packet};
use crate::metrics::{Counters, WorkerInfo};
use crate::protocol::{
    Body, ReportAnswer, SnapshotAnswer, Subjects, ToAll, ToDriver, ToWorker, decode, encode,
};
use crate::queue::Options;

/// How often workers with tasks are pinged, and work that waits is announced.
const TICK: Duration = Duration::from_millis(500);

/// What the future of a task tells the driver.
pub(crate) enum Command {
    Submit(Submitted),
    /// The task that a worker waits for.
    Send {
        task: u64,
        order: Body<TaskOrder>,
        state: Arc<SnapshotText>,
    },
    /// The answer to a report.
    Answer {
        to: String,
        answer: ReportAnswer,
    },
    /// The future has ended.
    Forget(u64),
}

/// A new task.
pub(crate) struct Submitted {
    pub(crate) task: u64,
    pub(crate) fingerprint: String,
    pub(crate) future: mpsc::UnboundedSender<FromDriver>,
}

/// What the driver tells the future of a task.
pub(crate) enum FromDriver {
    /// A worker waits for the task.
    Wanted,
    Report {
        report: TaskReport,
        /// Where the answer goes.
        answer: Option<String>,
    },
    Done(Body<TaskReply>),
    /// No worker has taken it in time.
    Nobody {
        patience: Duration,
        refused: Vec<String>,
    },
}

struct Task {
    fingerprint: String,
    future: mpsc::UnboundedSender<FromDriver>,
    phase: Phase,
    since: Instant,
    /// The id of its snapshot.
    state: Option<String>,
}

enum Phase {
    Pending,
    /// It answers an offer as soon as it is written.
    Wanted {
        worker: String,
        offer: u64,
    },
    /// The worker had been sent so many pings before.
    Running {
        worker: String,
        pings: u64,
    },
}

struct Known {
    heard: Instant,
    /// When it got the first of its tasks.
    busy_since: Instant,
    pings: u64,
    tasks: BTreeSet<u64>,
}

/// The tasks of one version of a graph.
struct Version {
    pending: VecDeque<u64>,
    /// When one of its tasks was last under way.
    progress: Instant,
    running: usize,
    /// The number of announcements.
    epoch: u64,
    announced: Option<Instant>,
}

struct State {
    text: Arc<SnapshotText>,
    users: usize,
    stored: bool,
}

pub(crate) struct Driver {
    id: String,
    link: Arc<dyn Link>,
    subjects: Subjects,
    options: Options,
    counters: Arc<Counters>,
    tasks: BTreeMap<u64, Task>,
    versions: BTreeMap<String, Version>,
    workers: BTreeMap<String, Known>,
    states: BTreeMap<String, State>,
}

impl Driver {
    /// Returns the way to a driver, and its future.
    pub(crate) fn start(
        link: Arc<dyn Link>,
        subjects: Subjects,
        options: Options,
        counters: Arc<Counters>,
    ) -> (mpsc::UnboundedSender<Command>, impl Future<Output = ()>) {
        let (commands, received) = mpsc::unbounded_channel();
        let driver = Self {
            id: format!("{:016x}", fastrand::u64(..)),
            link,
            subjects,
            options,
            counters,
            tasks: BTreeMap::new(),
            versions: BTreeMap::new(),
            workers: BTreeMap::new(),
            states: BTreeMap::new(),
        };
        (commands, async move {
            if let Err(error) = driver.run(received).await {
                tracing::error!(%error, "the driver of a queue has ended");
            }
        })
    }

    async fn run(
        mut self,
        mut commands: mpsc::UnboundedReceiver<Command>,
    ) -> Result<(), QueueError> {
        let own = self.subjects.driver(&self.id);
        let mut packets = self.link.listen(own.clone()).await?;
        // Where the network says that a worker is gone.
        let mut nobody = self.link.listen(format!("{own}.>")).await?;
        let mut all = self.link.listen(self.subjects.all()).await?;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let done = tokio::select! {
                command = commands.recv() => match command {
                    None => return Ok(()),
                    Some(command) => self.command(command).await,
                },
                packet = packets.recv() => match packet {
                    None => return Err(QueueError::Ended),
                    Some(packet) => self.packet(packet).await,
                },
                Some(packet) = nobody.recv() => {
                    let worker = packet.subject.rsplit('.').next().unwrap_or_default();
                    if packet.payload.is_none() {
                        self.lose(worker, "its process is gone");
                    }
                    Ok(())
                },
                Some(packet) = all.recv() => match packet.payload.as_deref().map(decode) {
                    Some(Ok(ToAll::Hello { .. })) => self.announce_all().await,
                    _ => Ok(()),
                },
                _ = ticks.tick() => self.tick().await,
            };
            if let Err(error) = done {
                tracing::warn!(%error, "a message of a queue is lost");
            }
        }
    }

    async fn command(&mut self, command: Command) -> Result<(), QueueError> {
        match command {
            Command::Submit(submitted) => self.submit(submitted).await,
            Command::Send { task, order, state } => self.send(task, order, state).await,
            Command::Answer { to, answer } => self.link.send(to, None, encode(&answer)?).await,
            Command::Forget(task) => self.forget(task).await,
        }
    }

    async fn submit(&mut self, submitted: Submitted) -> Result<(), QueueError> {
        let Submitted {
            task,
            fingerprint,
            future,
        } = submitted;
        Counters::count(&self.counters.begun);
        let now = Instant::now();
        let version = self
            .versions
            .entry(fingerprint.clone())
            .or_insert_with(|| Version {
                pending: VecDeque::new(),
                progress: now,
                running: 0,
                epoch: 0,
                announced: None,
            });
        let was_empty = version.pending.is_empty();
        if was_empty && version.running == 0 {
            version.progress = now;
        }
        version.pending.push_back(task);
        self.tasks.insert(
            task,
            Task {
                fingerprint: fingerprint.clone(),
                future,
                phase: Phase::Pending,
                since: now,
                state: None,
            },
        );
        if was_empty {
            self.announce(&fingerprint).await
        } else {
            Ok(())
        }
    }

    /// Tells all workers that tasks wait.
    async fn announce(&mut self, fingerprint: &str) -> Result<(), QueueError> {
        let Some(version) = self.versions.get_mut(fingerprint) else {
            return Ok(());
        };
        version.epoch += 1;
        version.announced = Some(Instant::now());
        let work = ToAll::Work {
            driver: self.id.clone(),
            fingerprint: fingerprint.to_owned(),
            epoch: version.epoch,
        };
        self.link
            .send(self.subjects.all(), None, encode(&work)?)
            .await
    }

    async fn announce_all(&mut self) -> Result<(), QueueError> {
        let waits = |(_, version): &(&String, &Version)| !version.pending.is_empty();
        let waiting: Vec<_> = self
            .versions
            .iter()
            .filter(waits)
            .map(|(name, _)| name.clone())
            .collect();
        for fingerprint in waiting {
            self.announce(&fingerprint).await?;
        }
        Ok(())
    }

    async fn send(
        &mut self,
        number: u64,
        order: Body<TaskOrder>,
        state: Arc<SnapshotText>,
    ) -> Result<(), QueueError> {
        let Some(task) = self.tasks.get_mut(&number) else {
            return Ok(());
        };
        let Phase::Wanted { worker, offer } = &task.phase else {
            return Ok(());
        };
        let (worker, offer) = (worker.clone(), *offer);
        let id = state.id.clone();
        if task.state.as_ref() != Some(&id) {
            let previous = task.state.replace(id.clone());
            let known = self.states.entry(id.clone()).or_insert(State {
                text: state,
                users: 0,
                stored: false,
            });
            known.users += 1;
            if let Some(previous) = previous {
                self.release(&previous);
            }
        }
        let Some(known) = self.workers.get_mut(&worker) else {
            return Ok(());
        };
        if known.tasks.is_empty() {
            known.busy_since = Instant::now();
        }
        known.tasks.insert(number);
        let running = Phase::Running {
            worker: worker.clone(),
            pings: known.pings,
        };
        if let Some(task) = self.tasks.get_mut(&number) {
            task.phase = running;
        }
        Counters::count(&self.counters.sent);
        self.counters.change(&worker, |info| info.running += 1);
        let message = ToWorker::Task {
            task: number,
            driver: self.id.clone(),
            offer,
            state: id,
            order,
        };
        self.tell(&worker, &message).await
    }

    /// Drops what a task of that snapshot held.
    fn release(&mut self, id: &str) {
        let Some(state) = self.states.get_mut(id) else {
            return;
        };
        state.users -= 1;
        if state.users > 0 {
            return;
        }
        if self.states.remove(id).is_some_and(|state| state.stored) {
            let (link, name) = (Arc::clone(&self.link), format!("state-{id}"));
            tokio::spawn(async move { link.delete(name).await });
        }
    }

    /// Takes a task off the list.
    fn remove(&mut self, number: u64) -> Option<Task> {
        let task = self.tasks.remove(&number)?;
        self.unassign(number, &task.phase, &task.fingerprint);
        if let Some(state) = &task.state {
            self.release(state);
        }
        Some(task)
    }

    /// Takes a task from its worker.
    fn unassign(&mut self, number: u64, phase: &Phase, fingerprint: &str) {
        let (Phase::Wanted { worker, .. } | Phase::Running { worker, .. }) = phase else {
            return;
        };
        if let Some(version) = self.versions.get_mut(fingerprint) {
            version.running = version.running.saturating_sub(1);
            version.progress = Instant::now();
        }
        if let Some(known) = self.workers.get_mut(worker)
            && known.tasks.remove(&number)
        {
            self.counters
                .change(worker, |info| info.running = info.running.saturating_sub(1));
        }
    }

    async fn forget(&mut self, number: u64) -> Result<(), QueueError> {
        let Some(task) = self.remove(number) else {
            return Ok(());
        };
        match task.phase {
            Phase::Pending => Ok(()),
            Phase::Wanted { worker, offer } => {
                self.decline(&worker, offer, &task.fingerprint).await
            }
            Phase::Running { worker, .. } => self.cancel(&worker, number).await,
        }
    }

    async fn cancel(&self, worker: &str, task: u64) -> Result<(), QueueError> {
        let driver = self.id.clone();
        self.tell(worker, &ToWorker::Cancel { task, driver }).await
    }

    async fn decline(&self, worker: &str, offer: u64, wanted: &str) -> Result<(), QueueError> {
        let decline = ToWorker::Decline {
            driver: self.id.clone(),
            offer,
            epoch: self.versions.get(wanted).map_or(0, |version| version.epoch),
            wanted: None,
        };
        self.tell(worker, &decline).await
    }

    async fn tell(&self, worker: &str, message: &ToWorker) -> Result<(), QueueError> {
        let subject = self.subjects.worker(worker);
        self.link.send(subject, None, encode(message)?).await
    }

    async fn packet(&mut self, packet: Packet) -> Result<(), QueueError> {
        let Some(payload) = &packet.payload else {
            return Ok(());
        };
        match decode(payload)? {
            ToDriver::Offer {
                worker,
                name,
                fingerprint,
                offer,
            } => self.offered(worker, name, fingerprint, offer).await,
            ToDriver::Pong {
                worker,
                number,
                tasks,
            } => self.pong(&worker, number, tasks).await,
            ToDriver::Snapshot { id } => match packet.reply {
                Some(reply) => self.snapshot(id, reply).await,
                None => Ok(()),
            },
            ToDriver::Report {
                worker,
                task,
                report,
            } => self.report(&worker, task, report, packet.reply).await,
            ToDriver::Done {
                worker,
                task,
                reply,
                next,
            } => {
                self.hear(&worker);
                // A worker that was given up may have failed because it was.
                if self.has(&worker, task)
                    && let Some(task) = self.remove(task)
                {
                    Counters::count(&self.counters.done);
                    self.counters.change(&worker, |info| info.done += 1);
                    let fingerprint = task.fingerprint;
                    // The future may have been dropped.
                    let _ = task.future.send(FromDriver::Done(reply));
                    if let Some(offer) = next {
                        return self.take(worker, offer, fingerprint).await;
                    }
                } else {
                    Counters::count(&self.counters.duplicates);
                    if let (Body::Stored(name), link) = (reply, Arc::clone(&self.link)) {
                        tokio::spawn(async move { link.delete(name).await });
                    }
                    if let Some(offer) = next {
                        return self.decline(&worker, offer, "").await;
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns true if that worker has the task now.
    fn has(&self, worker: &str, task: u64) -> bool {
        let phase = self.tasks.get(&task).map(|task| &task.phase);
        matches!(phase, Some(Phase::Running { worker: at, .. }) if at == worker)
    }

    fn hear(&mut self, worker: &str) {
        if let Some(known) = self.workers.get_mut(worker) {
            known.heard = Instant::now();
        }
    }

    async fn offered(
        &mut self,
        worker: String,
        name: String,
        fingerprint: String,
        offer: u64,
    ) -> Result<(), QueueError> {
        let now = Instant::now();
        if !self.versions.contains_key(&fingerprint) {
            let text = format!("worker `{name}` with graph {fingerprint}");
            let wanted = self
                .versions
                .iter()
                .find(|(_, version)| !version.pending.is_empty());
            let wanted = wanted.map(|(wanted, _)| wanted.clone());
            if self.counters.refuse(&worker, text)
                && let Some(wanted) = &wanted
            {
                tracing::warn!(
                    worker = name,
                    fingerprint,
                    wanted,
                    "a worker has another graph"
                );
            }
            let decline = ToWorker::Decline {
                driver: self.id.clone(),
                offer,
                epoch: u64::MAX,
                wanted,
            };
            return self.tell(&worker, &decline).await;
        }
        let known = self.workers.entry(worker.clone()).or_insert_with(|| Known {
            heard: now,
            busy_since: now,
            pings: 0,
            tasks: BTreeSet::new(),
        });
        known.heard = now;
        let info = || WorkerInfo {
            name,
            ..WorkerInfo::default()
        };
        self.counters
            .workers()
            .entry(worker.clone())
            .or_insert_with(info)
            .lost = false;
        self.take(worker, offer, fingerprint).await
    }

    /// Takes an offer for the next task that waits, or declines it.
    async fn take(
        &mut self,
        worker: String,
        offer: u64,
        fingerprint: String,
    ) -> Result<(), QueueError> {
        if self.workers.contains_key(&worker)
            && let Some(version) = self.versions.get_mut(&fingerprint)
        {
            while let Some(number) = version.pending.pop_front() {
                let Some(task) = self.tasks.get_mut(&number) else {
                    continue;
                };
                if task.future.send(FromDriver::Wanted).is_ok() {
                    version.running += 1;
                    version.progress = Instant::now();
                    task.phase = Phase::Wanted { worker, offer };
                    return Ok(());
                }
            }
        }
        self.decline(&worker, offer, &fingerprint).await
    }

    async fn pong(&mut self, worker: &str, number: u64, tasks: Vec<u64>) -> Result<(), QueueError> {
        self.hear(worker);
        let tasks: BTreeSet<u64> = tasks.into_iter().collect();
        let Some(known) = self.workers.get(worker) else {
            return Ok(());
        };
        let strangers: Vec<_> = tasks.difference(&known.tasks).copied().collect();
        // What was sent before the ping, and neither runs nor has a reply, was lost on the way.
        let lost = known.tasks.iter().filter(|task| {
            let phase = self.tasks.get(task).map(|task| &task.phase);
            let before = matches!(phase, Some(Phase::Running { pings, .. }) if *pings < number);
            before && !tasks.contains(task)
        });
        let lost: Vec<_> = lost.copied().collect();
        for task in lost {
            self.take_back(task);
        }
        for task in strangers {
            self.cancel(worker, task).await?;
        }
        self.announce_all_late().await
    }

    /// Puts a task in front of those that wait.
    fn take_back(&mut self, number: u64) {
        let Some(task) = self.tasks.get_mut(&number) else {
            return;
        };
        let phase = std::mem::replace(&mut task.phase, Phase::Pending);
        task.since = Instant::now();
        let fingerprint = task.fingerprint.clone();
        self.unassign(number, &phase, &fingerprint);
        Counters::count(&self.counters.taken_back);
        if let Some(version) = self.versions.get_mut(&fingerprint) {
            version.pending.push_front(number);
        }
    }

    fn lose(&mut self, worker: &str, why: &str) {
        let Some(known) = self.workers.remove(worker) else {
            return;
        };
        self.counters.change(worker, |info| {
            info.lost = true;
            info.running = 0;
        });
        let tasks = self.tasks.iter().filter(|(_, task)| {
            matches!(&task.phase, Phase::Wanted { worker: at, .. } | Phase::Running { worker: at, .. } if at == worker)
        });
        let tasks: Vec<u64> = tasks.map(|(number, _)| *number).collect();
        if tasks.is_empty() {
            return;
        }
        Counters::count(&self.counters.lost);
        let silent = known.heard.elapsed();
        tracing::warn!(
            worker,
            why,
            ?silent,
            tasks = tasks.len(),
            "a worker is lost, and its tasks are taken back"
        );
        for task in tasks {
            self.take_back(task);
        }
    }

    async fn snapshot(&mut self, id: String, reply: String) -> Result<(), QueueError> {
        let Some(state) = self.states.get_mut(&id) else {
            return self
                .link
                .send(reply, None, encode(&SnapshotAnswer::Gone)?)
                .await;
        };
        Counters::count(&self.counters.snapshots);
        let name = format!("state-{id}");
        if !state.stored {
            let text = encode(&SnapshotAnswer::Text(state.text.text.clone()))?;
            if text.len() < self.link.limit() {
                return self.link.send(reply, None, text).await;
            }
        }
        let stored = std::mem::replace(&mut state.stored, true);
        let (link, text) = (Arc::clone(&self.link), Arc::clone(&state.text));
        tokio::spawn(async move {
            let answer = async {
                if !stored {
                    link.put(name.clone(), text.text.clone().into()).await?;
                }
                link.send(reply, None, encode(&SnapshotAnswer::Stored(name))?)
                    .await
            };
            if let Err(error) = answer.await {
                tracing::error!(%error, "a state does not reach a worker");
            }
        });
        Ok(())
    }

    async fn report(
        &mut self,
        worker: &str,
        number: u64,
        report: TaskReport,
        answer: Option<String>,
    ) -> Result<(), QueueError> {
        self.hear(worker);
        let task = self.tasks.get(&number);
        let own = task.filter(|_| self.has(worker, number));
        match (own, answer) {
            (Some(task), answer) => {
                let _ = task.future.send(FromDriver::Report { report, answer });
                Ok(())
            }
            (None, Some(answer)) => {
                let refused: ReportAnswer =
                    Err("the task was given to another worker, or has ended".to_owned());
                self.link.send(answer, None, encode(&refused)?).await
            }
            (None, None) => Ok(()),
        }
    }

    /// Announces what has waited since the last announcement for long.
    async fn announce_all_late(&mut self) -> Result<(), QueueError> {
        let late = |version: &Version| {
            let long = version.announced.is_none_or(|at| at.elapsed() >= TICK);
            long && !version.pending.is_empty()
        };
        let names = self.versions.iter().filter(|(_, version)| late(version));
        let names: Vec<_> = names.map(|(name, _)| name.clone()).collect();
        for name in names {
            self.announce(&name).await?;
        }
        Ok(())
    }

    async fn tick(&mut self) -> Result<(), QueueError> {
        let silent = self.workers.iter().filter(|(_, known)| {
            let since = known.heard.max(known.busy_since);
            !known.tasks.is_empty() && since.elapsed() > self.options.lost_after
        });
        let silent: Vec<_> = silent.map(|(worker, _)| worker.clone()).collect();
        for worker in silent {
            self.lose(&worker, "it does not answer");
        }
        let idle = |known: &Known| known.tasks.is_empty() && known.heard.elapsed() > 100 * TICK;
        let wanted: BTreeSet<String> = self
            .tasks
            .values()
            .filter_map(|task| match &task.phase {
                Phase::Wanted { worker, .. } => Some(worker.clone()),
                _ => None,
            })
            .collect();
        self.workers
            .retain(|worker, known| !idle(known) || wanted.contains(worker));
        let mut pings = Vec::new();
        for (worker, known) in &mut self.workers {
            if !known.tasks.is_empty() {
                known.pings += 1;
                pings.push((worker.clone(), known.pings));
            }
        }
        for (worker, number) in pings {
            let ping = ToWorker::Ping {
                driver: self.id.clone(),
                number,
            };
            let reply = self.subjects.pinged(&self.id, &worker);
            let subject = self.subjects.worker(&worker);
            self.link.send(subject, Some(reply), encode(&ping)?).await?;
        }
        self.give_up();
        self.versions.retain(|_, version| {
            let used = version.running > 0 || !version.pending.is_empty();
            used || version.progress.elapsed() < 100 * TICK
        });
        self.announce_all_late().await
    }

    /// Fails the tasks that nobody has taken in time.
    fn give_up(&mut self) {
        let Some(patience) = self.options.patience else {
            return;
        };
        for version in self.versions.values_mut() {
            if version.running > 0 || version.progress.elapsed() < patience {
                continue;
            }
            version.pending.retain(|number| {
                let Some(task) = self.tasks.get(number) else {
                    return false;
                };
                if task.since.elapsed() < patience {
                    return true;
                }
                let refused = self.counters.refused();
                let _ = task.future.send(FromDriver::Nobody { patience, refused });
                false
            });
        }
    }
}
