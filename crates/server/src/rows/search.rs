//! Searches for threads and runs: they read the rows of the page that they return, and others only if
//! a condition needs their documents.

use super::page::{Found, Listed, PAGE, by_ids, number};
use super::runs::read_run;
use super::threads::read_thread;
use super::{Line, Rows, RowsResult, Run, Thread, sql};

/// By what threads are sorted. All of it is in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortBy {
    Created,
    Updated,
    Id,
    Status,
}

/// Which threads are listed, and in which order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadListing<'a> {
    /// `None`: those of all owners.
    pub(crate) owner: Option<&'a str>,
    pub(crate) status: Option<&'a str>,
    pub(crate) by: SortBy,
    pub(crate) ascending: bool,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

impl<'a> ThreadListing<'a> {
    /// All threads of an owner.
    pub(crate) fn all(owner: Option<&'a str>) -> Self {
        Self {
            owner,
            status: None,
            by: SortBy::Created,
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

macro_rules! listed {
    ($owner:literal, $order:literal) => {
        concat!(
            "SELECT id FROM served_threads WHERE temporary = 0 AND ",
            $owner,
            " AND (CAST($2 AS TEXT) IS NULL OR status = $2) ORDER BY ",
            $order,
            " LIMIT $3 OFFSET $4"
        )
    };
}

/// Returns the statement of that order; the first one for an owner, the other one for all.
macro_rules! ordered {
    ($order:literal) => {
        (
            listed!("owner = $1", $order),
            listed!("CAST($1 AS TEXT) IS NULL", $order),
        )
    };
}

impl Rows {
    async fn listed_ids(&self, of: ThreadListing<'_>) -> RowsResult<Vec<String>> {
        let (owned, all) = match (of.by, of.ascending) {
            (SortBy::Created, true) => ordered!("made, id"),
            (SortBy::Created, false) => ordered!("made DESC, id DESC"),
            (SortBy::Updated, true) => ordered!("changed, id"),
            (SortBy::Updated, false) => ordered!("changed DESC, id DESC"),
            (SortBy::Id, true) => ordered!("id"),
            (SortBy::Id, false) => ordered!("id DESC"),
            (SortBy::Status, true) => ordered!("status, id"),
            (SortBy::Status, false) => ordered!("status DESC, id DESC"),
        };
        let sql = if of.owner.is_some() { owned } else { all };
        let (limit, offset) = (number(of.limit), number(of.offset));
        let statement = sql!(sql, of.owner, of.status, limit, offset);
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(|line| line.text(0).to_owned()).collect())
    }

    /// Returns how many threads an owner has, of a status.
    pub(crate) async fn count_threads(
        &self,
        owner: Option<&str>,
        status: Option<&str>,
    ) -> RowsResult<usize> {
        let sql = match owner {
            Some(_) => {
                "SELECT count(*) FROM served_threads WHERE temporary = 0 AND owner = $1 \
                 AND (CAST($2 AS TEXT) IS NULL OR status = $2)"
            }
            None => {
                "SELECT count(*) FROM served_threads WHERE temporary = 0 \
                 AND CAST($1 AS TEXT) IS NULL AND (CAST($2 AS TEXT) IS NULL OR status = $2)"
            }
        };
        let line = self.db.row(sql!(sql, owner, status)).await?;
        let count = line.map_or(0, |line| line.int(0));
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Returns a page of threads.
    pub(crate) async fn listed_threads(&self, of: ThreadListing<'_>) -> RowsResult<Found<Thread>> {
        let page = self.page(&self.listed_ids(of).await?).await?;
        let total = self.count_threads(of.owner, of.status).await?;
        Ok(Found { page, total })
    }

    /// Returns a page of those threads that `wants` wants: of these ids, or of all.
    pub(crate) async fn wanted_threads(
        &self,
        of: ThreadListing<'_>,
        ids: Option<&[String]>,
        wants: impl Fn(&Thread) -> bool,
    ) -> RowsResult<Found<Thread>> {
        let all = ThreadListing {
            offset: 0,
            limit: usize::MAX,
            ..of
        };
        let mut listed = self.listed_ids(all).await?;
        if let Some(ids) = ids {
            listed.retain(|id| ids.contains(id));
        }
        self.wanted(&listed, (of.offset, of.limit), wants).await
    }

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
            let statement = sql!(
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
            let count = sql!(
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
