//! Searches for threads and runs: they read the rows of the page that they return, and others only if
//! a condition needs their documents.

use super::cells::{Cell, Line};
use super::listing::{Conditions, Listing, listing};
use super::page::{Found, Listed, PAGE, by_ids, number};
use super::runs::read_run;
use super::threads::read_thread;
use super::{Rows, RowsResult, Run, Thread, read};

/// Which threads are listed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadsOf<'a> {
    pub(crate) status: Option<&'a str>,
}

impl Conditions for ThreadsOf<'_> {
    fn parameters(&self) -> [Cell; 2] {
        [self.status.into(), Cell::Null]
    }
}

listing!(
    Thread by ThreadOrder of ThreadsOf:
    "served_threads WHERE temporary = 0 AND (CAST($2 AS TEXT) IS NULL OR status = $2) \
     AND CAST($3 AS TEXT) IS NULL",
    "owner = $1",
    {
        Created: "made",
        Updated: "changed",
        StateUpdated: "coalesce(state_changed, changed)",
        Id: "id",
        Status: "status",
    }
);

impl<'a> Listing<'a, Thread> {
    /// All threads of an owner.
    pub(crate) fn all(owner: Option<&'a str>) -> Self {
        Self {
            owner,
            of: ThreadsOf::default(),
            by: ThreadOrder::Created,
            ascending: true,
            offset: 0,
            limit: usize::MAX,
        }
    }
}

impl Listed for Thread {
    const BY_IDS: &'static str = by_ids!("owner, temporary, doc", "served_threads");

    fn read(line: &Line) -> RowsResult<Self> {
        read_thread(line)
    }

    fn id(&self) -> &str {
        &self.thread_id
    }
}

impl Rows {
    /// Returns a page of the runs of a thread that `wants` wants, the newest first. Without it, no
    /// other row is read.
    pub(crate) async fn listed_runs(
        &self,
        thread: &str,
        status: Option<&str>,
        (offset, limit): (usize, usize),
        wants: Option<&(dyn Fn(&Run) -> bool + Sync)>,
    ) -> RowsResult<Found<Run>> {
        let read = async |offset: usize, limit: usize| {
            let statement = read!(
                "SELECT status, updated, doc FROM served_runs WHERE thread = $1 \
                 AND (CAST($2 AS TEXT) IS NULL OR status = $2) \
                 ORDER BY made DESC, id DESC LIMIT $3 OFFSET $4",
                thread,
                status,
                number(limit),
                number(offset),
            );
            let lines = self.db.rows(statement).await?;
            lines.iter().map(read_run).collect::<RowsResult<Vec<Run>>>()
        };
        let Some(wants) = wants else {
            let count = read!(
                "SELECT count(*) FROM served_runs WHERE thread = $1 \
                 AND (CAST($2 AS TEXT) IS NULL OR status = $2)",
                thread,
                status,
            );
            let count = self.db.row(count).await?.map_or(0, |line| line.int(0));
            return Ok(Found {
                page: read(offset, limit).await?,
                total: usize::try_from(count).unwrap_or_default(),
            });
        };
        let enough = offset.saturating_add(limit);
        let (mut page, mut total, mut at) = (Vec::new(), 0, 0);
        loop {
            let runs = read(at, PAGE).await?;
            let is_last = runs.len() < PAGE;
            at += runs.len();
            for run in runs {
                if !wants(&run) {
                    continue;
                }
                total += 1;
                if total > offset && total <= enough {
                    page.push(run);
                }
            }
            if is_last || total > enough {
                return Ok(Found { page, total });
            }
            tokio::task::yield_now().await;
        }
    }
}
