//! Where a thread was before a run.

use super::{Rows, RowsResult, sql};

/// Where a thread was before a run, as noted at its first attempt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Base {
    /// The checkpoint; empty if the thread had none.
    pub(crate) checkpoint: String,
    /// How many batches its log had; `None` if the run brings nothing that is stored without a checkpoint.
    pub(crate) version: Option<i64>,
}

impl Rows {
    /// Notes where the thread is before a run, at its first attempt; returns what is noted.
    pub(crate) async fn base(&self, run: &str, now: &Base) -> RowsResult<Base> {
        // Servers of before version 6 have noted the checkpoint alone.
        let statement = sql!(
            "UPDATE served_runs SET base = coalesce(base, $2), \
             version = CASE WHEN base IS NULL THEN $3 ELSE version END \
             WHERE id = $1 RETURNING base, version",
            run,
            &now.checkpoint,
            now.version,
        );
        let line = self.db.row(statement).await?;
        Ok(line.map_or_else(Base::default, |line| Base {
            checkpoint: line.text(0).to_owned(),
            version: line.some_int(1),
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use std::time::Duration;

    use super::*;
    use crate::queue::{After, Cancel, Cancelled, Job, RunQueue};

    #[tokio::test]
    async fn a_run_that_was_put_back_is_not_withdrawn_but_ended_by_its_next_attempt() {
        let rows = Rows::in_memory().await.unwrap();
        let claim = async || {
            let claim = rows.claim("one", Duration::from_secs(30), After::START);
            claim.await.unwrap().unwrap()
        };
        rows.push(Job::new("run", "thread", "{}")).await.unwrap();
        let first = claim().await;
        rows.base("run", &Base::default()).await.unwrap();
        assert!(rows.give_back(&first).await.unwrap());
        let cancelled = rows.cancel("run", Cancel::Rollback, None).await.unwrap();
        assert_eq!(cancelled, Cancelled::Requested);
        assert_eq!(claim().await.cancel, Some(Cancel::Rollback));

        // One that has not begun is.
        rows.push(Job::new("other", "other", "{}")).await.unwrap();
        let cancelled = rows.cancel("other", Cancel::Rollback, None).await.unwrap();
        assert_eq!(cancelled, Cancelled::Withdrawn);
    }
    #[tokio::test]
    async fn a_run_that_was_put_back_goes_on_before_another_one_begins() {
        let rows = Rows::in_memory().await.unwrap();
        let claim = async || {
            let claim = rows.claim("one", Duration::from_secs(30), After::START);
            claim.await.unwrap()
        };
        rows.push(Job::new("run", "thread", "{}")).await.unwrap();
        let first = claim().await.unwrap();
        rows.base("run", &Base::default()).await.unwrap();
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
