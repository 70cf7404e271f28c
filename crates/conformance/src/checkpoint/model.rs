//! Random histories, compared with those of the saver in memory.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use serde_json::json;

use super::log::{chain, checkpoint, entry, finished, payload, state, state_of_chain};
use super::{Savers, administration, leases};
use crate::case::{Problem, same};
use langgraph::checkpoint::{
    Base, Batch, CheckpointId, CheckpointRecord, Checkpointer, Fold, Head, HeldBy, ListOptions,
    MemorySaver, Prune, Rewind, RunStatus, Source, ThreadFilter, ThreadKey,
};
use langgraph::error::CheckpointError;

crate::case::cases! {
    Savers:
    random_histories_are_those_of_memory,
}

const HISTORIES: u64 = 12;
const STEPS: usize = 60;

async fn random_histories_are_those_of_memory(savers: &Savers<'_>) -> Result<(), Problem> {
    for seed in 0..HISTORIES {
        let mut history = History {
            rng: Rng::with_seed(seed),
            saver: savers.open().await?,
            memory: Arc::new(MemorySaver::new()),
            ids: Vec::new(),
        };
        for step in 0..STEPS {
            let done = history.step().await;
            match done {
                // It was done to neither.
                Ok(()) | Err(Problem::Missing) => {}
                Err(problem) => return Err(problem.at(&format!("seed {seed}, step {step}"))),
            }
        }
        let all = history.all().await;
        all.map_err(|problem| problem.at(&format!("seed {seed}, at the end")))?;
    }
    Ok(())
}

/// A history that both savers receive.
struct History {
    rng: Rng,
    saver: Arc<dyn Checkpointer>,
    memory: Arc<dyn Checkpointer>,
    /// All ids ever created.
    ids: Vec<CheckpointId>,
}

const THREADS: [&str; 3] = ["a", "b", "c"];

/// The part of an error that must be equal.
fn kind(result: Result<(), CheckpointError>) -> String {
    match result {
        Ok(()) => "done".to_owned(),
        Err(CheckpointError::Conflict { known, head, .. }) => {
            format!("conflict of {known:?} with {head:?}")
        }
        Err(CheckpointError::BaseGone { .. }) => "a base is gone".to_owned(),
        Err(error) => error.to_string(),
    }
}

impl History {
    fn key(&mut self) -> ThreadKey {
        let mut key = ThreadKey::root(self.thread());
        if self.rng.u8(..4) == 0 {
            key.namespace.push("subgraph".to_owned());
        }
        key
    }

