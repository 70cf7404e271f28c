//! Rows of runs.

use std::path::Path;

use crate::queue::{Cancel, Held};
use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Line, Rows, RowsResult, find, read, sql};
use crate::spec::{RunSpec, Strategy};
use crate::wire::time::now;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the interface
pub(crate) struct Run {
    pub(crate) run_id: String,
    pub(crate) thread_id: String,
    pub(crate) assistant_id: String,
    pub(crate) metadata: Value,
    pub(crate) status: String,
    pub(crate) kwargs: RunSpec,
    pub(crate) multitask_strategy: Strategy,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(&*self.status, "pending" | "running")
    }
}

/// Reads `status, updated, doc`.
pub(super) fn read_run(line: &Line) -> RowsResult<Run> {
    let run: Run = serde_json::from_str(line.text(2))?;
    Ok(Run {
        status: line.text(0).to_owned(),
        updated_at: line.text(1).to_owned(),
        ..run
    })
}

/// Returns the runs in a file, which is not changed: none if it is not the file of a server.
pub(crate) fn runs_in_file(path: &Path) -> RowsResult<Vec<Run>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if !connection.table_exists(None, "served_runs")? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT doc FROM served_runs")?;
    let docs = statement.query_map([], |row| row.get(0))?;
    docs.map(|doc: rusqlite::Result<String>| Ok(serde_json::from_str(&doc?)?))
        .collect()
}

impl Rows {
    pub(crate) async fn run(&self, thread: &str, id: &str) -> RowsResult<Option<Run>> {
        let statement = find!(
            "SELECT status, updated, doc FROM served_runs WHERE id = $1 AND thread = $2",
            id,
            thread,
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_run(&line)).transpose()
    }

    /// Returns a run by its id alone.
    pub(crate) async fn run_of_id(&self, id: &str) -> RowsResult<Option<Run>> {
        let statement = find!(
            "SELECT status, updated, doc FROM served_runs WHERE id = $1",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_run(&line)).transpose()
    }

    /// Returns the newest run with which the clock has gone on with that run of the thread.
    pub(crate) async fn continued(&self, thread: &str, id: &str) -> RowsResult<Option<Run>> {
        // What only looks as if it named the run is left out below.
        let named = format!("%\"continues\":\"{id}\"%");
        let statement = read!(
            "SELECT status, updated, doc FROM served_runs WHERE thread = $1 AND doc LIKE $2 \
             ORDER BY made DESC, id DESC",
            thread,
            &named,
        );
        let lines = self.db.rows(statement).await?;
        let runs = lines.iter().map(read_run);
        let runs: Vec<Run> = runs.collect::<RowsResult<_>>()?;
        let mut runs = runs.into_iter();
        Ok(runs.find(|run| run.kwargs.continues.as_deref() == Some(id)))
    }

    /// Returns the open runs of an owner: those that wait, those that run, or all.
    pub(crate) async fn open_runs(
        &self,
        owner: Option<&str>,
        status: &str,
    ) -> RowsResult<Vec<String>> {
        let statement = read!(
            "SELECT id FROM served_runs WHERE status = 'pending' AND $2 IN ('all', 'pending') \
             AND (CAST($1 AS TEXT) IS NULL OR owner = $1) \
             UNION ALL SELECT id FROM served_runs WHERE status = 'running' \
             AND $2 IN ('all', 'running') AND (CAST($1 AS TEXT) IS NULL OR owner = $1) \
             ORDER BY id",
            owner,
            status,
        );
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(|line| line.text(0).to_owned()).collect())
    }

    /// Returns true while a claim of that number is the last one, and the run has not ended.
    pub(crate) async fn is_valid(&self, run: &str, fence: i64) -> RowsResult<bool> {
        Ok(self.held(run, fence).await?.is_some())
    }

    /// Returns what is known of a claim, as long as it is valid.
    pub(crate) async fn held(&self, run: &str, fence: i64) -> RowsResult<Option<Held>> {
        let statement = find!(
            "SELECT cancel FROM served_runs WHERE id = $1 AND fence = $2 AND status = 'running'",
            run,
            fence,
        );
        let line = self.db.row(statement).await?;
        Ok(line.map(|line| Held {
            run: run.to_owned(),
            fence,
            cancel: line.some_text(0).and_then(Cancel::parse),
        }))
    }

    pub(crate) async fn delete_run(&self, id: &str) -> RowsResult<()> {
        let statements = vec![
            sql!("DELETE FROM served_events WHERE run = $1", id),
            sql!("DELETE FROM served_runs WHERE id = $1", id),
        ];
        self.db.together(statements).await.map(|_| ())
    }

    /// Writes what a run says of itself, as its metadata.
    pub(crate) async fn change_run(&self, run: &Run) -> RowsResult<()> {
        let statement = sql!(
            "UPDATE served_runs SET doc = $2 WHERE id = $1",
            &run.run_id,
            serde_json::to_string(run)?
        );
        self.db.change(statement).await.map(|_| ())
    }

    /// Has a run that has paused its thread end as an interrupted one, with that result.
    pub(crate) async fn mark_interrupted(
        &self,
        run: &str,
        result: Option<&Value>,
    ) -> RowsResult<()> {
        let statement = sql!(
            "UPDATE served_runs SET status = 'interrupted', updated = $2, \
             result = coalesce(CAST($3 AS TEXT), result) WHERE id = $1 AND status = 'success'",
            run,
            now(),
            result.map(Value::to_string),
        );
        self.db.change(statement).await.map(|_| ())
    }

    pub(crate) async fn result(&self, run: &str) -> RowsResult<Option<Value>> {
        let statement = find!("SELECT result FROM served_runs WHERE id = $1", run);
        let line = self.db.row(statement).await?;
        let text = line.as_ref().and_then(|line| line.some_text(0));
        Ok(text.map(serde_json::from_str).transpose()?)
    }
}
