//! Rows of threads.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Line, Rows, RowsResult, sql};
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
    /// It is removed after its run. Searches do not show it.
    #[serde(skip)]
    pub(crate) temporary: bool,
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
            temporary: false,
        }
    }

    /// Makes it a thread that is removed after its run.
    pub(crate) fn temporary(mut self, temporary: bool) -> Self {
        self.temporary = temporary;
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Reads `owner, temporary, doc`.
fn read_thread(line: &Line) -> RowsResult<Thread> {
    let thread: Thread = serde_json::from_str(line.text(2))?;
    Ok(Thread {
        owner: line.text(0).to_owned(),
        temporary: line.int(1) != 0,
        ..thread
    })
}

/// Whose write of a thread's row is allowed.
#[derive(Clone, Copy)]
pub(crate) enum Writer<'a> {
    Anyone,
    /// A run, as long as its claim is valid.
    Run(&'a langgraph_queue::Claim),
}

impl Rows {
    /// Creates the row, unless it exists. Returns true if it is new.
    pub(crate) async fn create_thread(&self, thread: &Thread) -> RowsResult<bool> {
        let statement = sql!(
            "INSERT INTO served_threads (id, owner, status, temporary, made, doc) \
             VALUES ($1, $2, $3, $4, {NOW}, $5) ON CONFLICT DO NOTHING",
            &thread.thread_id,
            &thread.owner,
            &thread.status,
            i64::from(thread.temporary),
            serde_json::to_string(thread)?,
        );
        Ok(self.db.change(statement).await? == 1)
    }

    pub(crate) async fn thread(&self, id: &str) -> RowsResult<Option<Thread>> {
        let statement = sql!(
            "SELECT owner, temporary, doc FROM served_threads WHERE id = $1",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| read_thread(&line)).transpose()
    }

    /// Changes a row, and returns it. The change may be made several times, if others change it
    /// meanwhile.
    pub(crate) async fn change_thread(
        &self,
        id: &str,
        change: impl Fn(&mut Thread),
    ) -> RowsResult<Option<Thread>> {
        self.change_thread_as(Writer::Anyone, id, change).await
    }

    /// As [`change_thread`](Self::change_thread). Returns `None` also if the writer may not.
    pub(crate) async fn change_thread_as(
        &self,
        writer: Writer<'_>,
        id: &str,
        change: impl Fn(&mut Thread),
    ) -> RowsResult<Option<Thread>> {
        let (run, fence) = match writer {
            Writer::Anyone => (String::new(), 0),
            Writer::Run(claim) => (claim.run.clone(), claim.fence),
        };
        loop {
            let statement = sql!(
                "SELECT owner, temporary, doc FROM served_threads WHERE id = $1",
                id
            );
            let Some(line) = self.db.row(statement).await? else {
                return Ok(None);
            };
            let mut thread = read_thread(&line)?;
            change(&mut thread);
            thread.updated_at = now();
            let statement = sql!(
                "UPDATE served_threads SET status = $3, doc = $4 WHERE id = $1 AND doc = $2 \
                 AND ($5 = '' OR EXISTS (SELECT 1 FROM served_runs WHERE id = $5 AND fence = $6 \
                 AND status = 'running'))",
                id,
                line.text(2),
                &thread.status,
                serde_json::to_string(&thread)?,
                &run,
                fence,
            );
            if self.db.change(statement).await? == 1 {
                return Ok(Some(thread));
            }
            if !run.is_empty() && !self.is_valid(&run, fence).await? {
                return Ok(None);
            }
        }
    }

    /// Removes the thread with its runs, their events, and its crons.
    pub(crate) async fn delete_thread(&self, id: &str) -> RowsResult<()> {
        let statements = vec![
            sql!(
                "DELETE FROM served_events WHERE run IN \
                 (SELECT id FROM served_runs WHERE thread = $1)",
                id
            ),
            sql!("DELETE FROM served_runs WHERE thread = $1", id),
            sql!("DELETE FROM served_numbers WHERE thread = $1", id),
            sql!("DELETE FROM served_threads WHERE id = $1", id),
        ];
        self.db.together(statements).await.map(|_| ())
    }

    /// Returns how many threads an owner has.
    pub(crate) async fn threads_of(&self, owner: &str) -> RowsResult<u64> {
        let statement = sql!(
            "SELECT count(*) FROM served_threads WHERE owner = $1 AND temporary = 0",
            owner
        );
        let line = self.db.row(statement).await?;
        Ok(line.map_or(0, |line| line.int(0).unsigned_abs()))
    }

    /// Returns the threads that `wants` wants, among those of an owner and of a status.
    pub(crate) async fn threads(
        &self,
        owner: Option<&str>,
        status: Option<&str>,
        wants: impl Fn(&Thread) -> bool,
    ) -> RowsResult<Vec<Thread>> {
        let statement = sql!(
            "SELECT owner, temporary, doc FROM served_threads WHERE temporary = 0 \
             AND (CAST($1 AS TEXT) IS NULL OR owner = $1) \
             AND (CAST($2 AS TEXT) IS NULL OR status = $2)",
            owner,
            status,
        );
        let mut found = Vec::new();
        for line in self.db.rows(statement).await? {
            let thread = read_thread(&line)?;
            if wants(&thread) {
                found.push(thread);
            }
        }
        Ok(found)
    }

    /// Returns the threads without a run that were left behind: made before that time, and to be
    /// removed.
    pub(crate) async fn left_behind(&self, seconds: i64) -> RowsResult<Vec<Thread>> {
        let statement = sql!(
            "SELECT owner, temporary, doc FROM served_threads WHERE temporary = 1 \
             AND made < {NOW} - $1 * 1000 AND NOT EXISTS (SELECT 1 FROM served_runs \
             WHERE thread = served_threads.id AND status IN ('pending', 'running'))",
            seconds
        );
        let lines = self.db.rows(statement).await?;
        lines.iter().map(read_thread).collect()
    }
}
