//! Rows of assistants and their versions.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::cells::{Cell, Line};
use super::listing::{Conditions, listing};
use super::page::{Listed, by_ids, list};
use super::{Rows, RowsResult, find, read, sql};
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
    /// Returns true for the assistant that a graph has by itself.
    pub(crate) fn is_default(&self) -> bool {
        self.assistant_id == Uuid::new_v5(&GRAPHS, self.graph_id.as_bytes()).to_string()
    }

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

fn read_assistant(line: &Line) -> RowsResult<Assistant> {
    let assistant: Assistant = serde_json::from_str(line.text(1))?;
    let owner = line.text(0).to_owned();
    Ok(Assistant { owner, ..assistant })
}

/// Which assistants are listed, besides the default ones of all graphs of theirs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AssistantsOf<'a> {
    /// The names of their graphs.
    pub(crate) graphs: &'a [&'a str],
}

impl Conditions for AssistantsOf<'_> {
    fn parameters(&self) -> [Cell; 2] {
        [Cell::Null, list(self.graphs.iter().copied()).into()]
    }
}

listing!(
    Assistant by AssistantOrder of AssistantsOf:
    "served_assistants WHERE latest = 1 AND CAST($2 AS TEXT) IS NULL AND graph IN (SELECT e ->> 'i' FROM {EACH})",
    "owner IN ($1, '')",
    { Created: "made", Updated: "changed", Id: "id", Name: "name", Graph: "graph" }
);

impl Listed for Assistant {
    const BY_IDS: &'static str = concat!(
        by_ids!("owner, doc", "served_assistants"),
        " AND latest = 1"
    );

    fn read(line: &Line) -> RowsResult<Self> {
        read_assistant(line)
    }

    fn id(&self) -> &str {
        &self.assistant_id
    }
}

impl Rows {
    /// Creates the first version, unless the assistant exists. Returns true if it is new.
    pub(crate) async fn create_assistant(&self, assistant: &Assistant) -> RowsResult<bool> {
        let statement = sql!(
            "INSERT INTO served_assistants (id, version, latest, owner, doc) \
             SELECT $1, 1, 1, $2, $3 \
             WHERE NOT EXISTS (SELECT 1 FROM served_assistants WHERE id = $1) \
             ON CONFLICT DO NOTHING",
            &assistant.assistant_id,
            &assistant.owner,
            serde_json::to_string(assistant)?,
        );
        Ok(self.db.change(statement).await? == 1)
    }

    /// Creates the default assistant of a graph. Its id is known before the graph is: what a client
    /// has put there goes.
    pub(crate) async fn create_default_assistant(&self, graph: &str) -> RowsResult<()> {
        let default = system_assistant(graph);
        let id = &default.assistant_id;
        let found = self.assistant(id).await?;
        let is_default =
            |known: &Assistant| known.owner.is_empty() && known.graph_id == default.graph_id;
        if found.as_ref().is_some_and(is_default) {
            return Ok(());
        }
        if found.is_some() {
            tracing::warn!(graph, "an assistant had the id of a graph's default one");
            self.delete_assistant(id).await?;
        }
        self.create_assistant(&default).await?;
        Ok(())
    }

    pub(crate) async fn assistant(&self, id: &str) -> RowsResult<Option<Assistant>> {
        let statement = find!(
            "SELECT owner, doc FROM served_assistants WHERE id = $1 AND latest = 1",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_assistant(&line)).transpose()
    }

    /// Returns the versions of an assistant, the newest first.
    pub(crate) async fn versions(&self, id: &str) -> RowsResult<Vec<Assistant>> {
        let statement = read!(
            "SELECT owner, doc FROM served_assistants WHERE id = $1 ORDER BY version DESC",
            id
        );
        let lines = self.db.rows(statement).await?;
        lines.iter().map(read_assistant).collect()
    }

    /// Adds a version that changes the latest one, and makes it the latest. Its number is set here. Returns false, and
    /// does nothing, if another version is the latest meanwhile.
    pub(crate) async fn add_version(&self, assistant: &mut Assistant) -> RowsResult<bool> {
        let statement = read!(
            "SELECT coalesce(max(version), 0) FROM served_assistants WHERE id = $1",
            &assistant.assistant_id
        );
        let newest = self.db.row(statement).await?.map_or(0, |line| line.int(0));
        let changed = std::mem::replace(&mut assistant.version, newest + 1);
        assistant.updated_at = now();
        let id = &assistant.assistant_id;
        let statements = vec![
            sql!("SELECT {GATE_OF}", id),
            sql!(
                "INSERT INTO served_assistants (id, version, latest, owner, doc) \
                 SELECT $1, $2, 1, $3, $4 WHERE EXISTS (SELECT 1 FROM served_assistants \
                    WHERE id = $1 AND version = $5 AND latest = 1) \
                 ON CONFLICT DO NOTHING RETURNING id",
                id,
                assistant.version,
                &assistant.owner,
                serde_json::to_string(assistant)?,
                changed,
            ),
            sql!(
                "UPDATE served_assistants SET latest = 0 WHERE id = $1 AND version = $2 \
                 AND EXISTS (SELECT 1 FROM served_assistants WHERE id = $1 AND version = $3 \
                    AND latest = 1)",
                id,
                changed,
                assistant.version,
            ),
        ];
        let answers = self.db.together(statements).await?;
        Ok(answers.get(1).is_some_and(|lines| !lines.is_empty()))
    }

    /// Makes a version the latest. Returns false if there is none of that number.
    pub(crate) async fn set_latest(&self, id: &str, version: i64) -> RowsResult<bool> {
        let statements = vec![
            sql!("SELECT {GATE_OF}", id),
            sql!(
                "UPDATE served_assistants SET latest = CASE WHEN version = $2 THEN 1 ELSE 0 END \
                 WHERE id = $1 AND EXISTS \
                 (SELECT 1 FROM served_assistants WHERE id = $1 AND version = $2) RETURNING id",
                id,
                version,
            ),
        ];
        let answers = self.db.together(statements).await?;
        Ok(answers.last().is_some_and(|lines| !lines.is_empty()))
    }

    /// Deletes an assistant with its versions and its crons, which could start no run without it.
    pub(crate) async fn delete_assistant(&self, id: &str) -> RowsResult<()> {
        let statements = vec![
            sql!("SELECT {GATE_OF}", id),
            sql!("DELETE FROM served_crons WHERE assistant = $1", id),
            sql!("DELETE FROM served_assistants WHERE id = $1", id),
        ];
        self.db.together(statements).await.map(|_| ())
    }
}
