//! A saver whose calls fail, before or after they have happened, at random: the thread goes on to
//! the same end.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Administration, Batch, Chain, CheckpointId, Checkpointer, Formats, Head, HeldBy, Leases,
    ListOptions, ThreadKey, ThreadPosition, VisitStatePart,
};
use langgraph::error::CheckpointError;
use langgraph::thread::OnConflict;

use crate::graphs::{build, finish, over};
use crate::kill::{check_effects, check_end, durability, name};
use crate::report::Report;
use crate::storage::Storage;
use crate::trace::Trace;
use crate::traced::Traced;
use crate::{Effort, block_on};

/// Stands before a saver; one of some calls fails.
struct Unreliable {
    saver: Arc<dyn Checkpointer>,
    random: Mutex<fastrand::Rng>,
    /// One of so many calls fails.
    rarity: u32,
    faults: Arc<AtomicU64>,
}

impl Unreliable {
    /// Whether a call fails, and whether it has happened before it fails.
    fn fault(&self) -> Option<bool> {
        let mut random = self.random.lock().expect("no holder of the lock panics");
        let fault = random.u32(..self.rarity) == 0;
        fault.then(|| {
            self.faults.fetch_add(1, Ordering::Relaxed);
            random.bool()
        })
    }

    async fn around<T>(
        &self,
        call: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        let broken = || Err(CheckpointError::storage("the disk is away"));
        match self.fault() {
            Some(false) => broken(),
            Some(true) => {
                let _ = call.await;
                broken()
            }
            None => call.await,
        }
    }
}

#[async_trait]
impl Checkpointer for Unreliable {
    fn formats(&self) -> Option<&Formats> {
        self.saver.formats()
    }

    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        self.around(self.saver.put(key, batch)).await
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.around(self.saver.load(key, id)).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.around(self.saver.load_state(key, id, visit)).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.around(self.saver.head(key)).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.around(self.saver.list(key, options)).await
    }

    fn leases(&self) -> Option<&dyn Leases> {
        Some(self)
    }

    fn administration(&self) -> Option<&dyn Administration> {
        self.saver.administration()
    }
}

#[async_trait]
impl Leases for Unreliable {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        let leases = self.saver.leases_for("an attack")?;
        self.around(leases.lease(thread, holder, term)).await
    }

    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError> {
        let leases = self.saver.leases_for("an attack")?;
        self.around(leases.renew(thread, holder, term)).await
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let leases = self.saver.leases_for("an attack")?;
        self.around(leases.release(thread, holder)).await
    }
}

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    let folder = tempfile::tempdir().expect("there is room for files");
    let faults = Arc::new(AtomicU64::new(0));
    let file = Storage::Sqlite(folder.path().join("threads.db"));
    for (storage, threads) in [
        (Storage::memory(), effort.of(100, 4_000)),
        (file, effort.of(30, 1_000)),
    ] {
        for seed in 0..threads {
            let seed = effort.seed * 3_000_000 + seed;
            let trace = folder.path().join("trace");
            let _ = std::fs::remove_file(&trace);
            report.cases += 1;
            if let Err(what) = block_on(thread(seed, &storage, &trace, &faults)) {
                report.finding(format!("{storage}, seed {seed}: {what}"));
            }
        }
    }
    report.say(format!(
        "{} faults in {} threads",
        faults.load(Ordering::Relaxed),
        report.cases
    ));
    report
}

async fn thread(
    seed: u64,
    storage: &Storage,
    file: &std::path::Path,
    faults: &Arc<AtomicU64>,
) -> Result<(), String> {
    let opened = storage.open().await?;
    let trace = Arc::new(Trace::to(file, None));
    let saver = Arc::new(Unreliable {
        saver: opened,
        random: Mutex::new(fastrand::Rng::with_seed(seed)),
        rarity: 4 + u32::try_from(seed % 20).unwrap_or(0),
        faults: Arc::clone(faults),
    });
    let saver = Arc::new(Traced {
        saver,
        trace: Arc::clone(&trace),
    });
    let graph = over(&build(seed, &trace), saver)
        .on_conflict(OnConflict::Wait(Duration::from_secs(5)))
        .lease_term(Duration::from_millis(30));
    let mut tries = 0;
    while let Err(error) = finish(&graph, &name(seed), durability(seed), None).await {
        tries += 1;
        if tries > 2_000 {
            return Err(format!("it does not end: {error}"));
        }
    }
    let written = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    check_effects(&written)?;
    check_end(seed, storage).await
}
