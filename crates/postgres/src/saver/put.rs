//! Appends to a log.

use std::sync::LazyLock;

use deadpool_postgres::GenericClient;
use langgraph::checkpoint::{Batch, CheckpointError, CheckpointId, Formats, Head};
use langgraph_sql::rows::{self, Row, RowKind, Sums};
use langgraph_sql::{LogName, OwnerRow, last_rows, metadata_text, signed, source_text};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::leases;
use super::place::{self, uuid};
use crate::PostgresError;

/// A batch, column by column.
pub(super) struct Lines {
    head: Option<Head>,
    next: Option<Head>,
    /// The code of the status.
    status: i16,
    owner: Option<OwnerRow>,
    rows: i64,
    /// The bases of the new checkpoints, except for the head and for new ones.
    bases: Vec<CheckpointId>,
    new: NewCheckpoints,
    known: KnownCheckpoints,
    parts: Parts,
}

/// New checkpoints. Rows are counted from the first of the batch.
#[derive(Default)]
struct NewCheckpoints {
    ids: Vec<Uuid>,
    bases: Vec<Option<Uuid>>,
    snapshots: Vec<bool>,
    steps: Vec<i64>,
    sources: Vec<&'static str>,
    metadata: Vec<Option<String>>,
    first: Vec<i64>,
    last: Vec<i64>,
}

/// Existing checkpoints that get more rows.
#[derive(Default)]
struct KnownCheckpoints {
    ids: Vec<Uuid>,
    last: Vec<i64>,
}

/// Rows.
#[derive(Default)]
struct Parts {
    checkpoints: Vec<Uuid>,
    kinds: Vec<i16>,
    texts: Vec<String>,
    formats: Vec<Option<String>>,
    versions: Vec<Option<i64>>,
    payloads: Vec<Option<Vec<u8>>>,
    sums: Vec<i64>,
}

impl Lines {
    /// # Errors
    ///
    /// If a value cannot be encoded.
    pub(super) fn of(batch: Batch, formats: &Formats) -> Result<Self, CheckpointError> {
        let newest = batch.head.map(|head| head.id);
        let bases = batch.bases().filter(|base| Some(*base) != newest);
        let bases = bases.collect();
        let mut new = NewCheckpoints::default();
        for checkpoint in &batch.checkpoints {
            new.ids.push(uuid(checkpoint.id));
            new.bases.push(checkpoint.base.map(|base| uuid(base.id)));
            new.snapshots.push(checkpoint.snapshot.is_some());
            new.steps.push(checkpoint.step);
            new.sources.push(source_text(checkpoint.source));
            new.metadata.push(metadata_text(&checkpoint.metadata)?);
        }
        let (head, next, status) = (
            batch.head,
            batch.next_head(),
            i16::from(batch.status.code()),
        );
        let owner = batch.owner.as_deref().map(OwnerRow::of).transpose()?;
        let rows = rows::encode(batch, formats)?;
        let last = last_rows(&rows);
        let mut lines = Self {
            head,
            next,
            status,
            owner,
            rows: signed(rows.len() as u64),
            bases,
            new,
            known: KnownCheckpoints::default(),
            parts: Parts::default(),
        };
        for (number, row) in (0..).zip(&rows) {
            if row.kind == RowKind::Checkpoint {
                lines.new.first.push(number);
                let last = last.get(&row.checkpoint);
                lines.new.last.push(last.copied().unwrap_or(number));
            }
        }
        for (id, last) in last {
            if !lines.new.ids.contains(&uuid(id)) {
                lines.known.ids.push(uuid(id));
                lines.known.last.push(last);
            }
        }
        for row in rows {
            lines.parts.push(row);
        }
        Ok(lines)
    }
}

impl Lines {
    /// Returns true if a new checkpoint is based on an old one that is not the head.
    pub(super) fn has_old_bases(&self) -> bool {
        !self.bases.is_empty()
    }
}

impl Parts {
    fn push(&mut self, row: Row) {
        self.checkpoints.push(uuid(row.checkpoint));
        self.sums.push(Sums::of(&row).number());
        self.kinds.push(i16::from(row.kind as u8));
        self.texts.push(row.text);
        let (format, version, bytes) = match row.payload {
            None => (None, None, None),
            Some(payload) => (
                Some(payload.format.to_string()),
                Some(i64::from(payload.version)),
                Some(payload.bytes.into()),
            ),
        };
        self.formats.push(format);
        self.versions.push(version);
        self.payloads.push(bytes);
    }
}

/// The lease of the thread: until the statement is committed, nobody takes it. `{HOLDER}` is the
/// number of its holder.
const LEASE: &str = "lease AS (
    SELECT 1 FROM thread_leases WHERE thread = $1 AND holder = ${HOLDER} FOR SHARE
), ";

/// Moves the head of a log, if it is where the batch expects it.
const MOVE: &str = "UPDATE thread_logs
    SET head = $3, version = version + 1, status = $4, updated_at = clock_timestamp(),
        rows = rows + $5, owner = coalesce($22, owner)
    WHERE thread = $1 AND namespace = $2 AND head = $25 AND version = $26 AND {HELD}
    RETURNING id, rows - $5 AS start";

/// Creates a log, if the batch expects none.
const MAKE: &str = "INSERT INTO thread_logs
        (thread, namespace, head, version, status, updated_at, rows, owner)
    SELECT $1::text, $2::text, $3::uuid, 1, $4::smallint, clock_timestamp(), $5::bigint,
        $22::bigint
    WHERE {HELD}
    ON CONFLICT DO NOTHING RETURNING id, 0::bigint AS start";

