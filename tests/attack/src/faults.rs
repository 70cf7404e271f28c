//! A saver whose calls fail, before or after they have happened, at random: the thread goes on to
//! the same end.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use langgraph::error::CheckpointError;
use langgraph::thread::OnConflict;
use langgraph_testing::{Intercept, InterceptedSaver, SaverCall};

use crate::graphs::{build, finish, over};
use crate::kill::{check_effects, check_end, durability, name};
use crate::report::Report;
use crate::storage::Storage;
use crate::trace::Trace;
use crate::traced::Traced;
use crate::{Effort, block_on};

/// One of some calls fails.
struct Unreliable {
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
}

impl Intercept for Unreliable {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        if matches!(call, SaverCall::Threads | SaverCall::Administration) {
            return run.await;
        }
        let broken = || Err(CheckpointError::storage("the disk is away"));
        match self.fault() {
            Some(false) => broken(),
            Some(true) => {
                let _ = run.await;
                broken()
            }
            None => run.await,
        }
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
    let unreliable = Unreliable {
        random: Mutex::new(fastrand::Rng::with_seed(seed)),
        rarity: 4 + u32::try_from(seed % 20).unwrap_or(0),
        faults: Arc::clone(faults),
    };
    let saver = Arc::new(InterceptedSaver::new(opened, unreliable));
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
