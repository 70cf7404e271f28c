//! The statements that store a batch, each in one round trip.
//!
//! They are put together from pieces. A piece names its parameters, `{like this}`.

use std::sync::LazyLock;

/// A statement, and the same for the holder of a lease.
pub(super) struct Statement {
    plain: String,
    /// Its last parameter is the holder.
    held: String,
}

/// For rows of one known checkpoint: nothing is joined by ids. The log exists, and its owner stays.
pub(super) struct ForKnown {
    /// Stores the rows alone, as of tasks that have ended. Its parameters are [`LOG`], [`HEAD`] and
    /// those of the rows.
    pub(super) rows: Statement,
    /// Stores a new checkpoint with one row behind them: a superstep. Its parameters are the same,
    /// and [`NEW`].
    pub(super) step: Statement,
}

/// If it is one row: scalars. Its parameters are [`OLD_ROW`].
pub(super) static ONE_ROW: LazyLock<ForKnown> =
    LazyLock::new(|| ForKnown::new(FROM_SCALARS, OLD_ROW));

/// If there are several. Their parameters are [`OLD_ROWS`].
pub(super) static SOME_ROWS: LazyLock<ForKnown> =
    LazyLock::new(|| ForKnown::new(&from_arrays(), OLD_ROWS));

impl ForKnown {
    fn new(rows: &str, parameters: &[&str]) -> Self {
        let advance = advance("");
        let alone = [known("{old id}", "{count} - 1", "{count}"), stored(rows)];
        let step = [
            added(NEW_ONE),
            known("{old id}", "{count} - 2", "{count} - 1"),
            stored(&format!("{rows} UNION ALL {FROM_NEW}")),
        ];
        Self {
            rows: Statement::new(&advance, &alone, &[LOG, HEAD, parameters]),
            step: Statement::new(&advance, &step, &[LOG, HEAD, parameters, NEW]),
        }
    }
}

/// For all other batches, in columns.
pub(super) struct ForColumns {
    /// Creates the log. Its parameters are [`LOG`] and [`COLUMNS`].
    pub(super) make: Statement,
    /// Moves its head. Its parameters are [`LOG`], [`HEAD`] and [`COLUMNS`].
    pub(super) advance: Statement,
}

/// If at most one known checkpoint gets rows. The equality finds it by its key, without a join: a
/// plan made while the table was small would read the whole log for several.
pub(super) static WITH_ONE: LazyLock<ForColumns> =
    LazyLock::new(|| ForColumns::new("({known ids}::uuid[])[1]"));

/// If several known checkpoints get rows.
pub(super) static WITH_SOME: LazyLock<ForColumns> =
    LazyLock::new(|| ForColumns::new("ANY ({known ids}::uuid[])"));

impl ForColumns {
    fn new(id: &str) -> Self {
        let known = known(id, &of_known("last_row"), &of_known("row_count"));
        let stored = [
            OWNED.to_owned(),
            added(NEW_ONES),
            known,
            stored(&from_columns()),
        ];
        let advance = advance(", owner = coalesce({owner}, owner)");
        Self {
            make: Statement::new(MAKE, &stored, &[LOG, COLUMNS]),
            advance: Statement::new(&advance, &stored, &[LOG, HEAD, COLUMNS]),
        }
    }
}

impl Statement {
    /// Creates a statement that stores something if the log moves. Parameters have numbers in the
    /// order of their names.
    fn new(moved: &str, stored: &[String], parameters: &[&[&str]]) -> Self {
        let stored = stored.join(", ");
        let numbered = |held: &str, lease: &str| {
            let moved = moved.replace("{HELD}", held);
            let mut sql = format!("WITH {lease}moved AS ({moved}), {stored} SELECT 1 FROM moved");
            let names = parameters.iter().copied().flatten();
            for (number, name) in (1..).zip(names.chain(&["holder"])) {
                sql = sql.replace(&format!("{{{name}}}"), &format!("${number}"));
            }
            sql
        };
        Self {
            plain: numbered("true", ""),
            held: numbered("EXISTS (SELECT 1 FROM lease)", LEASE),
        }
    }

