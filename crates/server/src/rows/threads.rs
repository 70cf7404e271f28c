//! Rows of threads.

use rusqlite::{OptionalExtension, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Rows, read_doc, write_doc};
use crate::wire::time::now;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the interface
pub(crate) struct Thread {
    pub(crate) thread_id: String,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) state_updated_at: String,
    pub(crate) metadata: Value,
    pub(crate) status: String,
    pub(crate) config: Value,
    pub(crate) values: Value,
    pub(crate) error: Value,
    pub(crate) interrupts: Value,
}

impl Thread {
    pub(crate) fn new(thread_id: String, metadata: Value) -> Self {
        let now = now();
        Self {
            thread_id,
            created_at: now.clone(),
            updated_at: now.clone(),
            state_updated_at: now,
            metadata: if metadata.is_object() {
                metadata
            } else {
                json!({})
            },
            status: "idle".to_owned(),
            config: json!({}),
            values: Value::Null,
            error: Value::Null,
            interrupts: json!({}),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Rows {
    /// Creates the row, unless it exists. Returns true if it is new.
    pub(crate) fn create_thread(&self, thread: &Thread) -> rusqlite::Result<bool> {
        let made = self.lock().execute(
            "INSERT OR IGNORE INTO server_threads (id, status, doc) VALUES (?1, ?2, ?3)",
            params![thread.thread_id, thread.status, write_doc(thread)?],
        )?;
        Ok(made == 1)
    }

    pub(crate) fn thread(&self, id: &str) -> rusqlite::Result<Option<Thread>> {
        let doc: Option<String> = self
            .lock()
            .query_row(
                "SELECT doc FROM server_threads WHERE id = ?1",
                [id],
                |row| row.get(0),
            )
            .optional()?;
        doc.map(|doc| read_doc(&doc)).transpose()
    }

    /// Changes a row in one transaction, and returns it.
    pub(crate) fn change_thread(
        &self,
        id: &str,
        change: impl FnOnce(&mut Thread),
    ) -> rusqlite::Result<Option<Thread>> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let doc: Option<String> = transaction
            .query_row(
                "SELECT doc FROM server_threads WHERE id = ?1",
                [id],
                |row| row.get(0),
            )
            .optional()?;
        let Some(doc) = doc else { return Ok(None) };
        let mut thread: Thread = read_doc(&doc)?;
        change(&mut thread);
        thread.updated_at = now();
        transaction.execute(
            "UPDATE server_threads SET status = ?2, doc = ?3 WHERE id = ?1",
            params![id, thread.status, write_doc(&thread)?],
        )?;
        transaction.commit()?;
        Ok(Some(thread))
    }

    /// Removes the thread with its runs and their events.
    pub(crate) fn delete_thread(&self, id: &str) -> rusqlite::Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        transaction.execute(
            "DELETE FROM server_events WHERE run IN (SELECT id FROM server_runs WHERE thread = ?1)",
            [id],
        )?;
        transaction.execute("DELETE FROM server_runs WHERE thread = ?1", [id])?;
        transaction.execute("DELETE FROM server_threads WHERE id = ?1", [id])?;
        transaction.commit()
    }

    /// Returns the threads that `wants` wants, among those of a status.
    pub(crate) fn threads(
        &self,
        status: Option<&str>,
        wants: impl Fn(&Thread) -> bool,
    ) -> rusqlite::Result<Vec<Thread>> {
        let connection = self.lock();
        let mut query = connection
            .prepare_cached("SELECT doc FROM server_threads WHERE ?1 IS NULL OR status = ?1")?;
        let mut rows = query.query([status])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let thread: Thread = read_doc(&row.get::<_, String>(0)?)?;
            if wants(&thread) {
                found.push(thread);
            }
        }
        Ok(found)
    }
}
