//! Appends to a log.

use deadpool_postgres::GenericClient;
use langgraph_core::checkpoint::{Batch, CheckpointId, Formats, Head};
use langgraph_core::error::CheckpointError;
use langgraph_sql::rows::{self, RowKind};
use langgraph_sql::{
    LogName, OwnerRow, last_rows, metadata_text, microseconds, row_counts, signed, source_text,
};
use tokio_postgres::Statement;
use uuid::Uuid;

use super::leases;
use super::place::{self, uuid};
use crate::PostgresError;

use line::{Column, Line, Parameter, column};

mod line;
mod statement;
pub(super) mod supersteps;

/// A batch as lines of tables.
pub(super) struct Lines {
    head: Option<Head>,
    next: Option<Head>,
    /// The code of the status.
    status: i16,
    wake_at: Option<i64>,
    owner: Option<OwnerRow>,
    /// The bases of the new checkpoints, except for the head and for new ones.
    bases: Vec<CheckpointId>,
    new: Vec<NewCheckpoint>,
    known: Vec<KnownCheckpoint>,
    rows: Vec<Line>,
    /// How many rows.
    count: i64,
}

/// A new checkpoint. Rows are counted from the first of the batch.
struct NewCheckpoint {
    id: Uuid,
    base: Option<Uuid>,
    snapshot: bool,
    step: i64,
    source: &'static str,
    metadata: Option<String>,
    first: i64,
    last: i64,
    count: i64,
}

/// An existing checkpoint that gets more rows.
struct KnownCheckpoint {
    id: Uuid,
    last: i64,
    /// How many.
    count: i64,
}

impl Lines {
    /// # Errors
    ///
    /// If a value cannot be encoded.
    pub(super) fn of(batch: Batch, formats: &Formats) -> Result<Self, CheckpointError> {
        let newest = batch.head.map(|head| head.id);
        let bases = batch.bases().filter(|base| Some(*base) != newest);
        let bases = bases.collect();
        let mut new = Vec::with_capacity(batch.checkpoints.len());
        for checkpoint in &batch.checkpoints {
            new.push(NewCheckpoint {
                id: uuid(checkpoint.id),
                base: checkpoint.base.map(|base| uuid(base.id)),
                snapshot: checkpoint.snapshot.is_some(),
                step: checkpoint.step,
                source: source_text(checkpoint.source),
                metadata: metadata_text(&checkpoint.metadata)?,
                first: 0,
                last: 0,
                count: 0,
            });
        }
        let wake_at = batch.wake_at.map(microseconds);
        let (head, next, status) = (
            batch.head,
            batch.next_head(),
            i16::from(batch.status.code()),
        );
        let owner = batch.owner.as_deref().map(OwnerRow::of).transpose()?;
        let rows = rows::encode(batch, formats)?;
        let counts = row_counts(&rows);
        let count = |id: &CheckpointId| counts.get(id).copied().unwrap_or_default();
        let mut last = last_rows(&rows);
        let firsts = (0..).zip(&rows);
        let firsts = firsts.filter(|(_, row)| row.kind == RowKind::Checkpoint);
        for (checkpoint, (number, row)) in new.iter_mut().zip(firsts) {
            checkpoint.first = number;
            checkpoint.last = last.remove(&row.checkpoint).unwrap_or(number);
            checkpoint.count = count(&row.checkpoint);
        }
        let known = last.into_iter().map(|(id, last)| KnownCheckpoint {
            id: uuid(id),
            last,
            count: count(&id),
        });
        Ok(Self {
            head,
            next,
            status,
            wake_at,
            owner,
            bases,
            new,
            known: known.collect(),
            count: signed(rows.len() as u64),
            rows: rows.into_iter().map(Line::of).collect(),
        })
    }

    /// Returns true if a new checkpoint is based on an old one that is not the head.
    pub(super) fn has_old_bases(&self) -> bool {
        !self.bases.is_empty()
    }
}

/// A known checkpoint with its rows, and a new one with its row.
type Plain<'a> = (
    &'a KnownCheckpoint,
    &'a [Line],
    Option<(&'a NewCheckpoint, &'a Line)>,
);

impl Lines {
    /// Returns what a superstep usually stores: rows of the one known checkpoint, and perhaps a new
    /// one with a single row. `None` if the batch holds anything else.
    fn plain(&self) -> Option<Plain<'_>> {
        if self.head.is_none() || self.owner.is_some() {
            return None;
        }
        match (&*self.known, &*self.new) {
            ([known], []) => Some((known, &self.rows, None)),
            // As a rule, rows of known checkpoints come first.
            ([known], [new]) if new.first == new.last => {
                let (row, rows) = self.rows.split_last()?;
                (row.checkpoint == new.id).then_some((known, rows, Some((new, row))))
            }
            _ => None,
        }
    }
}

impl Lines {
    /// Returns the key of the owner that the batch may add: a row that batches of several logs have in common.
    pub(super) fn owner(&self) -> Option<i64> {
        self.owner.as_ref().map(|owner| owner.key)
    }

    /// Returns the statement that stores the batch.
    fn statement(&self) -> &'static statement::Statement {
        if let Some((_, rows, new)) = self.plain() {
            let statements = match rows {
                [_] => &*statement::ONE_ROW,
                _ => &*statement::SOME_ROWS,
            };
            return match new {
                Some(_) => &statements.step,
                None => &statements.rows,
            };
        }
        let statements = if self.known.len() > 1 {
            &*statement::WITH_SOME
        } else {
            &*statement::WITH_ONE
        };
        match self.head {
            None => &statements.make,
            Some(_) => &statements.advance,
        }
    }
}