    /// Returns the text.
    pub(super) fn text(&self, held: bool) -> &str {
        if held { &self.held } else { &self.plain }
    }
}

/// The log, and how it stands behind the batch.
const LOG: &[&str] = &["thread", "namespace", "next", "status", "wake at", "count"];

/// The head that the batch expects.
const HEAD: &[&str] = &["head", "head version"];

/// A known checkpoint, and its row.
const OLD_ROW: &[&str] = &[
    "old id",
    "old kind",
    "old text",
    "old format",
    "old version",
    "old payload",
    "old sums",
];

/// A known checkpoint, and the columns of its rows.
const OLD_ROWS: &[&str] = &[
    "old id", "kinds", "texts", "formats", "versions", "payloads", "sums",
];

/// A new checkpoint, and its row.
const NEW: &[&str] = &[
    "new id",
    "new base",
    "new snapshot",
    "new step",
    "new source",
    "new metadata",
    "new kind",
    "new text",
    "new format",
    "new version",
    "new payload",
    "new sums",
];

/// The owner, and the columns of new checkpoints, known ones and rows.
const COLUMNS: &[&str] = &[
    "owner",
    "owner text",
    "ids",
    "bases",
    "snapshots",
    "steps",
    "sources",
    "metadata",
    "first rows",
    "last rows",
    "row counts",
    "known ids",
    "known last rows",
    "known row counts",
    "checkpoints",
    "kinds",
    "texts",
    "formats",
    "versions",
    "payloads",
    "sums",
];

/// The lease of the thread: until the statement is committed, it cannot be taken.
const LEASE: &str = "lease AS (
    SELECT 1 FROM thread_leases WHERE thread = {thread} AND holder = {holder} FOR SHARE
), ";

/// Moves the head of a log, if it is where the batch expects it. `owner` may set the owner too.
fn advance(owner: &str) -> String {
    format!(
        "UPDATE thread_logs
    SET head = {{next}}, version = version + 1, status = {{status}}, wake_at = {{wake at}},
        updated_at = clock_timestamp(), rows = rows + {{count}}{owner}
    WHERE thread = {{thread}} AND namespace = {{namespace}}
        AND head = {{head}} AND version = {{head version}} AND {{HELD}}
    RETURNING id, rows - {{count}} AS start"
    )
}

/// Creates a log, if the batch expects none.
const MAKE: &str = "INSERT INTO thread_logs
        (thread, namespace, head, version, status, wake_at, updated_at, rows, owner)
    SELECT {thread}::text, {namespace}::text, {next}::uuid, 1, {status}::smallint, {wake at}::bigint,
        clock_timestamp(), {count}::bigint, {owner}::bigint
    WHERE {HELD}
    ON CONFLICT DO NOTHING RETURNING id, 0::bigint AS start";

/// Stores the owner, which logs have in common.
const OWNED: &str = "owned AS (
    INSERT INTO thread_owners (key, owner)
    SELECT {owner}::bigint, {owner text}::text FROM moved WHERE {owner} IS NOT NULL
    ON CONFLICT DO NOTHING
)";

/// Adds the rows of known checkpoints to them: `last_row` is the last one, counted from the first of
/// the batch, and `count` how many there are. A checkpoint that is deleted is not found, so its rows are
/// dropped.
fn known(id: &str, last_row: &str, count: &str) -> String {
    format!(
        "known AS (
    UPDATE thread_checkpoints AS c
    SET last_row = (SELECT start FROM moved) + {last_row}, row_count = row_count + {count}
    WHERE c.log = (SELECT id FROM moved) AND c.id = {id}
    RETURNING c.id, c.first_row
)"
    )
}

/// The last row of each of several, or the number of its rows.
fn of_known(column: &str) -> String {
    format!(
        "(
        SELECT k.{column} FROM unnest({{known ids}}::uuid[], {{known last rows}}::bigint[],
            {{known row counts}}::bigint[]) AS k (id, last_row, row_count)
        WHERE k.id = c.id
    )"
    )
}

/// Adds new checkpoints.
fn added(checkpoints: &str) -> String {
    format!(
        "added AS (
    INSERT INTO thread_checkpoints
        (log, id, base, snapshot, step, source, metadata, first_row, last_row, row_count)
    {checkpoints}
)"
    )
}

