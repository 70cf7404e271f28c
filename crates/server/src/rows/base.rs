//! Where a thread was before a run.

use super::numbers::numbered;
use super::statement::Statement;
use super::threads::{Thread, When};
use super::{Rows, RowsResult, sql};
use crate::queue::{Cancel, Claim};

/// Where a thread was before a run, as noted at its first attempt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    /// The checkpoint; empty if the thread had none.
    pub(crate) checkpoint: String,
    /// How many batches its log had; `None` if the run brings nothing that is stored without a checkpoint.
    pub(crate) version: Option<i64>,
    /// How the thread stood, if it waited or had failed.
    pub(crate) before: Option<String>,
}

/// A run whose thread is marked as busy.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    /// The row of its thread.
    pub(crate) thread: Thread,
    /// Where the thread was before the run.
    pub(crate) base: Base,
    /// A request to cancel it.
    pub(crate) cancel: Option<Cancel>,
}

/// Returns the statement that notes where the thread is before a run, at its first attempt, and returns what is
/// noted, as long as the claim is valid. `None`: it is not known now.
pub(super) fn based(claim: &Claim, now: Option<&Base>) -> Statement {
    // Servers older than version 6 have noted the checkpoint alone.
    sql!(
        "UPDATE served_runs SET base = coalesce(base, $2), \
         version = CASE WHEN base IS NULL THEN $3 ELSE version END, \
         stood = CASE WHEN base IS NULL THEN $5 ELSE stood END \
         WHERE id = $1 AND fence = $4 AND status = 'running' \
         RETURNING base, version, cancel, stood",
        &claim.run,
        now.map(|now| now.checkpoint.as_str()),
        now.and_then(|now| now.version),
        claim.fence,
        now.and_then(|now| now.before.as_deref()),
    )
}

