//! Threads whose run vanished.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::task::JoinSet;

use super::{Outcome, Run};
use crate::checkpoint::{Head, RunStatus, ThreadFilter, ThreadInfo, ThreadKey};
use crate::environment;
use crate::error::{AgentError, NoRuntime};
use crate::log::{Lease, RunGuard};
use crate::state::State;
use crate::stream::{Event, StreamOptions};
use crate::thread::Threads;

/// How far the clocks of hosts may be apart.
const SKEW: Duration = Duration::from_secs(60);

/// The call that errors name.
const CALL: &str = "`resume_pending`";

/// A thread that [`Threads::resume_pending`] has found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Resumed<S: State> {
    /// The thread.
    pub thread: String,
    /// How its last run stood.
    pub status: RunStatus,
    /// The outcome of its run, or why there was none:
    /// [`CheckpointError::Held`](crate::error::CheckpointError::Held) says until when another run holds the thread.
    pub outcome: Result<Outcome<S>, AgentError>,
}

type Configure<S> = Arc<dyn Fn(&str, Run<S>) -> Run<S> + Send + Sync>;
type OnEvent<S> = Arc<dyn Fn(&str, Event<S>) + Send + Sync>;

/// A recovery before it starts: set options, then await it.
#[must_use = "nothing is resumed until it is awaited"]
pub struct ResumePending<S: State> {
    threads: Threads<S>,
    idle: Duration,
    statuses: Vec<RunStatus>,
    wait: Duration,
    concurrency: usize,
    configure: Option<Configure<S>>,
    events: Option<(StreamOptions, OnEvent<S>)>,
}

/// Resuming threads.
impl<S: State> Threads<S> {
    /// Resumes every thread of this graph whose run vanished with its process, or was drained before
    /// its process stopped. Threads that a graph of another name has run on are left to that graph.
    /// It also leaves threads alone whose last run ended: was cancelled, timed out, failed, or waits
    /// for an answer; [`including`](ResumePending::including) adds some of these.
    ///
    /// A run counts as vanished if the thread says that it is under way, nothing was stored for
    /// `idle`, and its lease is over or its process gone. A drained run needs no wait. Several processes may call this at the
    /// same time; one of them takes each thread. Each thread that was found is in the result. One
    /// that another run still holds is there with
    /// [`CheckpointError::Held`](crate::error::CheckpointError::Held), and a thread that cannot be read
    /// with [`CheckpointError::Corrupt`](crate::error::CheckpointError::Corrupt), whatever its status:
    /// the others are resumed.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use langgraph::checkpoint::MemorySaver;
    /// use langgraph::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<i64>::new();
    /// graph.add_node("increment", |n: &i64| n + 1).add_sequence(&["increment"]);
    /// let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    ///
    /// // At the start of a program:
    /// let resumed = graph
    ///     .threads()
    ///     .resume_pending(Duration::ZERO)
    ///     .concurrency(4)
    ///     .options(|_, run| run.timeout(Duration::from_secs(600)))
    ///     .await?;
    /// for thread in &resumed {
    ///     println!("{}: {:?}", thread.thread, thread.outcome);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`AgentError::Checkpoint`] if the threads cannot be listed. Errors of the runs are in the
    /// result.
    pub fn resume_pending(&self, idle: Duration) -> ResumePending<S> {
        ResumePending {
            threads: self.clone(),
            idle,
            statuses: vec![RunStatus::Running, RunStatus::Drained],
            wait: Duration::ZERO,
            concurrency: 1,
            configure: None,
            events: None,
        }
    }
}

impl<S: State> ResumePending<S> {
    /// Also resumes threads whose last run stands so: one that was cancelled, timed out or failed.
    pub fn including(mut self, status: RunStatus) -> Self {
        self.statuses.push(status);
        self
    }

    /// Waits up to this long for each thread that another run holds, instead of reporting it at
    /// once.
    pub fn wait(mut self, at_most: Duration) -> Self {
        self.wait = at_most;
        self
    }

    /// Resumes up to this many threads side by side; one after the other unless set.
    pub fn concurrency(mut self, threads: usize) -> Self {
        self.concurrency = threads.max(1);
        self
    }

    /// Sets the options of each run. The first argument is the thread.
    pub fn options(
        mut self,
        configure: impl Fn(&str, Run<S>) -> Run<S> + Send + Sync + 'static,
    ) -> Self {
        self.configure = Some(Arc::new(configure));
        self
    }

