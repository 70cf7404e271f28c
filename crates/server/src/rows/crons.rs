//! Rows of crons.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page::{Found, Listed, by_ids, number};
use super::{Line, Rows, RowsResult, sql};
use crate::guard::User;
use crate::wire::time::now;

/// Runs that start by the clock.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the interface
pub(crate) struct Cron {
    pub(crate) cron_id: String,
    pub(crate) assistant_id: String,
    pub(crate) thread_id: Option<String>,
    pub(crate) user_id: String,
    pub(crate) end_time: Option<String>,
    pub(crate) schedule: String,
    pub(crate) timezone: Option<String>,
    /// The request for each run.
    pub(crate) payload: Value,
    pub(crate) next_run_date: Option<String>,
    pub(crate) metadata: Value,
    pub(crate) on_run_completed: Option<String>,
    pub(crate) enabled: bool,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    /// Who has made it, and is the user of its runs. Clients do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<User>,
    /// Whose it is. Clients do not see it.
    #[serde(skip)]
    pub(crate) owner: String,
    /// When it fires next, in milliseconds.
    #[serde(skip)]
    pub(crate) due: Option<i64>,
    /// The run that it has started last.
    #[serde(skip)]
    pub(crate) run: Option<String>,
}

impl Cron {
    pub(crate) fn json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(fields) = &mut json {
            fields.remove("user");
        }
        json
    }
}

/// Reads `owner, due, doc, run`.
fn read_cron(line: &Line) -> RowsResult<Cron> {
    let cron: Cron = serde_json::from_str(line.text(2))?;
    Ok(Cron {
        owner: line.text(0).to_owned(),
        due: line.some_int(1),
        run: line.some_text(3).map(str::to_owned),
        ..cron
    })
}

/// By what crons are sorted. All of it is in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CronOrder {
    Created,
    Updated,
    Id,
    Assistant,
    Thread,
    NextRun,
    End,
}

/// Which crons are listed, and in which order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CronListing<'a> {
    /// `None`: those of all owners.
    pub(crate) owner: Option<&'a str>,
    pub(crate) assistant: Option<&'a str>,
    pub(crate) thread: Option<&'a str>,
    pub(crate) by: CronOrder,
    pub(crate) ascending: bool,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

impl Listed for Cron {
    const BY_IDS: &'static str = by_ids!("owner, due, doc, run", "served_crons");

    fn read(line: &Line) -> RowsResult<Self> {
        read_cron(line)
    }

    fn id(&self) -> &str {
        &self.cron_id
    }
}

/// Those of an owner, or with the other condition those of all.
macro_rules! listed {
    ($what:literal, $owner:literal, $rest:expr) => {
        concat!(
            "SELECT ",
            $what,
            " FROM served_crons WHERE ",
            $owner,
            " AND (CAST($2 AS TEXT) IS NULL OR assistant = $2)",
            " AND (CAST($3 AS TEXT) IS NULL OR thread = $3)",
            $rest
        )
    };
}

/// Returns the statement of that order; the first one for an owner, the other one for all.
macro_rules! ordered {
    ($order:literal) => {
        (
            listed!(
                "id",
                "owner = $1",
                concat!(" ORDER BY ", $order, " LIMIT $4 OFFSET $5")
            ),
            listed!(
                "id",
                "CAST($1 AS TEXT) IS NULL",
                concat!(" ORDER BY ", $order, " LIMIT $4 OFFSET $5")
            ),
        )
    };
}

