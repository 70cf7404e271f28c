//! Supersteps of several threads in one statement.
//!
//! Most of what a statement costs the server is its beginning and its end. Each thread gets what its own statement
//! would do: a superstep is stored if the head of its log, and its lease, are as it expects.

use deadpool_postgres::GenericClient;
use langgraph_sql::LogName;
use tokio_postgres::Statement;
use uuid::Uuid;

use super::super::place::uuid;
use super::line::{Column, Line, Parameter, column};
use super::{KnownCheckpoint, Lines, NewCheckpoint, signed};
use crate::PostgresError;

/// Begins a transaction in which the statement is planned: it finds logs and checkpoints by their keys. For tables that
/// are small when a plan is made, reading all of them would look cheaper, and the plan stays when they have grown.
pub(in super::super) const BEGIN: &str = "BEGIN; SET LOCAL enable_seqscan = off;
    SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off";

/// The batch of a superstep with one record, and one new checkpoint.
pub(in super::super) struct Superstep<'a> {
    name: &'a LogName,
    holder: Option<&'a str>,
    lines: &'a Lines,
    head: (Uuid, i64),
    next: Uuid,
    known: &'a KnownCheckpoint,
    known_row: &'a Line,
    new: &'a NewCheckpoint,
    new_row: &'a Line,
}

impl<'a> Superstep<'a> {
    /// Returns `None` if the batch is anything else.
    pub(in super::super) fn of(
        name: &'a LogName,
        lines: &'a Lines,
        holder: Option<&'a str>,
    ) -> Option<Self> {
        let (known, [known_row], Some((new, new_row))) = lines.plain()? else {
            return None;
        };
        let head = lines.head?;
        Some(Self {
            name,
            holder,
            lines,
            head: (uuid(head.id), signed(head.version)),
            next: uuid(lines.next?.id),
            known,
            known_row,
            new,
            new_row,
        })
    }

    /// Returns the name of its log.
    pub(in super::super) fn log(&self) -> &'a LogName {
        self.name
    }
}

/// Prepares the statement, unless the connection has it.
pub(in super::super) async fn prepare(
    client: &impl GenericClient,
) -> Result<Statement, PostgresError> {
    Ok(client.prepare_cached(SUPERSTEPS).await?)
}

/// Stores supersteps, each with an index, and returns the indices of those that are stored. The others may be refused, or come after another
/// one of their thread: stored by itself, each says what it is.
pub(in super::super) async fn store(
    client: &impl GenericClient,
    supersteps: &[(usize, Superstep<'_>)],
) -> Result<Vec<usize>, PostgresError> {
    if supersteps.is_empty() {
        return Ok(Vec::new());
    }
    let known_rows: Vec<_> = supersteps.iter().map(|(_, step)| step.known_row).collect();
    let new_rows: Vec<_> = supersteps.iter().map(|(_, step)| step.new_row).collect();
    let mut columns: Vec<Column<'_>> = vec![
        column(supersteps, |(_, step)| &*step.name.thread),
        column(supersteps, |(_, step)| &*step.name.namespace),
        column(supersteps, |(_, step)| step.holder),
        column(supersteps, |(_, step)| step.head.0),
        column(supersteps, |(_, step)| step.head.1),
        column(supersteps, |(_, step)| step.next),
        column(supersteps, |(_, step)| step.lines.status),
        column(supersteps, |(_, step)| step.lines.wake_at),
        column(supersteps, |(_, step)| step.known.id),
        column(supersteps, |(_, step)| step.new.id),
        column(supersteps, |(_, step)| step.new.base),
        column(supersteps, |(_, step)| step.new.snapshot),
        column(supersteps, |(_, step)| step.new.step),
        column(supersteps, |(_, step)| step.new.source),
        column(supersteps, |(_, step)| step.new.metadata.as_deref()),
    ];
    columns.extend(Line::columns(&known_rows));
    columns.extend(Line::columns(&new_rows));
    let values: Vec<_> = columns
        .iter()
        .map(|column| &**column as Parameter<'_>)
        .collect();
    let statement = prepare(client).await?;
    let mut stored = Vec::with_capacity(supersteps.len());
    for row in client.query(&statement, &values).await? {
        let number: i64 = row.try_get(0)?;
        let place = usize::try_from(number - 1).ok();
        let superstep = place.and_then(|place| supersteps.get(place));
        stored.extend(superstep.map(|(index, _)| *index));
    }
    Ok(stored)
}

/// A superstep is two rows: that of the known checkpoint, and behind it that of the new one.
const SUPERSTEPS: &str = "WITH asked AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::uuid[], $5::bigint[], $6::uuid[],
        $7::smallint[], $8::bigint[], $9::uuid[], $10::uuid[], $11::uuid[], $12::boolean[],
        $13::bigint[], $14::text[], $15::text[],
        $16::smallint[], $17::text[], $18::text[], $19::bigint[], $20::bytea[], $21::bigint[],
        $22::smallint[], $23::text[], $24::text[], $25::bigint[], $26::bytea[], $27::bigint[])
    WITH ORDINALITY AS asked (thread, namespace, holder, head, version, next,
        status, wake_at, known, added, base, snapshot,
        step, source, metadata,
        kind, text, format, format_version, payload, sums,
        new_kind, new_text, new_format, new_format_version, new_payload, new_sums, number)
), lease AS (
    SELECT a.number FROM asked AS a JOIN thread_leases AS l ON l.thread = a.thread AND l.holder = a.holder
    FOR SHARE OF l
), moved AS (
    UPDATE thread_logs AS t
    SET head = a.next, version = t.version + 1, status = a.status, wake_at = a.wake_at,
        updated_at = clock_timestamp(), rows = t.rows + 2
    FROM asked AS a
    WHERE t.thread = a.thread AND t.namespace = a.namespace AND t.head = a.head AND t.version = a.version
        AND (a.holder IS NULL OR a.number IN (SELECT number FROM lease))
    RETURNING t.id AS log, t.rows - 2 AS start, a.*
), added AS (
    INSERT INTO thread_checkpoints
        (log, id, base, snapshot, step, source, metadata, first_row, last_row, row_count)
    SELECT log, added, base, snapshot, step, source, metadata, start + 1, start + 1, 1 FROM moved
), known AS (
    UPDATE thread_checkpoints AS c SET last_row = m.start, row_count = c.row_count + 1
    FROM moved AS m WHERE c.log = m.log AND c.id = m.known
    RETURNING m.number, c.first_row
), stored AS (
    INSERT INTO thread_rows (log, number, checkpoint, kind, text, format, version, payload, sums)
    SELECT log, start, first_row, kind, text, format, format_version, payload, sums
    FROM moved JOIN known USING (number)
    UNION ALL
    SELECT log, start + 1, start + 1, new_kind, new_text, new_format, new_format_version, new_payload, new_sums
    FROM moved
) SELECT number FROM moved";
