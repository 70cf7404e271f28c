//! The driver of a queue: gives tasks to workers, and takes back those of lost ones.

mod command;
mod mailbox;
mod outbox;
mod states;
mod tasks;
mod workers;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use self::outbox::Outbox;
use self::states::States;
use self::tasks::{Task, Version};
use self::workers::Known;
use crate::QueueError;
use crate::link::{Link, Packet};
use crate::metrics::Counters;
use crate::options::Options;
use crate::protocol::{Subjects, ToAll, ToDriver, ToWorker, decode, encode};

pub(crate) use self::command::{Command, FromDriver, Submitted, Written};
pub(crate) use self::mailbox::mailbox;

/// How often workers with tasks are pinged, and work that waits is announced.
const TICK: Duration = Duration::from_millis(500);

/// How much that has come already is handled before tasks leave.
const AT_A_TIME: usize = 1_024;

pub(crate) struct Driver {
    id: String,
    link: Arc<dyn Link>,
    subjects: Subjects,
    options: Options,
    counters: Arc<Counters>,
    tasks: BTreeMap<u64, Task>,
    versions: BTreeMap<Arc<str>, Version>,
    workers: BTreeMap<String, Known>,
    states: States,
    outbox: Outbox,
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
            states: States::default(),
            outbox: Outbox::default(),
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
            self.log(done);
            for _ in 0..AT_A_TIME {
                let done = if let Ok(packet) = packets.try_recv() {
                    self.packet(packet).await
                } else if let Ok(command) = commands.try_recv() {
                    self.command(command).await
                } else {
                    break;
                };
                self.log(done);
            }
            let sent = self.send_tasks().await;
            self.log(sent);
        }
    }

    fn log(&self, done: Result<(), QueueError>) {
        if let Err(error) = done {
            tracing::warn!(%error, driver = self.id, "a message of a queue is lost");
        }
    }

    /// Sends the tasks that are ready, in as few messages as they fit into.
    async fn send_tasks(&mut self) -> Result<(), QueueError> {
        for (worker, tasks) in self.outbox.take(self.link.limit()) {
            let driver = self.id.clone();
            self.tell(&worker, &ToWorker::Tasks { driver, tasks })
                .await?;
        }
        Ok(())
    }

    async fn command(&mut self, command: Command) -> Result<(), QueueError> {
        match command {
            Command::Submit(submitted) => self.submit(submitted).await,
            Command::Send { task, written } => {
                self.dispatch(task, written);
                Ok(())
            }
            Command::Answer { to, answer } => self.link.send(to, None, encode(&answer)?).await,
            Command::Forget(task) => self.forget(task).await,
        }
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
            } => self.offered(worker, name, &fingerprint, offer).await,
            ToDriver::Pong {
                worker,
                number,
                tasks,
            } => self.pong(&worker, number, tasks).await,
            ToDriver::Snapshot { id } => match packet.reply {
                Some(reply) => {
                    if self.states.answer(&id, reply, &self.link).await? {
                        Counters::count(&self.counters.snapshots);
                    }
                    Ok(())
                }
                None => Ok(()),
            },
            ToDriver::Report {
                worker,
                task,
                report,
            } => self.report(&worker, task, report, packet.reply).await,
            ToDriver::Done { worker, tasks } => {
                self.hear(&worker);
                for done in tasks {
                    self.done(&worker, done).await?;
                }
                Ok(())
            }
        }
    }
}