/// The single checkpoint that gets more rows, as usual: the equality finds it by its key, without a
/// join. A plan made while the table was small would read the whole log for several.
const ONE: &str = "($14::uuid[])[1]";
const SOME: &str = "ANY ($14::uuid[])";

/// Stores the batch, if the head was as expected. Rows of deleted checkpoints are dropped.
/// `{KNOWN}` is the set of checkpoints that get more rows.
const STORE: &str = ",
owned AS (
    INSERT INTO thread_owners (key, owner)
    SELECT $22::bigint, $23::text FROM moved WHERE $22 IS NOT NULL
    ON CONFLICT DO NOTHING
),
new AS (
    INSERT INTO thread_checkpoints
        (log, id, base, snapshot, step, source, metadata, first_row, last_row)
    SELECT moved.id, c.id, c.base, c.snapshot, c.step, c.source, c.metadata,
        moved.start + c.first_row, moved.start + c.last_row
    FROM moved, unnest($6::uuid[], $7::uuid[], $8::boolean[], $9::bigint[], $10::text[],
            $11::text[], $12::bigint[], $13::bigint[])
        AS c (id, base, snapshot, step, source, metadata, first_row, last_row)
    RETURNING id, first_row
),
known AS (
    UPDATE thread_checkpoints AS c
    SET last_row = (SELECT start FROM moved) + (
        SELECT k.last_row FROM unnest($14::uuid[], $15::bigint[]) AS k (id, last_row)
        WHERE k.id = c.id
    )
    WHERE c.log = (SELECT id FROM moved) AND c.id = {KNOWN}
    RETURNING c.id, c.first_row
),
stored AS (
    INSERT INTO thread_rows (log, number, checkpoint, kind, text, format, version, payload, sums)
    SELECT moved.id, moved.start + r.number - 1, f.first_row, r.kind, r.text, r.format, r.version,
        r.payload, r.sums
    FROM moved, unnest($16::uuid[], $17::smallint[], $18::text[], $19::text[], $20::bigint[],
            $21::bytea[], $24::bigint[]) WITH ORDINALITY
        AS r (checkpoint, kind, text, format, version, payload, sums, number)
    JOIN (SELECT * FROM new UNION ALL SELECT * FROM known) AS f ON f.id = r.checkpoint
)
SELECT 1 FROM moved";

/// The statements that create a log and move its head, and the same two for the holder of a lease.
struct Statements {
    plain: [String; 2],
    held: [String; 2],
}

/// If one checkpoint gets more rows.
static WITH_ONE: LazyLock<Statements> = LazyLock::new(|| Statements::new(ONE));
static WITH_SOME: LazyLock<Statements> = LazyLock::new(|| Statements::new(SOME));

impl Statements {
    fn new(known: &str) -> Self {
        let store = STORE.replace("{KNOWN}", known);
        let heads = [(MAKE, "25"), (MOVE, "27")];
        Self {
            plain: heads.map(|(head, _)| {
                let head = head.replace("{HELD}", "true");
                format!("WITH moved AS ({head}){store}")
            }),
            held: heads.map(|(head, holder)| {
                let lease = LEASE.replace("{HOLDER}", holder);
                let head = head.replace("{HELD}", "EXISTS (SELECT 1 FROM lease)");
                format!("WITH {lease}moved AS ({head}){store}")
            }),
        }
    }
}

/// What became of a batch.
pub(super) enum Put {
    Stored,
    /// The actual head, which is not the batch's.
    HeadIs(Option<Head>),
    BaseGone(CheckpointId),
    /// Somebody else has the thread.
    LeaseLost,
}

/// Stores a batch whose bases have to be there; in a transaction.
pub(super) async fn put_behind_bases(
    client: &impl GenericClient,
    name: &LogName,
    lines: &Lines,
) -> Result<Put, PostgresError> {
    // Until the end of the transaction, nobody prunes the log.
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
    if let Some(next) = lines.next
        && store(client, name, lines, next, holder).await?
    {
        return Ok(Put::Stored);
    }
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

/// Returns false if the head has moved, or the holder has lost the lease.
async fn store(
    client: &impl GenericClient,
    name: &LogName,
    lines: &Lines,
    next: Head,
    holder: Option<&str>,
) -> Result<bool, PostgresError> {
    let known = lines.head.map(|head| (uuid(head.id), signed(head.version)));
    let next = uuid(next.id);
    let owner = lines.owner.as_ref();
    let (owner, text) = (
        owner.map(|owner| owner.key),
        owner.map(|owner| &*owner.text),
    );
    let Lines {
        new,
        known: old,
        parts,
        ..
    } = lines;
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![
        &name.thread,
        &name.namespace,
        &next,
        &lines.status,
        &lines.rows,
        &new.ids,
        &new.bases,
        &new.snapshots,
        &new.steps,
        &new.sources,
        &new.metadata,
        &new.first,
        &new.last,
        &old.ids,
        &old.last,
        &parts.checkpoints,
        &parts.kinds,
        &parts.texts,
        &parts.formats,
        &parts.versions,
        &parts.payloads,
        &owner,
        &text,
        &parts.sums,
    ];
    let statements = if old.ids.len() > 1 {
        &*WITH_SOME
    } else {
        &*WITH_ONE
    };
    let [make, advance] = match &holder {
        None => &statements.plain,
        Some(_) => &statements.held,
    };
    let statement = match &known {
        None => make,
        Some((id, version)) => {
            values.push(id);
            values.push(version);
            advance
        }
    };
    if let Some(holder) = &holder {
        values.push(holder);
    }
    let statement = client.prepare_cached(statement).await?;
    Ok(client.query_opt(&statement, &values).await?.is_some())
}
