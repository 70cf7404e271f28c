//! A run is put in the queue, with what belongs to it, in one transaction.

use super::base::{Base, based};
use super::claims::{claimed_alone, read_claim};
use super::lanes::{locked, placed, placed_alone};
use super::lease_of_thread::LeaseOfThread;
use super::numbers::numbered;
use super::push::{inserted, read_why, why_not};
use super::requests::requested;
use super::statement::Statement;
use super::threads::{ChangedThread, Thread, created};
use super::worker::Worker;
use super::{Rows, RowsResult, sql};
use crate::queue::{Claim, ClaimedWith, Job, Pushed, Signal};

/// A run that is put in the queue, with what happens in the same transaction.
pub(crate) struct Submission<'a> {
    pub(crate) job: Job,
    /// The row of its thread, which is new, and how many its owner may have.
    pub(crate) thread: Option<(&'a Thread, Option<u64>)>,
    /// Who carries it out at once, if no other run comes first.
    pub(crate) worker: Option<Worker<'a>>,
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

impl Submission<'_> {
    /// Returns true if the run has nothing to do with other ones: no other client knows a thread that is new.
    fn is_alone(&self) -> bool {
        self.thread.is_some() && self.job.concurrency_key.is_none()
    }

    /// Returns the statements that lock what the transaction looks at: two that are pushed at once see each other.
    fn locks(&self) -> Vec<Statement> {
        let job = &self.job;
        let mut statements = Vec::new();
        if !self.is_alone() {
            statements.extend(locked(&job.thread, job.concurrency_key.as_deref()));
        }
        let counts_threads = self.thread.is_some_and(|(_, limit)| limit.is_some());
        if counts_threads || (job.most_waiting.is_some() && !job.owner.is_empty()) {
            statements.push(sql!("SELECT {GATE_OF}", &job.owner));
        }
        statements
    }

    /// Returns the statements with which the worker claims the run. If its thread is new, its row says that it is
    /// busy, and nothing was there before the run.
    fn claimed(&self, worker: Worker<'_>) -> RowsResult<Vec<Statement>> {
        let job = &self.job;
        let mut statements = vec![claimed_alone(&job.run, worker)];
        if let Some((thread, _)) = self.thread {
            let claim = Claim::new(&job.run, &job.thread, "");
            let doc = serde_json::to_string(thread)?;
            let busy = ChangedThread::of(thread.clone(), doc, Thread::begin)?;
            statements.push(busy.written(Some(&claim)));
            statements.push(based(&claim, Some(&Base::default())));
            if worker.stores_events {
                statements.push(numbered(&claim));
            }
        }
        Ok(statements)
    }
}

impl Rows {
    /// Puts a run in the queue, unless the job says why not: then nothing is changed.
    pub(crate) async fn submit(&self, submission: Submission<'_>) -> RowsResult<Submitted> {
        let job = &submission.job;
        let is_alone = submission.is_alone();
        let mut statements = submission.locks();
        statements.extend(requested(job));
        let thread_at = statements.len();
        if let Some((thread, limit)) = submission.thread {
            statements.push(created(thread, limit)?);
        }
        let at = statements.len();
        statements.extend([inserted(job), why_not(job)]);
        if is_alone {
            statements.push(placed_alone(&job.thread, &job.run));
        } else {
            statements.extend(placed(&job.thread, &job.run));
        }
        statements.extend(taken_back(&submission));
        let claimed_at = statements.len();
        if let Some(worker) = submission.worker {
            statements.extend(submission.claimed(worker)?);
        }
        statements.extend(self.signal_of_waiting(&job.run));
        let lease = submission.worker.map(|worker| LeaseOfThread {
            with: claimed_at,
            thread: job.thread.clone(),
            holder: Claim::new(&job.run, &job.thread, "").holder(),
            term: worker.term,
        });
        let (answers, has_lease) = self.db.together_with_lease(statements, lease).await?;
        let row = |at: usize| answers.get(at).and_then(|lines| lines.first());
        if submission.thread.is_some() && row(thread_at).is_none() {
            return Ok(Submitted::TooManyThreads);
        }
        if row(at).is_none() {
            return Ok(Submitted::Pushed(read_why(row(at + 1))));
        }
        if let (Some(line), Some(worker)) = (row(claimed_at), submission.worker) {
            let has_numbers = worker.stores_events;
            return Ok(Submitted::Claimed(Claim {
                with: match submission.thread {
                    Some(_) => ClaimedWith::NewThread { has_numbers },
                    None => ClaimedWith::Submission,
                },
                has_lease,
                ..read_claim(line)
            }));
        }
        self.notify(Signal::Queued);
        Ok(Submitted::Pushed(Pushed::Queued))
    }
}

/// Removes what belongs to a run that is not in the queue.
fn taken_back(submission: &Submission<'_>) -> Vec<Statement> {
    let job = &submission.job;
    let mut statements = Vec::new();
    if job.request.is_some() {
        statements.push(sql!(
            "DELETE FROM served_requests WHERE owner = $1 AND run = $2 \
             AND NOT EXISTS (SELECT 1 FROM served_runs WHERE id = $2)",
            &job.owner,
            &job.run,
        ));
    }
    if submission.thread.is_some() {
        statements.push(sql!(
            "DELETE FROM served_threads WHERE id = $1 \
             AND NOT EXISTS (SELECT 1 FROM served_runs WHERE id = $2 AND thread = $1)",
            &job.thread,
            &job.run,
        ));
    }
    statements
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use serde_json::json;

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
            thread: Some((&thread, Some(1))),
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
            thread: Some((&thread, Some(1))),
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
            thread: Some((&thread, None)),
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
            thread: Some((&thread, None)),
            worker: Some(WORKER),
        };
        let known = rows.submit(submission).await.unwrap();
        assert_eq!(known, Submitted::Pushed(Pushed::Known));
        assert!(rows.thread("t").await.unwrap().is_none());
    }
}
