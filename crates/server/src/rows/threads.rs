//! Rows of threads.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::statement::Statement;
use super::{Line, QueuedRun, Rows, RowsResult, Ttl, find, read, sql};
use crate::queue::{Claim, Job};
use crate::wire::time::{iso, now};

/// How long a process has to do what the clock wants, before another one tries, in milliseconds.
pub(super) const TURN: i64 = 60_000;

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ttl: Option<Ttl>,
    /// When its first wait is due, in milliseconds. Clients do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wakes: Option<i64>,
    /// The run that has paused there with a wait: another one goes on as it. Clients do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) paused: Option<Box<QueuedRun>>,
    /// The run that has left its state as it is; empty if none has. Clients do not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_by: Option<String>,
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
            ttl: None,
            wakes: None,
            paused: None,
            left_by: None,
            owner: owner.to_owned(),
            temporary: false,
        }
    }

    /// Makes it a thread that is removed after its run.
    pub(crate) fn temporary(mut self, temporary: bool) -> Self {
        self.temporary = temporary;
        self
    }

    /// Notes that a run has begun.
    pub(crate) fn begin(&mut self) {
        "busy".clone_into(&mut self.status);
        self.error = Value::Null;
    }

    /// Returns the thread as clients see it.
    pub(crate) fn json(&self) -> Value {
        let mut json = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(fields) = &mut json {
            let hidden = ["ttl", "wakes", "paused", "left_by"];
            fields.retain(|name, _| !hidden.contains(&name.as_str()));
        }
        json
    }

    /// Returns its time to live as clients see it.
    pub(crate) fn ttl_json(&self) -> Value {
        self.ttl.map_or(Value::Null, |ttl| {
            let changed = chrono::DateTime::parse_from_rfc3339(&self.updated_at).ok();
            let expires =
                changed.and_then(|changed| SystemTime::from(changed).checked_add(ttl.time()?));
            json!({
                "strategy": ttl.strategy, "ttl_minutes": ttl.ttl, "expires_at": expires.map(iso),
            })
        })
    }

    fn expires_in(&self) -> Option<i64> {
        self.ttl.and_then(Ttl::milliseconds)
    }

    /// Returns when its state has changed, in milliseconds since 1970.
    fn state_changed(&self) -> Option<i64> {
        let changed = chrono::DateTime::parse_from_rfc3339(&self.state_updated_at);
        Some(changed.ok()?.timestamp_millis())
    }
}

/// Reads `owner, temporary, doc`.
pub(super) fn read_thread(line: &Line) -> RowsResult<Thread> {
    let thread: Thread = serde_json::from_str(line.text(2))?;
    Ok(Thread {
        owner: line.text(0).to_owned(),
        temporary: line.int(1) != 0,
        ..thread
    })
}

/// Returns the statement that creates a row, unless it exists, or its owner has as many as may be.
pub(super) fn created(thread: &Thread, limit: Option<u64>) -> RowsResult<Statement> {
    let limit = limit.filter(|_| !thread.temporary);
    Ok(sql!(
        "INSERT INTO served_threads (id, owner, status, temporary, made, doc, expires, changed, \
            state_changed) \
         SELECT $1, $2, $3, CAST($4 AS BIGINT), {NOW}, $5, {NOW} + CAST($6 AS BIGINT), {NOW}, \
            CAST($8 AS BIGINT) \
         WHERE CAST($7 AS BIGINT) IS NULL OR (SELECT count(*) FROM (SELECT 1 \
            FROM served_threads WHERE temporary = 0 AND owner = $2 \
            LIMIT CAST($7 AS BIGINT)) AS owned) < CAST($7 AS BIGINT) \
         ON CONFLICT DO NOTHING RETURNING id",
        &thread.thread_id,
        &thread.owner,
        &thread.status,
        i64::from(thread.temporary),
        serde_json::to_string(thread)?,
        thread.expires_in(),
        limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX)),
        thread.state_changed(),
    ))
}

