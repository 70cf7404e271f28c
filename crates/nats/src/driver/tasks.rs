//! The tasks of a driver, from their submission to their end.

use std::collections::VecDeque;
use std::sync::Arc;

use langgraph::executor::TaskReport;
use tokio::time::Instant;

use super::mailbox::Sender;
use super::{Driver, FromDriver, Submitted, TICK, Written};
use crate::QueueError;
use crate::metrics::Counters;
use crate::objects::Objects;
use crate::protocol::{Body, ReportAnswer, TaskDone, TaskSent, ToAll, ToWorker, encode};

pub(super) struct Task {
    fingerprint: Arc<str>,
    future: Sender,
    pub(super) phase: TaskPhase,
    since: Instant,
    written: Option<Written>,
    /// The id of its snapshot.
    state: Option<String>,
}

pub(super) enum TaskPhase {
    Pending,
    /// It answers an offer as soon as it is written.
    Assigned {
        worker: String,
        offer: u64,
    },
    Running {
        worker: String,
        /// How many pings the worker had been sent before.
        pings: u64,
    },
}

/// The tasks of one version of a graph.
pub(super) struct Version {
    pub(super) pending: VecDeque<u64>,
    /// When one of its tasks was last in flight.
    pub(super) progress: Instant,
    pub(super) running: usize,
    /// The number of announcements.
    pub(super) epoch: u64,
    announced: Option<Instant>,
}

