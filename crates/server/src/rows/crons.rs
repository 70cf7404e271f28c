//! Rows of crons.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cells::{Cell, Line};
use super::listing::{Conditions, listing};
use super::page::{Listed, by_ids};
use super::{Rows, RowsResult, find, read, sql};
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
    /// What the threads that its runs create get, so that its user sees them. Clients do not see it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(crate) thread_metadata: Value,
    /// Whose it is. Clients do not see it.
    #[serde(skip)]
    pub(crate) owner: String,
    /// When it fires next, in milliseconds.
    #[serde(skip)]
    pub(crate) due: Option<i64>,
    /// The run that it has started last.
    #[serde(skip)]
    pub(crate) run: Option<String>,
    /// Its document, as it was read.
    #[serde(skip)]
    pub(crate) before: String,
}

impl Cron {
    pub(crate) fn json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(fields) = &mut json {
            fields.retain(|name, _| !matches!(name.as_str(), "user" | "thread_metadata"));
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
        before: line.text(2).to_owned(),
        ..cron
    })
}

/// Which crons are listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CronsOf<'a> {
    pub(crate) assistant: Option<&'a str>,
    pub(crate) thread: Option<&'a str>,
}

impl Conditions for CronsOf<'_> {
    fn parameters(&self) -> [Cell; 2] {
        [self.assistant.into(), self.thread.into()]
    }
}

listing!(
    Cron by CronOrder of CronsOf:
    "served_crons WHERE (CAST($2 AS TEXT) IS NULL OR assistant = $2) \
     AND (CAST($3 AS TEXT) IS NULL OR thread = $3)",
    "owner = $1",
    {
        Created: "made",
        Updated: "changed",
        Id: "id",
        Assistant: "assistant",
        Thread: "thread",
        NextRun: "next",
        End: "ends",
    }
);

impl Listed for Cron {
    const BY_IDS: &'static str = by_ids!("owner, due, doc, run", "served_crons");

    fn read(line: &Line) -> RowsResult<Self> {
        read_cron(line)
    }

    fn id(&self) -> &str {
        &self.cron_id
    }
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

    pub(crate) async fn cron(&self, id: &str) -> RowsResult<Option<Cron>> {
        let statement = find!(
            "SELECT owner, due, doc, run FROM served_crons WHERE id = $1",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_cron(&line)).transpose()
    }

    /// Returns those whose time has come.
    pub(crate) async fn due_crons(&self) -> RowsResult<Vec<Cron>> {
        let statement = read!(
            "SELECT owner, due, doc, run FROM served_crons WHERE due <= {NOW} ORDER BY due LIMIT 100"
        );
        let lines = self.db.rows(statement).await?;
        lines.iter().map(read_cron).collect()
    }

    /// Returns when the next one fires.
    pub(crate) async fn next_cron(&self) -> RowsResult<Option<i64>> {
        let line = self
            .db
            .row(read!("SELECT min(due) FROM served_crons"))
            .await?;
        Ok(line.and_then(|line| line.some_int(0)))
    }

    /// Writes a cron and its newest run. Returns false if it has changed since it was read.
    pub(crate) async fn write_cron(&self, cron: &mut Cron) -> RowsResult<bool> {
        cron.updated_at = now();
        let statement = sql!(
            "UPDATE served_crons SET due = $2, doc = $3, run = $5 WHERE id = $1 AND doc = $4",
            &cron.cron_id,
            cron.due,
            serde_json::to_string(cron)?,
            &cron.before,
            cron.run.clone(),
        );
        Ok(self.db.change(statement).await? == 1)
    }

    pub(crate) async fn delete_cron(&self, id: &str) -> RowsResult<()> {
        let statement = sql!("DELETE FROM served_crons WHERE id = $1", id);
        self.db.change(statement).await.map(|_| ())
    }
}