/// A row with a change that is not written yet.
#[derive(Debug)]
pub(crate) struct ChangedThread {
    pub(crate) thread: Thread,
    /// Its document before the change.
    pub(super) before: String,
    /// Its document with the change.
    pub(super) doc: String,
}

impl ChangedThread {
    /// Changes a row whose document is `before`.
    pub(super) fn of(
        mut thread: Thread,
        before: String,
        change: impl Fn(&mut Thread),
    ) -> RowsResult<Self> {
        change(&mut thread);
        thread.updated_at = now();
        Ok(Self {
            doc: serde_json::to_string(&thread)?,
            thread,
            before,
        })
    }

    /// Returns true if that was the document of the row before the change.
    pub(crate) fn is_of(&self, doc: &str) -> bool {
        self.before == doc
    }

    /// Returns the statement that writes the row, unless it has changed since, or it is not the time.
    pub(super) fn written(&self, when: When<'_>) -> Statement {
        let (run, fence, status, payload) = match when {
            When::Always => ("", 0, "", None),
            When::Claimed(claim) => (claim.run.as_str(), claim.fence, "running", None),
            When::Queued(job) => (job.run.as_str(), 0, "pending", Some(job.payload.as_str())),
        };
        sql!(
            "UPDATE served_threads SET status = $3, doc = $4, wakes = CAST($7 AS BIGINT), \
             expires = {NOW} + CAST($8 AS BIGINT), changed = {NOW}, state_changed = CAST($9 AS BIGINT) \
             WHERE id = $1 AND doc = $2 \
             AND temporary < 2 \
             AND ($5 = '' OR EXISTS (SELECT 1 FROM served_runs WHERE id = $5 AND fence = $6 \
             AND status = $10 AND (CAST($11 AS TEXT) IS NULL OR doc = $11))) RETURNING id",
            &self.thread.thread_id,
            &self.before,
            &self.thread.status,
            &self.doc,
            run,
            fence,
            self.thread.wakes,
            self.thread.expires_in(),
            self.thread.state_changed(),
            status,
            payload,
        )
    }
}

/// When a change of a row is written.
#[derive(Clone, Copy)]
pub(super) enum When<'a> {
    Always,
    /// The claim of the run that writes it is valid.
    Claimed(&'a Claim),
    /// The job for which it is written was put in the queue.
    Queued(&'a Job),
}

/// What became of a row that was to be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Creation {
    Created,
    Exists,
    /// Its owner has as many as may be.
    TooMany,
}

impl Rows {
    /// Creates the row, unless it exists, or its owner has as many as may be.
    pub(crate) async fn create_thread(
        &self,
        thread: &Thread,
        limit: Option<u64>,
    ) -> RowsResult<Creation> {
        let mut statements = Vec::new();
        if limit.is_some() {
            // Those that are created at once are counted, too.
            statements.push(sql!("SELECT {GATE_OF}", &thread.owner));
        }
        let at = statements.len();
        statements.push(created(thread, limit)?);
        statements.push(read!(
            "SELECT id FROM served_threads WHERE id = $1",
            &thread.thread_id
        ));
        let answers = self.db.together(statements).await?;
        let has_row = |index: usize| answers.get(index).is_some_and(|lines| !lines.is_empty());
        Ok(match (has_row(at), has_row(at + 1)) {
            (true, _) => Creation::Created,
            (false, true) => Creation::Exists,
            (false, false) => Creation::TooMany,
        })
    }

    pub(crate) async fn thread(&self, id: &str) -> RowsResult<Option<Thread>> {
        Ok(self.thread_and_doc(id).await?.map(|(thread, _)| thread))
    }

    /// Returns a row with its document, which is another one after each change.
    pub(crate) async fn thread_and_doc(&self, id: &str) -> RowsResult<Option<(Thread, String)>> {
        let statement = find!(
            "SELECT owner, temporary, doc FROM served_threads WHERE id = $1 AND temporary < 2",
            id
        );
        let line = self.db.row(statement).await?;
        line.map(|line| Ok((read_thread(&line)?, line.text(2).to_owned())))
            .transpose()
    }