    /// Hands each event of each run to `see`, with its thread.
    pub fn on_event(
        mut self,
        options: impl Into<StreamOptions>,
        see: impl Fn(&str, Event<S>) + Send + Sync + 'static,
    ) -> Self {
        self.events = Some((options.into(), Arc::new(see)));
        self
    }

    async fn resume(self) -> Result<Vec<Resumed<S>>, AgentError> {
        let now = environment::now();
        let since = now.checked_sub(self.idle).unwrap_or(SystemTime::UNIX_EPOCH);
        // What was stored in the future, by a clock that was set back, is not active either.
        let future = now.checked_add(self.idle.max(SKEW));
        let mut filter = ThreadFilter::new();
        filter.statuses.clone_from(&self.statuses);
        self.threads.saver()?.leases_for(CALL)?;
        let runtime = NoRuntime::handle(|| "`resume_pending`".to_owned())?;
        let mut found = self.threads.list(filter).await?;
        let name = &self.threads.graph.plan.topology.name;
        found.retain(|info| {
            let owner = info.owner.as_ref();
            let idle =
                info.updated_at < since || future.is_some_and(|future| info.updated_at > future);
            let over = idle || info.status == RunStatus::Drained;
            over && info.damage.is_none() && owner.is_none_or(|owner| owner.graph == *name)
        });
        let damaged = self.threads.list(ThreadFilter::new().damaged()).await?;
        let mut resumed: Vec<_> = damaged.into_iter().filter_map(unreadable).collect();
        let options = Arc::new(self);
        let mut under_way = JoinSet::new();
        for info in found {
            while under_way.len() >= options.concurrency {
                resumed.extend(under_way.join_next().await.into_iter().flatten().flatten());
            }
            under_way.spawn_on(Arc::clone(&options).resume_one(info), &runtime);
        }
        while let Some(one) = under_way.join_next().await {
            resumed.extend(one.into_iter().flatten());
        }
        resumed.sort_by(|a: &Resumed<S>, b| a.thread.cmp(&b.thread));
        Ok(resumed)
    }

    /// Resumes a thread if its head is still that one; `None` if another process has resumed it.
    async fn resume_one(self: Arc<Self>, info: ThreadInfo) -> Option<Resumed<S>> {
        let ThreadInfo {
            thread,
            head,
            status,
            ..
        } = info;
        let outcome = self.outcome(&thread, head).await.transpose()?;
        Some(Resumed {
            thread,
            status,
            outcome,
        })
    }

    async fn outcome(&self, thread: &str, head: Head) -> Result<Option<Outcome<S>>, AgentError> {
        let graph = &self.threads.graph;
        let saver = self.threads.saver()?;
        let term = graph.thread_policy().lease_term;
        let mut lease = Lease::take(saver, thread, self.wait, term, CALL).await?;
        let guard = Arc::new(RunGuard::default());
        lease.watched_by(Some(&guard));
        let run = async {
            if saver.head(&ThreadKey::root(thread)).await? != Some(head) {
                return Ok(None);
            }
            let mut run = graph.thread(thread).recover();
            if let Some(configure) = &self.configure {
                run = configure(thread, run);
            }
            run.options.held = true;
            run.options.ending = Some(Arc::clone(&guard));
            let Some((options, see)) = &self.events else {
                return run.await.map(Some);
            };
            let mut events = run.stream(options.clone());
            while let Some(event) = events.next().await {
                see(thread, event?);
            }
            events.finish().await.map(Some)
        };
        let mut outcome = lease.during(run).await;
        if let Err(error) = &outcome {
            let status = match error {
                AgentError::Cancelled => RunStatus::Cancelled,
                AgentError::TimedOut(_) => RunStatus::TimedOut,
                _ => RunStatus::Failed,
            };
            let recorded = lease.record_end(&guard, status).await;
            // A failure of the run itself is more important.
            if let (Err(failure), RunStatus::Cancelled | RunStatus::TimedOut) = (recorded, status) {
                outcome = Err(failure.into());
            }
        }
        lease.release().await;
        outcome
    }
}

/// Returns a thread that cannot be read, with the reason.
fn unreadable<S: State>(info: ThreadInfo) -> Option<Resumed<S>> {
    let outcome = Err(info.error()?.into());
    Some(Resumed {
        thread: info.thread,
        status: info.status,
        outcome,
    })
}

impl<S: State> IntoFuture for ResumePending<S> {
    type Output = Result<Vec<Resumed<S>>, AgentError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.resume())
    }
}

impl_debug!([S: State] ResumePending<S>, |pending|
    idle = pending.idle, statuses = pending.statuses, wait = pending.wait,
    concurrency = pending.concurrency);