impl Driver {
    pub(super) async fn submit(&mut self, submitted: Submitted) -> Result<(), QueueError> {
        let Submitted {
            task,
            fingerprint,
            future,
            written,
        } = submitted;
        Counters::count(&self.counters.begun);
        let now = Instant::now();
        let version = self
            .versions
            .entry(Arc::clone(&fingerprint))
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
                fingerprint: Arc::clone(&fingerprint),
                future,
                phase: TaskPhase::Pending,
                since: now,
                written,
                state: None,
            },
        );
        if was_empty {
            self.announce(&fingerprint).await
        } else {
            Ok(())
        }
    }

    /// Announces to all workers that tasks are pending.
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

    pub(super) async fn announce_all(&mut self) -> Result<(), QueueError> {
        let is_pending = |(_, version): &(&Arc<str>, &Version)| !version.pending.is_empty();
        let waiting: Vec<_> = self
            .versions
            .iter()
            .filter(is_pending)
            .map(|(name, _)| name.clone())
            .collect();
        for fingerprint in waiting {
            self.announce(&fingerprint).await?;
        }
        Ok(())
    }

    /// Sends a task to its worker.
    pub(super) fn dispatch(&mut self, number: u64, written: Written) {
        let Some(task) = self.tasks.get_mut(&number) else {
            return;
        };
        let TaskPhase::Assigned { worker, offer } = &mut task.phase else {
            return;
        };
        let Some(known) = self.workers.get_mut(worker) else {
            return;
        };
        let (worker, offer) = (std::mem::take(worker), *offer);
        if known.tasks.is_empty() {
            known.busy_since = Instant::now();
        }
        known.tasks.insert(number);
        let Written { order, state } = written;
        let id = state.id.clone();
        if task.state.as_ref() != Some(&id) {
            self.states.hold(state);
            if let Some(previous) = task.state.replace(id.clone()) {
                self.states.release(&previous, &self.objects);
            }
        }
        Counters::count(&self.counters.sent);
        self.counters.change(&worker, |info| info.running += 1);
        let sent = TaskSent {
            task: number,
            offer,
            state: id,
            order,
        };
        self.outbox.add(&worker, sent);
        task.phase = TaskPhase::Running {
            worker,
            pings: known.pings,
        };
    }

    /// Removes a task.
    fn remove(&mut self, number: u64) -> Option<Task> {
        let task = self.tasks.remove(&number)?;
        self.unassign(number, &task.phase, &task.fingerprint);
        if let Some(state) = &task.state {
            self.states.release(state, &self.objects);
        }
        Some(task)
    }

    /// Takes a task from its worker.
    fn unassign(&mut self, number: u64, phase: &TaskPhase, fingerprint: &str) {
        let (TaskPhase::Assigned { worker, .. } | TaskPhase::Running { worker, .. }) = phase else {
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

    pub(super) async fn forget(&mut self, number: u64) -> Result<(), QueueError> {
        let Some(task) = self.remove(number) else {
            return Ok(());
        };
        match task.phase {
            TaskPhase::Pending => Ok(()),
            TaskPhase::Assigned { worker, offer } => {
                self.decline(&worker, offer, &task.fingerprint).await
            }
            TaskPhase::Running { worker, .. } => match self.outbox.remove(&worker, number) {
                Some(unsent) => self.decline(&worker, unsent.offer, &task.fingerprint).await,
                None => self.cancel(&worker, number).await,
            },
        }
    }

    pub(super) async fn cancel(&self, worker: &str, task: u64) -> Result<(), QueueError> {
        let driver = self.id.clone();
        self.send(worker, &ToWorker::Cancel { task, driver }).await
    }

    pub(super) async fn decline(
        &self,
        worker: &str,
        offer: u64,
        wanted: &str,
    ) -> Result<(), QueueError> {
        let decline = ToWorker::Decline {
            driver: self.id.clone(),
            offer,
            epoch: self.versions.get(wanted).map_or(0, |version| version.epoch),
            wanted: None,
        };
        self.send(worker, &decline).await
    }

    /// Handles the reply of a task, and the offer that comes with it. The reply of a worker that no longer
    /// has the task is dropped.
    pub(super) async fn done(&mut self, worker: &str, done: TaskDone) -> Result<(), QueueError> {
        let TaskDone { task, reply, next } = done;
        if let Body::Stored(name) = &reply
            && *name != Objects::reply(&self.id, worker, task)
        {
            return Err(QueueError::link("invalid reply", "it is another object"));
        }
        if self.has(worker, task)
            && let Some(task) = self.remove(task)
        {
            Counters::count(&self.counters.done);
            self.counters.change(worker, |info| info.done += 1);
            let fingerprint = task.fingerprint;
            task.future.send(FromDriver::Done(reply));
            if let Some(offer) = next {
                return self.assign(worker, offer, &fingerprint).await;
            }
        } else {
            Counters::count(&self.counters.duplicates);
            if let Body::Stored(name) = reply {
                self.objects.discard(name);
            }
            if let Some(offer) = next {
                return self.decline(worker, offer, "").await;
            }
        }
        Ok(())
    }

    /// Returns true if that worker has the task now.
    fn has(&self, worker: &str, task: u64) -> bool {
        let phase = self.tasks.get(&task).map(|task| &task.phase);
        matches!(phase, Some(TaskPhase::Running { worker: at, .. }) if at == worker)
    }

    /// Assigns the next pending task to an offer, or declines the offer.
    pub(super) async fn assign(
        &mut self,
        worker: &str,
        offer: u64,
        fingerprint: &str,
    ) -> Result<(), QueueError> {
        if self.workers.contains_key(worker)
            && let Some(version) = self.versions.get_mut(fingerprint)
        {
            while let Some(number) = version.pending.pop_front() {
                let Some(task) = self.tasks.get_mut(&number) else {
                    continue;
                };
                let written = task.written.take();
                if written.is_none() {
                    task.future.send(FromDriver::Assigned);
                }
                version.running += 1;
                version.progress = Instant::now();
                task.phase = TaskPhase::Assigned {
                    worker: worker.to_owned(),
                    offer,
                };
                if let Some(written) = written {
                    self.dispatch(number, written);
                }
                return Ok(());
            }
        }
        self.decline(worker, offer, fingerprint).await
    }

    /// Makes a task the first of those that are pending.
    pub(super) fn requeue(&mut self, number: u64) {
        let Some(task) = self.tasks.get_mut(&number) else {
            return;
        };
        let phase = std::mem::replace(&mut task.phase, TaskPhase::Pending);
        task.since = Instant::now();
        let fingerprint = Arc::clone(&task.fingerprint);
        self.unassign(number, &phase, &fingerprint);
        Counters::count(&self.counters.reassigned);
        if let Some(version) = self.versions.get_mut(&fingerprint) {
            version.pending.push_front(number);
        }
    }

    pub(super) async fn report(
        &mut self,
        worker: &str,
        number: u64,
        report: TaskReport,
        answer: Option<String>,
    ) -> Result<(), QueueError> {
        self.record_contact(worker);
        let task = self.tasks.get(&number);
        let own = task.filter(|_| self.has(worker, number));
        match (own, answer) {
            (Some(task), answer) => {
                task.future.send(FromDriver::Report {
                    report: Box::new(report),
                    answer,
                });
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

    /// Announces again what is still pending one tick after its last announcement.
    pub(super) async fn announce_late(&mut self) -> Result<(), QueueError> {
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

    /// Fails the tasks that no worker has taken in time.
    pub(super) fn fail_overdue(&mut self) {
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
                task.future.send(FromDriver::NoWorker { patience, refused });
                false
            });
        }
    }
}