    /// Changes a row, and returns it. The change may be made several times, if others change it
    /// meanwhile.
    pub(crate) async fn change_thread(
        &self,
        id: &str,
        change: impl Fn(&mut Thread),
    ) -> RowsResult<Option<Thread>> {
        loop {
            let Some(changed) = self.thread_changed(id, &change).await? else {
                return Ok(None);
            };
            if self.db.change(changed.written(When::Always)).await? == 1 {
                return Ok(Some(changed.thread));
            }
        }
    }

    /// Returns a row with a change that is not written yet.
    pub(crate) async fn thread_changed(
        &self,
        id: &str,
        change: impl Fn(&mut Thread),
    ) -> RowsResult<Option<ChangedThread>> {
        let row = self.thread_and_doc(id).await?;
        row.map(|(thread, doc)| ChangedThread::of(thread, doc, change))
            .transpose()
    }

    /// Returns the threads with a wait that is due and no run, and leaves them to this process for
    /// a minute.
    pub(crate) async fn due_threads(&self) -> RowsResult<Vec<Thread>> {
        let statement = sql!(
            "UPDATE served_threads SET wakes = {NOW} + $1 WHERE id IN ( \
                SELECT t.id FROM served_threads AS t WHERE t.wakes <= {NOW} AND NOT EXISTS ( \
                    SELECT 1 FROM served_runs AS r WHERE r.thread = t.id AND (r.status = 'running' \
                    OR (r.status = 'pending' AND (r.due <= {NOW} OR r.fence > 0)))) \
                ORDER BY t.wakes LIMIT 100 {SKIP}) \
             RETURNING owner, temporary, doc",
            TURN,
        );
        let lines = self.db.rows(statement).await?;
        lines.iter().map(read_thread).collect()
    }

    /// Returns the threads whose time is over and which have no run, and leaves them to this
    /// process for a minute; each with a mark, which changes with the thread.
    pub(crate) async fn expired_threads(&self) -> RowsResult<Vec<(Thread, i64)>> {
        let statement = sql!(
            "UPDATE served_threads SET expires = {NOW} + $1 WHERE id IN ( \
                SELECT t.id FROM served_threads AS t WHERE t.expires <= {NOW} AND NOT EXISTS ( \
                    SELECT 1 FROM served_runs AS r WHERE r.thread = t.id \
                    AND r.status IN ('pending', 'running')) \
                ORDER BY t.expires LIMIT 100 {SKIP}) \
             RETURNING owner, temporary, doc, expires",
            TURN,
        );
        let lines = self.db.rows(statement).await?;
        let found = lines.iter();
        let found = found.map(|line| Ok((read_thread(line)?, line.int(3))));
        found.collect()
    }

    /// Returns true if a thread that was found expired with that mark has not changed since.
    pub(crate) async fn is_expired(&self, id: &str, mark: i64) -> RowsResult<bool> {
        let statement = find!(
            "SELECT id FROM served_threads WHERE id = $1 AND expires = $2 AND temporary < 2",
            id,
            mark,
        );
        Ok(self.db.row(statement).await?.is_some())
    }

    /// Notes that an expired thread was pruned, unless it has changed since.
    pub(crate) async fn lives_on(&self, id: &str, mark: i64) -> RowsResult<()> {
        let statement = sql!(
            "UPDATE served_threads SET expires = NULL WHERE id = $1 AND expires = $2",
            id,
            mark,
        );
        self.db.change(statement).await.map(|_| ())
    }

    /// Returns the temporary threads without a run that are older than that: their process was lost
    /// before it removed them.
    pub(crate) async fn orphans(&self, seconds: i64) -> RowsResult<Vec<Thread>> {
        let statement = read!(
            "SELECT owner, temporary, doc FROM served_threads WHERE temporary = 1 \
             AND made < {NOW} - $1 * 1000 AND NOT EXISTS (SELECT 1 FROM served_runs \
             WHERE thread = served_threads.id AND status IN ('pending', 'running'))",
            seconds
        );
        let lines = self.db.rows(statement).await?;
        lines.iter().map(read_thread).collect()
    }
}