impl Rows {
    /// Creates the row. Returns false if its owner has as many as may be.
    pub(crate) async fn create_cron(&self, cron: &Cron, limit: u64) -> RowsResult<bool> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let statements = vec![
            // Those that are created at once are counted, too.
            sql!("SELECT {GATE_OF}", &cron.owner),
            sql!(
                "INSERT INTO served_crons (id, owner, due, doc) \
                 SELECT $1, $2, CAST($3 AS BIGINT), $4 WHERE (SELECT count(*) FROM (SELECT 1 \
                    FROM served_crons WHERE owner = $2 LIMIT CAST($5 AS BIGINT)) AS owned) \
                    < CAST($5 AS BIGINT) RETURNING id",
                &cron.cron_id,
                &cron.owner,
                cron.due,
                serde_json::to_string(cron)?,
                limit,
            ),
        ];
        let answers = self.db.together(statements).await?;
        Ok(answers.last().is_some_and(|lines| !lines.is_empty()))
    }

    /// Notes the run that a cron has started last.
    pub(crate) async fn set_cron_run(&self, id: &str, run: &str) -> RowsResult<()> {
        let statement = sql!("UPDATE served_crons SET run = $2 WHERE id = $1", id, run);
        self.db.change(statement).await.map(|_| ())
    }

    pub(crate) async fn cron(&self, id: &str) -> RowsResult<Option<Cron>> {
        let statement = sql!(
            "SELECT owner, due, doc, run FROM served_crons WHERE id = $1",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_cron(&line)).transpose()
    }

    async fn cron_ids(&self, of: CronListing<'_>) -> RowsResult<Vec<String>> {
        let (owned, all) = match (of.by, of.ascending) {
            (CronOrder::Created, true) => ordered!("made, id"),
            (CronOrder::Created, false) => ordered!("made DESC, id DESC"),
            (CronOrder::Updated, true) => ordered!("changed, id"),
            (CronOrder::Updated, false) => ordered!("changed DESC, id DESC"),
            (CronOrder::Id, true) => ordered!("id"),
            (CronOrder::Id, false) => ordered!("id DESC"),
            (CronOrder::Assistant, true) => ordered!("assistant, id"),
            (CronOrder::Assistant, false) => ordered!("assistant DESC, id DESC"),
            (CronOrder::Thread, true) => ordered!("thread, id"),
            (CronOrder::Thread, false) => ordered!("thread DESC, id DESC"),
            (CronOrder::NextRun, true) => ordered!("next, id"),
            (CronOrder::NextRun, false) => ordered!("next DESC, id DESC"),
            (CronOrder::End, true) => ordered!("ends, id"),
            (CronOrder::End, false) => ordered!("ends DESC, id DESC"),
        };
        let sql = if of.owner.is_some() { owned } else { all };
        let (limit, offset) = (number(of.limit), number(of.offset));
        let statement = sql!(sql, of.owner, of.assistant, of.thread, limit, offset);
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(|line| line.text(0).to_owned()).collect())
    }

    /// Returns how many crons a listing has, on all of its pages.
    pub(crate) async fn count_crons(&self, of: CronListing<'_>) -> RowsResult<usize> {
        let sql = match of.owner {
            Some(_) => listed!("count(*)", "owner = $1", ""),
            None => listed!("count(*)", "CAST($1 AS TEXT) IS NULL", ""),
        };
        let statement = sql!(sql, of.owner, of.assistant, of.thread);
        let count = self.db.row(statement).await?.map_or(0, |line| line.int(0));
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Returns a page of crons.
    pub(crate) async fn listed_crons(&self, of: CronListing<'_>) -> RowsResult<Found<Cron>> {
        Ok(Found {
            page: self.page(&self.cron_ids(of).await?).await?,
            total: self.count_crons(of).await?,
        })
    }

    /// Returns a page of those crons that `wants` wants.
    pub(crate) async fn wanted_crons(
        &self,
        of: CronListing<'_>,
        wants: impl Fn(&Cron) -> bool,
    ) -> RowsResult<Found<Cron>> {
        let all = CronListing {
            offset: 0,
            limit: usize::MAX,
            ..of
        };
        let ids = self.cron_ids(all).await?;
        self.wanted(&ids, (of.offset, of.limit), wants).await
    }

    /// Returns those whose time has come.
    pub(crate) async fn due_crons(&self) -> RowsResult<Vec<Cron>> {
        let statement = sql!(
            "SELECT owner, due, doc, run FROM served_crons WHERE due <= {NOW} ORDER BY due LIMIT 100"
        );
        let lines = self.db.rows(statement).await?;
        lines.iter().map(read_cron).collect()
    }

    /// Returns when the next one fires.
    pub(crate) async fn next_cron(&self) -> RowsResult<Option<i64>> {
        let line = self
            .db
            .row(sql!("SELECT min(due) FROM served_crons"))
            .await?;
        Ok(line.and_then(|line| line.some_int(0)))
    }

    /// Writes a cron, if it is still due when it was read: one process fires it. Returns false if
    /// it has changed.
    pub(crate) async fn write_cron(&self, cron: &mut Cron, was: Option<i64>) -> RowsResult<bool> {
        cron.updated_at = now();
        let statement = sql!(
            "UPDATE served_crons SET due = $2, doc = $3 \
             WHERE id = $1 AND coalesce(due, -1) = coalesce(CAST($4 AS BIGINT), -1)",
            &cron.cron_id,
            cron.due,
            serde_json::to_string(cron)?,
            was,
        );
        Ok(self.db.change(statement).await? == 1)
    }

    pub(crate) async fn delete_cron(&self, id: &str) -> RowsResult<()> {
        let statement = sql!("DELETE FROM served_crons WHERE id = $1", id);
        self.db.change(statement).await.map(|_| ())
    }

    /// Deletes the crons of a thread.
    pub(crate) async fn delete_crons_of(&self, thread: &str) -> RowsResult<()> {
        let statement = sql!("DELETE FROM served_crons WHERE thread = $1", thread);
        self.db.change(statement).await.map(|_| ())
    }
}