    fn thread(&mut self) -> &'static str {
        THREADS[self.rng.usize(..THREADS.len())]
    }

    fn id(&mut self) -> Option<CheckpointId> {
        let index = self.rng.usize(..=self.ids.len());
        self.ids.get(index).copied()
    }

    async fn step(&mut self) -> Result<(), Problem> {
        match self.rng.u8(..21) {
            0..=11 => self.put().await,
            12 => self.prune().await,
            13 => {
                let (from, to) = (self.thread(), self.thread());
                let saver = kind(administration(&self.saver)?.copy_thread(from, to).await);
                let memory = kind(administration(&self.memory)?.copy_thread(from, to).await);
                same("a copy", saver, memory)
            }
            14 => {
                let key = self.key();
                administration(&self.saver)?.delete_log(&key).await?;
                Ok(administration(&self.memory)?.delete_log(&key).await?)
            }
            15 if self.rng.bool() => {
                let thread = self.thread();
                administration(&self.saver)?.delete_thread(thread).await?;
                Ok(administration(&self.memory)?.delete_thread(thread).await?)
            }
            16 => self.list().await,
            18 => self.rewind().await,
            17 => {
                let (thread, holder) = (self.thread(), ["x", "y"][self.rng.usize(..2)]);
                let term = Duration::from_secs(100);
                if self.rng.bool() {
                    leases(&self.saver)?.release(thread, holder).await?;
                    leases(&self.memory)?.release(thread, holder).await?;
                }
                let saver = leases(&self.saver)?.lease(thread, holder, term).await?;
                let memory = leases(&self.memory)?.lease(thread, holder, term).await?;
                let holder = |held: Option<HeldBy>| held.map(|held| held.holder);
                same("a lease", holder(saver), holder(memory))
            }
            _ => {
                let (key, id) = (self.key(), self.id());
                self.load(&key, id).await
            }
        }
    }

    async fn put(&mut self) -> Result<(), Problem> {
        let key = self.key();
        let head = self.memory.head(&key).await?;
        let mut batch = Batch {
            head: match (self.rng.u8(..10), head) {
                (0, Some(head)) => Some(Head::new(head.id, head.version + 1)),
                (1, _) => self.id().map(|id| Head::new(id, 1)),
                _ => head,
            },
            status: RunStatus::ALL[self.rng.usize(..RunStatus::ALL.len())],
            ..Batch::default()
        };
        let mut known = self.memory.list(&key, ListOptions::default()).await?;
        for _ in 0..self.rng.usize(..3) {
            // Most checkpoints follow the newest one, which is what savers are optimized for.
            let before = batch.checkpoints.last().map(|record| record.id);
            let base = match before.or(head.map(|head| head.id)) {
                Some(newest) if self.rng.u8(..3) > 0 => Some(newest),
                _ => self.rng.choice(&known).copied(),
            };
            if let Some(base) = base.filter(|_| self.rng.bool()) {
                let value = json!(self.rng.u32(..));
                batch.tasks.push(finished(base, 0, &value));
            }
            let record = self.record(&key, base, &batch).await?;
            known.push(record.id);
            self.ids.push(record.id);
            batch.checkpoints.push(record);
        }
        for _ in 0..self.rng.usize(..4) {
            // Sometimes an id that does not exist, or that was removed.
            let id = match self.rng.u8(..10) {
                0 => self.id(),
                _ => self.rng.choice(&known).copied(),
            };
            let Some(id) = id else { continue };
            let value = json!(self.rng.u32(..));
            if self.rng.bool() {
                batch.tasks.push(finished(id, self.rng.usize(..3), &value));
            } else {
                batch.entries.push(entry(id, &value));
            }
        }
        let saver = kind(self.saver.put(&key, batch.clone()).await);
        same("a put", saver, kind(self.memory.put(&key, batch).await))
    }

    /// Makes a checkpoint for a batch, on that base.
    async fn record(
        &mut self,
        key: &ThreadKey,
        base: Option<CheckpointId>,
        batch: &Batch,
    ) -> Result<CheckpointRecord, Problem> {
        let newest = self.ids.iter().max().copied();
        let id = CheckpointId::after(newest);
        let mut record = checkpoint(id, base);
        record.base = base.filter(|_| self.rng.u8(..8) > 0).map(|id| Base {
            id,
            with_tasks: self.rng.u8(..4) > 0,
        });
        if let Some(base) = &mut record.base {
            base.with_tasks &= self.has_written(key, base.id, batch).await?;
        }
        record.step = self.rng.i64(-1..5);
        record.source = if self.rng.bool() {
            Source::Loop
        } else {
            Source::Fork
        };
        let state = payload(&json!(self.rng.u8(..)));
        record.snapshot = (self.rng.u8(..4) == 0).then_some(state);
        if self.rng.bool() {
            Arc::make_mut(&mut record.metadata).insert("m".into(), json!(self.rng.u8(..3)));
        }
        Ok(record)
    }

    /// Returns true if the task of a checkpoint has left its writes, with this batch.
    async fn has_written(
        &self,
        key: &ThreadKey,
        id: CheckpointId,
        batch: &Batch,
    ) -> Result<bool, Problem> {
        let mut new = batch.tasks.iter();
        if new.any(|record| record.checkpoint == id && record.task == 0) {
            return Ok(true);
        }
        let chain = self.memory.load(key, Some(id)).await?;
        let stored = chain.and_then(|mut chain| chain.records.pop());
        Ok(stored.is_some_and(|stored| stored.all_written().is_ok()))
    }

    async fn prune(&mut self) -> Result<(), Problem> {
        let key = self.key();
        let ids = self.memory.list(&key, ListOptions::default()).await?;
        let mut prune = Prune::default();
        // If every other one is folded, none needs those that go.
        let all = self.rng.bool();
        // The head stays.
        for (index, id) in ids.into_iter().enumerate() {
            match self.rng.u8(..4) {
                1 if index > 0 => prune.delete.push(id),
                0 | 2 | 3 if all => prune.fold.push(Fold {
                    id,
                    snapshot: payload(&json!("folded")),
                    ran: vec!["a".into()],
                    joined: vec!["b".into()],
                }),
                _ => {}
            }
        }
        let saver = administration(&self.saver)?;
        let saver = kind(saver.prune(&key, prune.clone()).await);
        let memory = administration(&self.memory)?.prune(&key, prune).await;
        same("a prune", saver, kind(memory))
    }

    async fn rewind(&mut self) -> Result<(), Problem> {
        let key = self.key();
        let known = self.memory.list(&key, ListOptions::default()).await?;
        let id = match self.rng.u8(..5) {
            0 => self.id(),
            _ => self.rng.choice(&known).copied(),
        };
        let Some(to) = id else { return Ok(()) };
        let rewind = Rewind {
            to,
            tasks: self.rng.usize(..3),
            entries: self.rng.usize(..3),
            status: RunStatus::ALL[self.rng.usize(..RunStatus::ALL.len())],
            wake_at: None,
        };
        let saver = administration(&self.saver)?;
        let saver = saver.rewind(&key, rewind.clone()).await?;
        let memory = administration(&self.memory)?.rewind(&key, rewind).await?;
        same("a rewind", saver, memory)?;
        self.load(&key, id).await
    }

    async fn list(&mut self) -> Result<(), Problem> {
        let key = self.key();
        let mut options = ListOptions::new();
        options.before = self.id();
        options.limit = self.rng.bool().then(|| self.rng.usize(..4));
        options.source = self.rng.bool().then_some(Source::Loop);
        let steps = self.rng.bool();
        options.steps = steps.then(|| self.rng.i64(-1..2)..=self.rng.i64(2..5));
        if self.rng.bool() {
            options.metadata.insert("m".into(), json!(self.rng.u8(..3)));
        }
        let memory = self.memory.list(&key, options.clone()).await?;
        same("a list", self.saver.list(&key, options).await?, memory)
    }

    async fn load(&mut self, key: &ThreadKey, id: Option<CheckpointId>) -> Result<(), Problem> {
        let memory = chain(&*self.memory, key, id).await?;
        same("a chain", chain(&*self.saver, key, id).await?, memory)?;
        let memory = state_of_chain(&*self.memory, key, id).await?;
        same(
            "a state in memory",
            &state(&*self.memory, key, id).await?,
            &memory,
        )?;
        same("a state", &state(&*self.saver, key, id).await?, &memory)?;
        let head = self.memory.head(key).await?;
        same("a head", self.saver.head(key).await?, head)
    }

    async fn all(&mut self) -> Result<(), Problem> {
        for thread in THREADS {
            for key in administration(&self.memory)?.logs(thread).await? {
                for id in self.memory.list(&key, ListOptions::default()).await? {
                    self.load(&key, Some(id)).await?;
                }
            }
        }
        match self.administered().await {
            Err(Problem::Missing) => Ok(()),
            result => result,
        }
    }

    async fn administered(&mut self) -> Result<(), Problem> {
        let (saver, memory) = (administration(&self.saver)?, administration(&self.memory)?);
        for thread in THREADS {
            let mut logs = saver.logs(thread).await?;
            logs.sort();
            same("the logs", &logs, &memory.logs(thread).await?)?;
            let (saver, memory) = (saver.usage(thread).await?, memory.usage(thread).await?);
            same("the logs' number", saver.logs, memory.logs)?;
            same(
                "the checkpoints' number",
                saver.checkpoints,
                memory.checkpoints,
            )?;
            same("the records' number", saver.records, memory.records)?;
        }
        let plain = |info: langgraph::checkpoint::ThreadInfo| (info.thread, info.head, info.status);
        let saver = saver.threads(ThreadFilter::default()).await?;
        let memory = memory.threads(ThreadFilter::default()).await?;
        let saver: Vec<_> = saver.into_iter().map(plain).collect();
        same(
            "the threads",
            saver,
            memory.into_iter().map(plain).collect(),
        )
    }
}
