//! A run is put in the queue, with what belongs to it, in one transaction.

use serde_json::{Value, json};

use super::base::{Base, based};
use super::claims::{claimed_alone, read_claim};
use super::lanes::{locked, placed, placed_alone};
use super::lease_of_thread::LeaseOfThread;
use super::numbers::numbered;
use super::push::{inserted, read_why, why_not};
use super::requests::requested;
use super::statement::Statement;
use super::threads::{ChangedThread, Thread, When, created};
use super::worker::Worker;
use super::{Line, Rows, RowsResult, sql};
use crate::queue::{Claim, ClaimedWith, Job, Pushed, Signal};

/// A run that is put in the queue, with what happens in the same transaction.
pub(crate) struct Submission<'a> {
    pub(crate) job: Job,
    pub(crate) thread: ThreadOfJob<'a>,
    /// Who carries it out at once, if no other run comes first.
    pub(crate) worker: Option<Worker<'a>>,
}

/// What becomes of the row of the thread of a job that is put in the queue.
pub(crate) enum ThreadOfJob<'a> {
    Unchanged,
    /// It is created; its owner may have that many.
    New {
        row: &'a Thread,
        limit: Option<u64>,
        /// A client knows its id, and others may create it, too.
        is_named: bool,
    },
    /// It is changed, if it is as it was when it was read.
    Changed(&'a ChangedThread),
}

/// What became of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// The worker has it.
    Claimed(Claim),
    Pushed(Pushed),
    /// The owner has as many threads as may be.
    TooManyThreads,
}

/// Where the answers to the statements of a submission are.
#[derive(Clone, Copy)]
struct Places {
    inserted: usize,
    claimed: usize,
}

impl<'a> Submission<'a> {
    /// Returns the row of the thread, and how many its owner may have, if it is created.
    fn created(&self) -> Option<(&'a Thread, Option<u64>)> {
        match self.thread {
            ThreadOfJob::New { row, limit, .. } => Some((row, limit)),
            ThreadOfJob::Unchanged | ThreadOfJob::Changed(_) => None,
        }
    }

    /// Returns the row of a thread of which no client knows yet.
    fn unknown(&self) -> Option<&'a Thread> {
        match self.thread {
            ThreadOfJob::New {
                row,
                is_named: false,
                ..
            } => Some(row),
            _ => None,
        }
    }

    /// Returns true if the run has nothing to do with other ones.
    fn is_alone(&self) -> bool {
        self.unknown().is_some() && self.job.concurrency_key.is_none()
    }

    /// Has the job refused if the row of its thread is another one than the one that is changed or created.
    fn expects_its_thread(&mut self) -> RowsResult<()> {
        let doc = match &self.thread {
            ThreadOfJob::New {
                row,
                is_named: true,
                ..
            } => serde_json::to_string(row)?,
            ThreadOfJob::Changed(changed) => changed.before.clone(),
            ThreadOfJob::New { .. } | ThreadOfJob::Unchanged => return Ok(()),
        };
        self.job.thread_doc = Some(doc);
        Ok(())
    }

    /// Adds the statements that put the job in the queue, with its thread.
    fn insert(&self, statements: &mut Vec<Statement>) -> RowsResult<Places> {
        let job = &self.job;
        statements.extend(requested(job));
        if let Some((row, limit)) = self.created() {
            statements.push(created(row, limit)?);
        }
        let inserted_at = statements.len();
        statements.extend([inserted(job), why_not(job)]);
        if let ThreadOfJob::Changed(changed) = &self.thread {
            statements.push(changed.written(When::Queued(job)));
        }
        Ok(Places {
            inserted: inserted_at,
            claimed: inserted_at,
        })
    }

    /// Adds the statements that place the run, and remove what belongs to one that is not in the queue.
    fn place(&self, statements: &mut Vec<Statement>) -> RowsResult<()> {
        let job = &self.job;
        statements.extend(self.taken_back()?);
        if self.is_alone() {
            statements.push(placed_alone(&job.thread, &job.run));
        } else {
            statements.extend(placed(&job.thread, &job.run));
        }
        Ok(())
    }

    /// Returns the statements that remove what belongs to a run that is not in the queue.
    fn taken_back(&self) -> RowsResult<Vec<Statement>> {
        let job = &self.job;
        let mut statements = Vec::new();
        if job.request.is_some() {
            statements.push(sql!(
                "DELETE FROM served_requests WHERE owner = $1 AND run = $2 \
                 AND NOT EXISTS (SELECT 1 FROM served_runs WHERE id = $2)",
                &job.owner,
                &job.run,
            ));
        }
        if let Some((row, _)) = self.created() {
            statements.push(sql!(
                "DELETE FROM served_threads WHERE id = $1 AND doc = $2 \
                 AND NOT EXISTS (SELECT 1 FROM served_runs WHERE thread = $1)",
                &job.thread,
                serde_json::to_string(row)?,
            ));
        }
        Ok(statements)
    }

    /// Returns the statements with which the worker claims the run. If its thread is new, its row says that it is
    /// busy, and nothing was there before the run.
    fn claimed(&self, worker: Worker<'_>) -> RowsResult<Vec<Statement>> {
        let job = &self.job;
        let mut statements = vec![claimed_alone(&job.run, worker)];
        if let Some(thread) = self.unknown() {
            let claim = Claim::new(&job.run, &job.thread, "");
            let doc = serde_json::to_string(thread)?;
            let busy = ChangedThread::of(thread.clone(), doc, Thread::begin)?;
            statements.push(busy.written(When::Claimed(&claim)));
            statements.push(based(&claim, Some(&Base::default())));
            if worker.stores_events {
                statements.push(numbered(&claim));
            }
        }
        Ok(statements)
    }

    /// Reads what became of it.
    fn read(&self, answers: &[Vec<Line>], at: Places, has_lease: bool) -> Submitted {
        let row = |at: usize| answers.get(at).and_then(|lines| lines.first());
        if row(at.inserted).is_none() {
            return match read_why(row(at.inserted + 1)) {
                // It was to be created.
                Pushed::Gone if self.created().is_some() => Submitted::TooManyThreads,
                why => Submitted::Pushed(why),
            };
        }
        let (Some(line), Some(worker)) = (row(at.claimed), self.worker) else {
            return Submitted::Pushed(Pushed::Queued);
        };
        let has_numbers = worker.stores_events;
        Submitted::Claimed(Claim {
            with: match self.unknown() {
                Some(_) => ClaimedWith::NewThread { has_numbers },
                None => ClaimedWith::Submission,
            },
            has_lease,
            ..read_claim(line)
        })
    }
}

