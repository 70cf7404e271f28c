//! A saver that acknowledges too early, which the kills have to find: a test of this tool.

use std::sync::Arc;
use std::time::Duration;

use langgraph::async_trait;
use langgraph::checkpoint::{
    Batch, Chain, CheckpointId, Checkpointer, Head, ListOptions, ThreadKey, ThreadPosition,
    VisitStatePart, forward_checkpointer,
};
use langgraph::error::CheckpointError;
use tokio::sync::{mpsc, oneshot};

use crate::Effort;
use crate::kill::{Subject, kill};
use crate::report::Report;
use crate::storage::Storage;

/// How late a batch is stored.
const LATE: Duration = Duration::from_millis(3);

/// Acknowledges batches before they are stored.
pub(crate) struct Early {
    saver: Arc<dyn Checkpointer>,
    jobs: mpsc::UnboundedSender<Job>,
}

enum Job {
    Put(ThreadKey, Batch),
    Barrier(oneshot::Sender<()>),
}

impl Early {
    pub(crate) fn new(saver: Arc<dyn Checkpointer>) -> Self {
        let (jobs, mut waiting) = mpsc::unbounded_channel();
        let stores = Arc::clone(&saver);
        tokio::spawn(async move {
            while let Some(job) = waiting.recv().await {
                match job {
                    Job::Put(key, batch) => {
                        tokio::time::sleep(LATE).await;
                        let _ = stores.put(&key, batch).await;
                    }
                    Job::Barrier(done) => drop(done.send(())),
                }
            }
        });
        Self { saver, jobs }
    }

    async fn stored(&self) {
        let (done, wait) = oneshot::channel();
        let _ = self.jobs.send(Job::Barrier(done));
        let _ = wait.await;
    }
}

#[async_trait]
impl Checkpointer for Early {
    async fn put(&self, key: &ThreadKey, batch: Batch) -> Result<(), CheckpointError> {
        let _ = self.jobs.send(Job::Put(key.clone(), batch));
        Ok(())
    }

    async fn load(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
    ) -> Result<Option<Chain>, CheckpointError> {
        self.stored().await;
        self.saver.load(key, id).await
    }

    async fn load_state(
        &self,
        key: &ThreadKey,
        id: Option<CheckpointId>,
        visit: &mut VisitStatePart<'_>,
    ) -> Result<Option<ThreadPosition>, CheckpointError> {
        self.stored().await;
        self.saver.load_state(key, id, visit).await
    }

    async fn head(&self, key: &ThreadKey) -> Result<Option<Head>, CheckpointError> {
        self.stored().await;
        self.saver.head(key).await
    }

    async fn list(
        &self,
        key: &ThreadKey,
        options: ListOptions,
    ) -> Result<Vec<CheckpointId>, CheckpointError> {
        self.stored().await;
        self.saver.list(key, options).await
    }

    forward_checkpointer!(saver: formats, abilities);
}

/// Kills processes whose saver acknowledges too early: that has to be found.
pub(crate) fn attack(effort: Effort) -> Report {
    let folder = tempfile::tempdir().expect("there is room for files");
    let file = Storage::Sqlite(folder.path().join("threads.db"));
    let caught = kill(effort, folder.path(), Subject::Graph, &file, "early", 60);
    let mut report = Report {
        cases: 1,
        ..Report::default()
    };
    let again = |finding: &&String| finding.contains("after its acknowledgement");
    let seen = caught.findings.iter().filter(again).count();
    report.say(format!(
        "a saver that acknowledges too early was caught {seen} times in {} kills",
        caught.cases
    ));
    if seen == 0 {
        report.finding("a saver that acknowledges too early was not caught");
    }
    report
}
