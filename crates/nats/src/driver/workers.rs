//! The workers that a driver knows.

use std::collections::BTreeSet;

use tokio::time::Instant;

use super::tasks::TaskPhase;
use super::{Driver, TICK};
use crate::QueueError;
use crate::metrics::{Counters, WorkerInfo};
use crate::protocol::{ToWorker, encode};

pub(super) struct WorkerState {
    last_contact: Instant,
    /// When it got the first of its tasks.
    pub(super) busy_since: Instant,
    pub(super) pings: u64,
    pub(super) tasks: BTreeSet<u64>,
}

impl Driver {
    pub(super) fn record_contact(&mut self, worker: &str) {
        if let Some(known) = self.workers.get_mut(worker) {
            known.last_contact = Instant::now();
        }
    }

    pub(super) async fn offered(
        &mut self,
        worker: String,
        name: String,
        fingerprint: &str,
        offer: u64,
    ) -> Result<(), QueueError> {
        let now = Instant::now();
        if !self.versions.contains_key(fingerprint) {
            let text = format!("worker `{name}` with graph {fingerprint}");
            let wanted = self
                .versions
                .iter()
                .find(|(_, version)| !version.pending.is_empty());
            let wanted = wanted.map(|(wanted, _)| wanted.to_string());
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
            return self.send(&worker, &decline).await;
        }
        let known = self
            .workers
            .entry(worker.clone())
            .or_insert_with(|| WorkerState {
                last_contact: now,
                busy_since: now,
                pings: 0,
                tasks: BTreeSet::new(),
            });
        known.last_contact = now;
        let info = || WorkerInfo {
            name,
            ..WorkerInfo::default()
        };
        self.counters
            .workers()
            .entry(worker.clone())
            .or_insert_with(info)
            .lost = false;
        self.assign(&worker, offer, fingerprint).await
    }

    pub(super) async fn pong(
        &mut self,
        worker: &str,
        number: u64,
        tasks: Vec<u64>,
    ) -> Result<(), QueueError> {
        self.record_contact(worker);
        let tasks: BTreeSet<u64> = tasks.into_iter().collect();
        let Some(known) = self.workers.get(worker) else {
            return Ok(());
        };
        let unknown: Vec<_> = tasks.difference(&known.tasks).copied().collect();
        // A task that was sent before the ping, and neither runs nor has a reply, was lost in transit.
        let lost = known.tasks.iter().filter(|task| {
            let phase = self.tasks.get(task).map(|task| &task.phase);
            let before = matches!(phase, Some(TaskPhase::Running { pings, .. }) if *pings < number);
            before && !tasks.contains(task)
        });
        let lost: Vec<_> = lost.copied().collect();
        for task in lost {
            self.requeue(task);
        }
        for task in unknown {
            self.cancel(worker, task).await?;
        }
        self.announce_late().await
    }

    pub(super) fn worker_lost(&mut self, worker: &str, why: &str) {
        let Some(known) = self.workers.remove(worker) else {
            return;
        };
        self.counters.change(worker, |info| {
            info.lost = true;
            info.running = 0;
        });
        let tasks = self.tasks.iter().filter(|(_, task)| {
            matches!(&task.phase, TaskPhase::Assigned { worker: at, .. } | TaskPhase::Running { worker: at, .. } if at == worker)
        });
        let tasks: Vec<u64> = tasks.map(|(number, _)| *number).collect();
        if tasks.is_empty() {
            return;
        }
        Counters::count(&self.counters.lost);
        let silent = known.last_contact.elapsed();
        tracing::warn!(
            worker,
            why,
            ?silent,
            tasks = tasks.len(),
            "a worker is lost; its tasks are reassigned"
        );
        for task in tasks {
            self.requeue(task);
        }
    }

    pub(super) async fn tick(&mut self) -> Result<(), QueueError> {
        let silent = self.workers.iter().filter(|(_, known)| {
            let since = known.last_contact.max(known.busy_since);
            !known.tasks.is_empty() && since.elapsed() > self.options.lost_after
        });
        let silent: Vec<_> = silent.map(|(worker, _)| worker.clone()).collect();
        for worker in silent {
            self.worker_lost(&worker, "it does not answer");
        }
        let idle = |known: &WorkerState| {
            known.tasks.is_empty() && known.last_contact.elapsed() > 100 * TICK
        };
        let wanted: BTreeSet<String> = self
            .tasks
            .values()
            .filter_map(|task| match &task.phase {
                TaskPhase::Assigned { worker, .. } => Some(worker.clone()),
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
            let reply = self.subjects.undelivered_to_worker(&self.id, &worker);
            let subject = self.subjects.worker(&worker);
            self.link.send(subject, Some(reply), encode(&ping)?).await?;
        }
        self.fail_overdue();
        self.versions.retain(|_, version| {
            let used = version.running > 0 || !version.pending.is_empty();
            used || version.progress.elapsed() < 100 * TICK
        });
        self.announce_late().await
    }
}
