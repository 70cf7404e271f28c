//! Rows of runs.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Rows, read_doc, write_doc};
use crate::wire::time::now;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the interface
pub(crate) struct Run {
    pub(crate) run_id: String,
    pub(crate) thread_id: String,
    pub(crate) assistant_id: String,
    pub(crate) metadata: Value,
    pub(crate) status: String,
    pub(crate) kwargs: Value,
    pub(crate) multitask_strategy: String,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

impl Run {
    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Rows {
    pub(crate) fn create_run(&self, run: &Run) -> rusqlite::Result<()> {
        self.lock().execute(
            "INSERT INTO served_runs (id, thread, status, doc) VALUES (?1, ?2, ?3, ?4)",
            params![run.run_id, run.thread_id, run.status, write_doc(run)?],
        )?;
        Ok(())
    }

    pub(crate) fn run(&self, thread: &str, id: &str) -> rusqlite::Result<Option<Run>> {
        let doc: Option<String> = self
            .lock()
            .query_row(
                "SELECT doc FROM served_runs WHERE id = ?1 AND thread = ?2",
                [id, thread],
                |row| row.get(0),
            )
            .optional()?;
        doc.map(|doc| read_doc(&doc)).transpose()
    }

    /// Returns the runs of a thread, the newest first.
    pub(crate) fn runs(&self, thread: &str) -> rusqlite::Result<Vec<Run>> {
        let connection = self.lock();
        let mut query = connection
            .prepare_cached("SELECT doc FROM served_runs WHERE thread = ?1 ORDER BY id DESC")?;
        let rows = query.query_map([thread], |row| row.get::<_, String>(0))?;
        rows.map(|doc| read_doc(&doc?)).collect()
    }

    pub(crate) fn set_run_status(&self, id: &str, status: &str) -> rusqlite::Result<()> {
        self.lock().execute(
            "UPDATE served_runs SET status = ?2, \
             doc = json_set(doc, '$.status', ?2, '$.updated_at', ?3) WHERE id = ?1",
            params![id, status, now()],
        )?;
        Ok(())
    }

    pub(crate) fn delete_run(&self, id: &str) -> rusqlite::Result<()> {
        let connection = self.lock();
        connection.execute("DELETE FROM served_events WHERE run = ?1", [id])?;
        connection.execute("DELETE FROM served_runs WHERE id = ?1", [id])?;
        Ok(())
    }

    /// Runs of a process that has ended do not go on: they and their threads get an error.
    pub(crate) fn fail_unfinished_runs(&self) -> rusqlite::Result<()> {
        self.lock().execute_batch(
            "UPDATE served_runs SET status = 'error', doc = json_set(doc, '$.status', 'error') \
             WHERE status IN ('pending', 'running'); \
             UPDATE served_threads SET status = 'error', doc = json_set(doc, '$.status', 'error', \
             '$.error', json('{\"error\":\"ServerStopped\",\"message\":\"the server stopped during a run\"}')) \
             WHERE status = 'busy';",
        )
    }
}