/// One, whose row is the last of the batch.
const NEW_ONE: &str = "SELECT id, {new id}::uuid, {new base}::uuid, {new snapshot}::boolean,
        {new step}::bigint, {new source}::text, {new metadata}::text,
        start + {count} - 1, start + {count} - 1, 1
    FROM moved";

const NEW_ONES: &str = "SELECT moved.id, c.id, c.base, c.snapshot, c.step, c.source, c.metadata,
        moved.start + c.first_row, moved.start + c.last_row, c.row_count
    FROM moved, unnest({ids}::uuid[], {bases}::uuid[], {snapshots}::boolean[], {steps}::bigint[],
            {sources}::text[], {metadata}::text[], {first rows}::bigint[], {last rows}::bigint[],
            {row counts}::bigint[])
        AS c (id, base, snapshot, step, source, metadata, first_row, last_row, row_count)
    RETURNING id, first_row";

/// Stores rows.
fn stored(rows: &str) -> String {
    format!(
        "stored AS (
    INSERT INTO thread_rows (log, number, checkpoint, kind, text, format, version, payload, sums)
    {rows}
)"
    )
}

/// The row of the known checkpoint: the first one of the batch.
const FROM_SCALARS: &str = "SELECT moved.id, start, first_row, {old kind}::smallint,
        {old text}::text, {old format}::text, {old version}::bigint, {old payload}::bytea,
        {old sums}::bigint
    FROM moved, known";

/// The rows of the known checkpoint.
fn from_arrays() -> String {
    format!(
        "SELECT moved.id, start + r.place - 1, first_row, {ROW}
    FROM moved, known, unnest({ROWS}) WITH ORDINALITY AS r ({ROW}, place)"
    )
}

/// The row of the new checkpoint: the last one of the batch.
const FROM_NEW: &str = "SELECT id, start + {count} - 1, start + {count} - 1,
        {new kind}::smallint, {new text}::text, {new format}::text, {new version}::bigint,
        {new payload}::bytea, {new sums}::bigint
    FROM moved";

/// The rows of all checkpoints.
fn from_columns() -> String {
    format!(
        "SELECT moved.id, start + r.place - 1, c.first_row, {ROW}
    FROM moved, unnest({ROWS}, {{checkpoints}}::uuid[]) WITH ORDINALITY
        AS r ({ROW}, checkpoint, place)
    JOIN (SELECT id, first_row FROM added UNION ALL SELECT id, first_row FROM known) AS c
        ON c.id = r.checkpoint"
    )
}

/// What a row holds.
const ROW: &str = "kind, text, format, version, payload, sums";

/// The columns of rows.
const ROWS: &str = "{kinds}::smallint[], {texts}::text[], {formats}::text[], {versions}::bigint[],
        {payloads}::bytea[], {sums}::bigint[]";

#[cfg(test)]
mod tests {
    use super::{ONE_ROW, SOME_ROWS, Statement, WITH_ONE, WITH_SOME};

    /// Returns the numbers of the parameters, each once.
    fn numbers(sql: &str) -> Vec<usize> {
        let digits = sql.split('$').skip(1).map(|rest| {
            let end = rest.find(|c: char| !c.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].parse().unwrap()
        });
        let mut numbers: Vec<_> = digits.collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    #[test]
    fn every_parameter_has_a_number_and_is_used() {
        let statements: [(&Statement, usize); 8] = [
            (&ONE_ROW.rows, 15),
            (&ONE_ROW.step, 27),
            (&SOME_ROWS.rows, 15),
            (&SOME_ROWS.step, 27),
            (&WITH_ONE.make, 27),
            (&WITH_ONE.advance, 29),
            (&WITH_SOME.make, 27),
            (&WITH_SOME.advance, 29),
        ];
        for (statement, count) in statements {
            for (held, holder) in [(false, 0), (true, 1)] {
                let sql = statement.text(held);
                assert!(!sql.contains('{'), "{sql}");
                let all: Vec<_> = (1..=count + holder).collect();
                assert_eq!(numbers(sql), all, "{sql}");
            }
        }
    }
}