impl Lines {
    /// Returns the parameters `COLUMNS`.
    fn columns(&self) -> Vec<Column<'_>> {
        let owner = self.owner.as_ref();
        let mut columns: Vec<Column<'_>> = vec![
            Box::new(owner.map(|owner| owner.key)),
            Box::new(owner.map(|owner| &*owner.text)),
            column(&self.new, |new| new.id),
            column(&self.new, |new| new.base),
            column(&self.new, |new| new.snapshot),
            column(&self.new, |new| new.step),
            column(&self.new, |new| new.source),
            column(&self.new, |new| new.metadata.as_deref()),
            column(&self.new, |new| new.first),
            column(&self.new, |new| new.last),
            column(&self.new, |new| new.count),
            column(&self.known, |known| known.id),
            column(&self.known, |known| known.last),
            column(&self.known, |known| known.count),
            column(&self.rows, |row| row.checkpoint),
        ];
        columns.extend(Line::columns(&self.rows));
        columns
    }
}

impl NewCheckpoint {
    fn parameters(&self) -> [Parameter<'_>; 6] {
        [
            &self.id,
            &self.base,
            &self.snapshot,
            &self.step,
            &self.source,
            &self.metadata,
        ]
    }
}

/// What became of a batch.
pub(super) enum Put {
    Stored,
    /// The actual head, which is not the batch's.
    HeadIs(Option<Head>),
    BaseGone(CheckpointId),
    /// Another holder has the thread.
    LeaseLost,
}

/// Stores a batch whose bases have to be there; in a transaction.
pub(super) async fn put_behind_bases(
    client: &impl GenericClient,
    name: &LogName,
    lines: &Lines,
) -> Result<Put, PostgresError> {
    // Until the end of the transaction, the log cannot be pruned.
    let log = place::log(client, name, "FOR UPDATE").await?;
    let head = log.as_ref().map(|log| log.head);
    if head != lines.head {
        return Ok(Put::HeadIs(head));
    }
    let sql = "SELECT 1 FROM thread_checkpoints WHERE log = $1 AND id = $2";
    let statement = client.prepare_cached(sql).await?;
    let log = log.map(|log| log.id);
    for base in &lines.bases {
        let found = client.query_opt(&statement, &[&log, &uuid(*base)]).await?;
        if found.is_none() {
            return Ok(Put::BaseGone(*base));
        }
    }
    put(client, name, lines, None).await
}

/// Stores a batch, if `holder` has the lease of the thread: in one round trip.
pub(super) async fn put(
    client: &impl GenericClient,
    name: &LogName,
    lines: &Lines,
    holder: Option<&str>,
) -> Result<Put, PostgresError> {
    if store(client, name, lines, holder).await? {
        return Ok(Put::Stored);
    }
    refused(client, name, lines, holder).await
}

/// Returns why a batch is not stored.
async fn refused(
    client: &impl GenericClient,
    name: &LogName,
    lines: &Lines,
    holder: Option<&str>,
) -> Result<Put, PostgresError> {
    if let Some(holder) = holder
        && !leases::has(client, &name.thread, holder).await?
    {
        return Ok(Put::LeaseLost);
    }
    let head = place::log(client, name, "").await?.map(|log| log.head);
    // Nothing to store, and nothing exists: a log without a checkpoint does not exist.
    if lines.next.is_none() && head.is_none() {
        return Ok(Put::Stored);
    }
    Ok(Put::HeadIs(head))
}

/// Prepares the statement that stores a batch, unless the connection has it.
pub(super) async fn prepare(
    client: &impl GenericClient,
    lines: &Lines,
    held: bool,
) -> Result<Statement, PostgresError> {
    let text = lines.statement().text(held);
    Ok(client.prepare_cached(text).await?)
}

/// Returns false if the head has moved, the holder has lost the lease, or there is nothing to store.
pub(super) async fn store(
    client: &impl GenericClient,
    name: &LogName,
    lines: &Lines,
    holder: Option<&str>,
) -> Result<bool, PostgresError> {
    let Some(next) = lines.next else {
        return Ok(false);
    };
    let next = uuid(next.id);
    let head = lines.head.map(|head| (uuid(head.id), signed(head.version)));
    let columns: Vec<Column<'_>>;
    let mut values: Vec<Parameter<'_>> = vec![
        &name.thread,
        &name.namespace,
        &next,
        &lines.status,
        &lines.wake_at,
        &lines.count,
    ];
    if let Some((id, version)) = &head {
        values.push(id);
        values.push(version);
    }
    if let Some((known, rows, new)) = lines.plain() {
        values.push(&known.id);
        if let [row] = rows {
            values.extend(row.parameters());
        } else {
            columns = Line::columns(rows).into();
            values.extend(columns.iter().map(|column| &**column as Parameter<'_>));
        }
        if let Some((new, row)) = new {
            values.extend(new.parameters());
            values.extend(row.parameters());
        }
    } else {
        columns = lines.columns();
        values.extend(columns.iter().map(|column| &**column as Parameter<'_>));
    }
    if let Some(holder) = &holder {
        values.push(holder);
    }
    let statement = prepare(client, lines, holder.is_some()).await?;
    Ok(client.query_opt(&statement, &values).await?.is_some())
}