impl Rows {
    /// Marks the thread of a run as busy, notes where it is before the run, and gives the run numbers for its events,
    /// if it stores them. Returns `None` if the claim is not valid any more.
    pub(crate) async fn begin(
        &self,
        claim: &Claim,
        now: Option<&Base>,
        stores_events: bool,
    ) -> RowsResult<Option<Begun>> {
        loop {
            let busy = self.thread_changed(&claim.thread, Thread::begin).await?;
            let Some(busy) = busy else {
                return Ok(None);
            };
            // The thread before the run, as all others lock them.
            let busy_row = busy.written(When::Claimed(claim)).passing();
            let mut statements = vec![busy_row, based(claim, now).passing()];
            if stores_events {
                // No other event has its numbers, whatever happens.
                statements.push(numbered(claim));
            }
            let answers = self.db.together(statements).await?;
            let row = |at: usize| answers.get(at).and_then(|lines| lines.first());
            let Some(line) = row(1) else {
                return Ok(None);
            };
            if row(0).is_some() {
                return Ok(Some(Begun {
                    thread: busy.thread,
                    base: Base {
                        checkpoint: line.text(0).to_owned(),
                        version: line.some_int(1),
                        before: line.some_text(3).map(str::to_owned),
                    },
                    cancel: line.some_text(2).and_then(Cancel::parse),
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use std::time::{Duration, SystemTime};

    use serde_json::json;

    use super::*;
    use crate::queue::{After, Cancel, Cancelled, Job, Notice, Outbox, Pushed, RunQueue};

    #[tokio::test]
    async fn a_run_that_was_put_back_is_not_withdrawn_but_ended_by_its_next_attempt() {
        let rows = Rows::in_memory().await.unwrap();
        let claim = async || {
            let claim = rows.claim("one", Duration::from_secs(30), After::START);
            claim.await.unwrap().unwrap()
        };
        let thread = Thread::new("thread".to_owned(), "", json!({}));
        rows.create_thread(&thread, None).await.unwrap();
        rows.push(Job::new("run", "thread", "{}")).await.unwrap();
        let first = claim().await;
        let begun = rows.begin(&first, Some(&Base::default()), false).await;
        assert_eq!(begun.unwrap().unwrap().thread.status, "busy");
        assert!(rows.give_back(&first).await.unwrap());
        let notice = || {
            Some(Notice {
                url: "http://localhost".to_owned(),
                body: "{}".to_owned(),
            })
        };
        let cancelled = rows.cancel("run", Cancel::Rollback, notice()).await;
        assert_eq!(cancelled.unwrap(), Cancelled::Requested);
        // Its end is reported when it comes.
        let reported = async || rows.take_due(10, Duration::from_secs(60)).await.unwrap();
        assert_eq!(reported().await.len(), 0);
        assert_eq!(claim().await.cancel, Some(Cancel::Rollback));

        // One that has not begun is.
        rows.push(Job::new("other", "other", "{}")).await.unwrap();
        let cancelled = rows.cancel("other", Cancel::Rollback, notice()).await;
        assert_eq!(cancelled.unwrap(), Cancelled::Withdrawn);
        assert_eq!(reported().await.len(), 1);
    }

    #[tokio::test]
    async fn a_run_that_is_to_be_attempted_later_keeps_its_thread() {
        let rows = Rows::in_memory().await.unwrap();
        let thread = Thread {
            wakes: Some(1),
            ..Thread::new("thread".to_owned(), "", json!({}))
        };
        rows.create_thread(&thread, None).await.unwrap();
        rows.push(Job::new("run", "thread", "{}")).await.unwrap();
        let claim = rows.claim("one", Duration::from_secs(30), After::START);
        let claim = claim.await.unwrap().unwrap();
        let begun = rows.begin(&claim, Some(&Base::default()), false).await;
        begun.unwrap().unwrap();
        assert!(rows.give_back_failed(&claim).await.unwrap());
        // Nothing else changes the thread, or begins on it, as if the run were over.
        assert_eq!(rows.active("thread").await.unwrap(), ["run"]);
        let other = Job {
            unless_busy: true,
            ..Job::new("other", "thread", "{}")
        };
        assert_eq!(rows.push(other).await.unwrap(), Pushed::Busy);
        assert_eq!(rows.due_threads().await.unwrap().len(), 0);
    }

    #[tokio::test]
    async fn a_run_that_could_not_begin_keeps_its_turn() {
        let rows = Rows::in_memory().await.unwrap();
        let thread = Thread {
            wakes: Some(1),
            ..Thread::new("thread".to_owned(), "", json!({}))
        };
        rows.create_thread(&thread, None).await.unwrap();
        let later = Duration::from_secs(600);
        let delayed = Job {
            not_before: Some(SystemTime::now() + later),
            ..Job::new("delayed", "thread", "{}")
        };
        rows.push(delayed).await.unwrap();
        rows.push(Job::new("run", "thread", "{}")).await.unwrap();
        let claim = async || {
            let claim = rows.claim("one", Duration::from_secs(30), After::START);
            claim.await.unwrap()
        };
        let first = claim().await.unwrap();
        assert!(rows.give_back_failed(&first).await.unwrap());
        // Its storage has failed before it had begun: runs that come later stop it, or wait for it.
        assert_eq!(rows.active("thread").await.unwrap(), ["run"]);
        let other = Job {
            unless_busy: true,
            ..Job::new("other", "thread", "{}")
        };
        assert_eq!(rows.push(other).await.unwrap(), Pushed::Busy);
        let waits = Job::new("waits", "thread", "{}").priority(5);
        rows.push(waits).await.unwrap();
        assert_eq!(claim().await.map(|claim| claim.run), None);
        assert_eq!(rows.due_threads().await.unwrap().len(), 0);
        let withdrawn = rows.cancel("run", Cancel::Interrupt, None);
        assert_eq!(withdrawn.await.unwrap(), Cancelled::Withdrawn);
        assert_eq!(claim().await.unwrap().run, "waits");
    }

    #[tokio::test]
    async fn a_run_that_was_put_back_goes_on_before_another_one_begins() {
        let rows = Rows::in_memory().await.unwrap();
        let claim = async || {
            let claim = rows.claim("one", Duration::from_secs(30), After::START);
            claim.await.unwrap()
        };
        let thread = Thread::new("thread".to_owned(), "", json!({}));
        rows.create_thread(&thread, None).await.unwrap();
        rows.push(Job::new("run", "thread", "{}")).await.unwrap();
        let first = claim().await.unwrap();
        let begun = rows.begin(&first, Some(&Base::default()), false).await;
        assert!(begun.unwrap().is_some());
        let urgent = Job::new("urgent", "thread", "{}").priority(5);
        rows.push(urgent).await.unwrap();
        assert!(rows.give_back(&first).await.unwrap());
        let again = claim().await.unwrap();
        assert_eq!(again.run, "run");

        // Also while it waits before it is tried again.
        assert!(rows.give_back_failed(&again).await.unwrap());
        assert_eq!(claim().await.map(|claim| claim.run), None);
        assert_eq!(
            rows.cancel("run", Cancel::Interrupt, None).await.unwrap(),
            Cancelled::Requested
        );
    }
}