/// Returns the statements that lock what the transaction looks at: two that are pushed at once see each other. What
/// all take comes first, so that none waits for one that waits for it.
fn locks(submissions: &[Submission<'_>]) -> Vec<Statement> {
    let mut statements = Vec::new();
    for submission in submissions.iter().filter(|one| !one.is_alone()) {
        let job = &submission.job;
        statements.extend(locked(&job.thread, job.concurrency_key.as_deref()));
    }
    let counts = |submission: &&Submission<'_>| {
        let (job, thread) = (&submission.job, submission.created());
        let counts_threads = thread.is_some_and(|(_, limit)| limit.is_some());
        counts_threads || (job.most_waiting.is_some() && !job.owner.is_empty())
    };
    if let Some(counting) = submissions.iter().find(counts) {
        statements.push(sql!("SELECT {GATE_OF}", &counting.job.owner));
    }
    statements
}

/// Returns the statement that removes the runs of new threads again, unless each of them is there.
fn all_or_none(submissions: &[Submission<'_>]) -> Option<Statement> {
    let threads = submissions.iter();
    let threads = threads.map(|submission| json!({"t": submission.job.thread}));
    (submissions.len() > 1).then(|| {
        sql!(
            "DELETE FROM served_runs WHERE thread IN (SELECT e ->> 't' FROM {EACH}) AND status = $2 \
             AND (SELECT count(*) FROM served_runs WHERE thread IN (SELECT e ->> 't' FROM {EACH})) < $1",
            i64::try_from(submissions.len()).unwrap_or(i64::MAX),
            "pending",
            threads.collect::<Value>().to_string(),
        )
    })
}

impl Rows {
    /// Puts a run in the queue, unless the job says why not: then nothing is changed.
    pub(crate) async fn submit(&self, submission: Submission<'_>) -> RowsResult<Submitted> {
        self.submit_together(vec![submission]).await
    }

    /// Puts runs of an owner in the queue, unless one of the jobs says why not: then nothing is changed, and the reason is
    /// returned. Several are on threads of which no client knows yet, and have no worker.
    pub(crate) async fn submit_together(
        &self,
        mut submissions: Vec<Submission<'_>>,
    ) -> RowsResult<Submitted> {
        for submission in &mut submissions {
            submission.expects_its_thread()?;
        }
        let mut statements = locks(&submissions);
        let mut places = Vec::with_capacity(submissions.len());
        for submission in &submissions {
            places.push(submission.insert(&mut statements)?);
        }
        statements.extend(all_or_none(&submissions));
        for submission in &submissions {
            submission.place(&mut statements)?;
        }
        let mut lease = None;
        for (submission, at) in submissions.iter().zip(&mut places) {
            let job = &submission.job;
            at.claimed = statements.len();
            if let Some(worker) = submission.worker {
                statements.extend(submission.claimed(worker)?);
                lease = Some(LeaseOfThread {
                    with: at.claimed,
                    thread: job.thread.clone(),
                    holder: Claim::new(&job.run, &job.thread, "").holder(),
                    term: worker.term,
                });
            }
            statements.extend(self.signal_of_waiting(&job.run));
        }
        let (answers, has_lease) = self.db.together_with_lease(statements, lease).await?;
        let submitted = submissions.iter().zip(&places);
        let mut submitted = submitted.map(|(one, at)| one.read(&answers, *at, has_lease));
        let queued = Submitted::Pushed(Pushed::Queued);
        if let Some(other) = submitted.find(|one| *one != queued) {
            return Ok(other);
        }
        self.notify(Signal::Queued);
        Ok(queued)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use std::time::Duration;

    use super::*;
    use crate::queue::RunQueue;
    use crate::rows::read;

    const WORKER: Worker<'static> = Worker {
        name: "one",
        lease: Duration::from_secs(30),
        term: Duration::from_secs(60),
        stores_events: true,
    };

    fn job(run: &str, thread: &str) -> Job {
        Job {
            needs_thread: true,
            ..Job::new(run, thread, "{}")
        }
    }

    fn new(row: &Thread, limit: Option<u64>) -> ThreadOfJob<'_> {
        ThreadOfJob::New {
            row,
            limit,
            is_named: false,
        }
    }

    fn row(thread: &str) -> Thread {
        Thread::new(thread.to_owned(), "", json!({}))
    }

    #[tokio::test]
    async fn a_run_that_comes_next_is_claimed_with_its_new_thread() {
        claims_with_its_new_thread(Rows::in_memory().await.unwrap()).await;
    }

    #[cfg(feature = "postgres")]
    #[tokio::test]
    async fn l3_a_run_that_comes_next_is_claimed_with_its_new_thread_in_postgres() {
        use langgraph_postgres::{Database, Options};

        let url = std::env::var("DATABASE_URL");
        let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
        let schema = format!("submission_{}", uuid::Uuid::new_v4().simple());
        let options = Options::default().schema(schema).max_connections(1);
        let database = Database::connect_with(&url, options).await.unwrap();
        claims_with_its_new_thread(Rows::postgres(database).await.unwrap()).await;
    }

    async fn claims_with_its_new_thread(rows: Rows) {
        let thread = row("t");
        let submission = Submission {
            job: job("r", "t"),
            thread: new(&thread, Some(1)),
            worker: Some(WORKER),
        };
        let Submitted::Claimed(claim) = rows.submit(submission).await.unwrap() else {
            panic!("another run comes first");
        };
        assert_eq!(claim.with, ClaimedWith::NewThread { has_numbers: true });
        assert!(claim.has_lease);
        assert!(rows.is_valid("r", claim.fence).await.unwrap());
        assert_eq!(rows.thread("t").await.unwrap().unwrap().status, "busy");
        let numbers = read!("SELECT count(*) FROM served_numbers WHERE run = 'r'");
        let numbers = rows.db.row(numbers).await.unwrap();
        assert_eq!(numbers.unwrap().int(0), 1);

        // Its owner has as many threads as may be.
        let thread = row("other");
        let submission = Submission {
            job: job("s", "other"),
            thread: new(&thread, Some(1)),
            worker: Some(WORKER),
        };
        let refused = rows.submit(submission).await.unwrap();
        assert_eq!(refused, Submitted::TooManyThreads);
        assert!(rows.thread("other").await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_run_waits_for_its_turn_while_another_one_is_ready() {
        let rows = Rows::in_memory().await.unwrap();
        rows.push(Job::new("first", "a", "{}")).await.unwrap();
        let thread = row("t");
        let submission = |run: &str| Submission {
            job: job(run, "t"),
            thread: new(&thread, None),
            worker: Some(WORKER),
        };
        let waits = rows.submit(submission("r")).await.unwrap();
        assert_eq!(waits, Submitted::Pushed(Pushed::Queued));
        assert_eq!(rows.thread("t").await.unwrap().unwrap().status, "idle");
    }

    #[tokio::test]
    async fn a_run_that_is_refused_leaves_no_thread() {
        let rows = Rows::in_memory().await.unwrap();
        rows.push(Job::new("r", "a", "{}")).await.unwrap();
        let thread = row("t");
        let submission = Submission {
            job: job("r", "t"),
            thread: new(&thread, None),
            worker: Some(WORKER),
        };
        let known = rows.submit(submission).await.unwrap();
        assert_eq!(known, Submitted::Pushed(Pushed::Known));
        assert!(rows.thread("t").await.unwrap().is_none());
    }
}
