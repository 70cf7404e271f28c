//! The driver of a queue: assigns tasks to workers, and reassigns those of lost workers.

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
use self::workers::WorkerState;
use crate::link::{Link, Packet};
use crate::metrics::Counters;
use crate::objects::Objects;
use crate::options::Options;
use crate::protocol::{Subjects, ToAll, ToDriver, ToWorker, decode, encode};
use crate::{Queue, QueueError, id};

pub(crate) use self::command::{Command, FromDriver, Submitted, Written};
pub(crate) use self::mailbox::{Mailbox, mailbox};

/// How often busy workers are pinged, and pending work is announced.
const TICK: Duration = Duration::from_millis(500);

/// How many messages that have arrived are handled before tasks are sent.
const BATCH: usize = 1_024;

pub(crate) struct Driver {
    id: String,
    link: Arc<dyn Link>,
    objects: Objects,
    subjects: Subjects,
    options: Options,
    counters: Arc<Counters>,
    tasks: BTreeMap<u64, Task>,
    versions: BTreeMap<Arc<str>, Version>,
    workers: BTreeMap<String, WorkerState>,
    states: States,
    outbox: Outbox,
}

impl Driver {
    /// Returns the channel to a new driver, and the driver's future.
    pub(crate) fn start(
        queue: &Queue,
    ) -> (
        mpsc::UnboundedSender<Command>,
        impl Future<Output = ()> + use<>,
    ) {
        let (commands, received) = mpsc::unbounded_channel();
        let driver = Self {
            id: id::generate(),
            link: Arc::clone(&queue.link),
            objects: queue.objects.clone(),
            subjects: queue.subjects.clone(),
            options: queue.options,
            counters: Arc::clone(&queue.counters),
            tasks: BTreeMap::new(),
            versions: BTreeMap::new(),
            workers: BTreeMap::new(),
            states: States::default(),
            outbox: Outbox::default(),
        };
        (commands, async move {
            if let Err(error) = driver.run(received).await {
                tracing::error!(%error, "the driver of a queue stopped");
            }
        })
    }

    async fn run(
        mut self,
        mut commands: mpsc::UnboundedReceiver<Command>,
    ) -> Result<(), QueueError> {
        let own = self.subjects.driver(&self.id);
        let mut packets = self.link.listen(own.clone()).await?;
        // The network's reports that a worker did not receive a ping.
        let mut undelivered = self.link.listen(format!("{own}.>")).await?;
        let mut all = self.link.listen(self.subjects.all()).await?;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // What is rare comes first; of the rest, the batch below begins with packets.
            let done = tokio::select! {
                biased;
                _ = ticks.tick() => self.tick().await,
                Some(packet) = undelivered.recv() => {
                    let worker = packet.subject.rsplit('.').next().unwrap_or_default();
                    if packet.payload.is_none() {
                        self.worker_lost(worker, "its process is gone");
                    }
                    Ok(())
                },
                Some(packet) = all.recv() => match packet.payload.as_deref().map(decode) {
                    Some(Ok(ToAll::Hello { .. })) => self.announce_all().await,
                    _ => Ok(()),
                },
                command = commands.recv() => match command {
                    None => return Ok(()),
                    Some(command) => self.command(command).await,
                },
                packet = packets.recv() => match packet {
                    None => return Err(QueueError::Ended),
                    Some(packet) => self.packet(packet).await,
                },
            };
            self.log_error(done);
            for _ in 0..BATCH {
                let done = if let Ok(packet) = packets.try_recv() {
                    self.packet(packet).await
                } else if let Ok(command) = commands.try_recv() {
                    self.command(command).await
                } else {
                    break;
                };
                self.log_error(done);
            }
            let sent = self.send_tasks().await;
            self.log_error(sent);
        }
    }

    fn log_error(&self, done: Result<(), QueueError>) {
        if let Err(error) = done {
            tracing::warn!(%error, driver = self.id, "a driver failed to handle a message");
        }
    }

    /// Sends the tasks that are ready, in as few messages as they fit into.
    async fn send_tasks(&mut self) -> Result<(), QueueError> {
        for (worker, tasks) in self.outbox.take(self.link.limit()) {
            let driver = self.id.clone();
            self.send(&worker, &ToWorker::Tasks { driver, tasks })
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

    async fn send(&self, worker: &str, message: &ToWorker) -> Result<(), QueueError> {
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
                    if self
                        .states
                        .answer(&id, reply, &self.link, &self.objects)
                        .await?
                    {
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
                self.record_contact(&worker);
                for done in tasks {
                    self.done(&worker, done).await?;
                }
                Ok(())
            }
        }
    }
}
