//! Rows of assistants and their versions.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Rows, read_doc, write_doc};
use crate::wire::time::now;

/// The namespace of the ids of default assistants; the same as in LangGraph's server.
const GRAPHS: Uuid = Uuid::from_u128(0x6ba7_b821_9dad_11d1_80b4_00c0_4fd4_30c8);

#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::struct_field_names)] // the names of the interface
pub(crate) struct Assistant {
    pub(crate) assistant_id: String,
    pub(crate) graph_id: String,
    pub(crate) config: Value,
    pub(crate) context: Value,
    pub(crate) metadata: Value,
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
    pub(crate) version: i64,
    /// Whose it is; empty for the default assistants, which everyone sees. Clients do not see it.
    #[serde(skip)]
    pub(crate) owner: String,
}

impl Assistant {
    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Returns the default assistant of a graph.
pub(crate) fn system_assistant(graph: &str) -> Assistant {
    let now = now();
    Assistant {
        assistant_id: Uuid::new_v5(&GRAPHS, graph.as_bytes()).to_string(),
        graph_id: graph.to_owned(),
        config: json!({}),
        context: json!({}),
        metadata: json!({"created_by": "system"}),
        name: graph.to_owned(),
        description: None,
        created_at: now.clone(),
        updated_at: now,
        version: 1,
        owner: String::new(),
    }
}

fn read_assistant((owner, doc): (String, String)) -> rusqlite::Result<Assistant> {
    let assistant: Assistant = read_doc(&doc)?;
    Ok(Assistant { owner, ..assistant })
}

impl Rows {
    /// Creates the first version, unless the assistant exists. Returns true if it is new.
    pub(crate) fn create_assistant(&self, assistant: &Assistant) -> rusqlite::Result<bool> {
        let made = self.lock().execute(
            "INSERT OR IGNORE INTO served_assistants (id, version, latest, owner, doc) \
             SELECT ?1, 1, 1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM served_assistants WHERE id = ?1)",
            params![assistant.assistant_id, assistant.owner, write_doc(assistant)?],
        )?;
        Ok(made == 1)
    }

    pub(crate) fn assistant(&self, id: &str) -> rusqlite::Result<Option<Assistant>> {
        let found: Option<(String, String)> = self
            .lock()
            .query_row(
                "SELECT owner, doc FROM served_assistants WHERE id = ?1 AND latest = 1",
                [id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        found.map(read_assistant).transpose()
    }

    pub(crate) fn assistants(&self) -> rusqlite::Result<Vec<Assistant>> {
        self.read_assistants(
            "SELECT owner, doc FROM served_assistants WHERE latest = 1 AND ?1 = ?1",
            "",
        )
    }

    /// Returns the versions of an assistant, the newest first.
    pub(crate) fn versions(&self, id: &str) -> rusqlite::Result<Vec<Assistant>> {
        self.read_assistants(
            "SELECT owner, doc FROM served_assistants WHERE id = ?1 ORDER BY version DESC",
            id,
        )
    }

    fn read_assistants(&self, sql: &str, id: &str) -> rusqlite::Result<Vec<Assistant>> {
        let connection = self.lock();
        let mut query = connection.prepare_cached(sql)?;
        let rows = query.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.map(|found| read_assistant(found?)).collect()
    }

    /// Adds a version, and makes it the latest. Its number is set here.
    pub(crate) fn add_version(&self, assistant: &mut Assistant) -> rusqlite::Result<()> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        let newest: i64 = transaction.query_row(
            "SELECT coalesce(max(version), 0) FROM served_assistants WHERE id = ?1",
            [&assistant.assistant_id],
            |row| row.get(0),
        )?;
        assistant.version = newest + 1;
        assistant.updated_at = now();
        transaction.execute(
            "UPDATE served_assistants SET latest = 0 WHERE id = ?1",
            [&assistant.assistant_id],
        )?;
        transaction.execute(
            "INSERT INTO served_assistants (id, version, latest, owner, doc) VALUES (?1, ?2, 1, ?3, ?4)",
            params![
                assistant.assistant_id,
                assistant.version,
                assistant.owner,
                write_doc(assistant)?
            ],
        )?;
        transaction.commit()
    }

    /// Makes a version the latest. Returns false if there is none of that number.
    pub(crate) fn set_latest(&self, id: &str, version: i64) -> rusqlite::Result<bool> {
        let mut connection = self.lock();
        let transaction = connection.transaction()?;
        transaction.execute(
            "UPDATE served_assistants SET latest = 0 WHERE id = ?1",
            [id],
        )?;
        let set = transaction.execute(
            "UPDATE served_assistants SET latest = 1 WHERE id = ?1 AND version = ?2",
            params![id, version],
        )?;
        if set == 1 {
            transaction.commit()?;
        }
        Ok(set == 1)
    }

    pub(crate) fn delete_assistant(&self, id: &str) -> rusqlite::Result<bool> {
        let gone = self
            .lock()
            .execute("DELETE FROM served_assistants WHERE id = ?1", [id])?;
        Ok(gone > 0)
    }
}
