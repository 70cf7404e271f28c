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
    /// Whose it is. Clients do not see it.
    #[serde(skip)]
    pub(crate) owner: String,
}

impl Thread {
    pub(crate) fn new(thread_id: String, owner: &str, metadata: Value) -> Self {
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
            owner: owner.to_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn read_thread((owner, doc): (String, String)) -> rusqlite::Result<Thread> {
    let thread: Thread = read_doc(&doc)?;
    Ok(Thread { owner, ..thread })
}

impl Rows {
    /// Creates the row, unless it exists. Returns true if it is new.
    pub(crate) fn create_thread(&self, thread: &Thread) -> rusqlite::Result<bool> {
        let made = self.lock().execute(
            "INSERT OR IGNORE INTO served_threads (id, owner, status, doc) VALUES (?1, ?2, ?3, ?4)",
            params![
                thread.thread_id,
                thread.owner,
                thread.status,
                write_doc(thread)?
            ],
        )?;
        Ok(made == 1)
    }

    pub(crate) fn thread(&self, id: &str) -> rusqlite::Result<Option<Thread>> {
        let found: Option<(String, String)> = self
            .lock()
            .query_row(
                "SELECT owner, doc FROM served_threads WHERE id = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        found.map(read_thread).transpose()
    }

    /// Changes a row in one transaction, and returns it.
    pub(crate) fn change_thread(
        &self,
        id: &str,
        change: impl FnOnce(&mut Thread),
    ) -> rusqlite::Result<Option<Thread>> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found: Option<(String, String)> = transaction
            .query_row(
                "SELECT owner, doc FROM served_threads WHERE id = ?1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some(found) = found else { return Ok(None) };
        let mut thread = read_thread(found)?;
        change(&mut thread);
        thread.updated_at = now();
        transaction.execute(
            "UPDATE served_threads SET status = ?2, doc = ?3 WHERE id = ?1",
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
            "DELETE FROM served_events WHERE run IN (SELECT id FROM served_runs WHERE thread = ?1)",
            [id],
        )?;
        transaction.execute("DELETE FROM served_runs WHERE thread = ?1", [id])?;
        transaction.execute("DELETE FROM served_threads WHERE id = ?1", [id])?;
        transaction.commit()
    }

    /// Returns how many threads an owner has.
    pub(crate) fn threads_of(&self, owner: &str) -> rusqlite::Result<u64> {
        let sql = "SELECT count(*) FROM served_threads WHERE owner = ?1";
        let count: i64 = self.lock().query_row(sql, [owner], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Returns the threads that `wants` wants, among those of an owner and of a status.
    pub(crate) fn threads(
        &self,
        owner: Option<&str>,
        status: Option<&str>,
        wants: impl Fn(&Thread) -> bool,
    ) -> rusqlite::Result<Vec<Thread>> {
        let connection = self.lock();
        let mut query = connection.prepare_cached(
            "SELECT owner, doc FROM served_threads \
             WHERE (?1 IS NULL OR owner = ?1) AND (?2 IS NULL OR status = ?2)",
        )?;
        let mut rows = query.query([owner, status])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let thread = read_thread((row.get(0)?, row.get(1)?))?;
            if wants(&thread) {
                found.push(thread);
            }
        }
        Ok(found)
    }
}
