//! What is stored is damaged: every read finds out, or is not concerned.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{Checkpointer, Durability, Snapshot};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::Keep;
use rusqlite::Connection;

use crate::graphs::{Log, LogUpdate, build, finish, over};
use crate::report::{Report, caught};
use crate::storage::{Storage, client};
use crate::{Effort, block_on};

/// The threads that are damaged: graphs of these seeds, of which one is pruned and one has branches.
const SEEDS: [u64; 4] = [2, 3, 5, 8];
const PRUNED: u64 = 3;
const FORKED: u64 = 5;

/// A read that takes longer hangs.
const LONG: Duration = Duration::from_secs(20);

fn name(seed: u64) -> String {
    format!("thread-{seed}")
}

fn graph(seed: u64, saver: Arc<dyn Checkpointer>) -> CompiledStateGraph<Log> {
    over(&build(seed, &Arc::default()), saver)
}

async fn fill(saver: &Arc<dyn Checkpointer>) -> Result<(), AgentError> {
    for seed in SEEDS {
        let graph = graph(seed, Arc::clone(saver));
        finish(&graph, &name(seed), Durability::Sync, None).await?;
        let thread = graph.thread(name(seed));
        if seed == PRUNED {
            thread.prune(Keep::Newest(6)).await?;
        }
        if seed == FORKED {
            let history = thread.history().await?;
            let old = history[history.len() / 2].id;
            thread.at(old).fork().await?;
            finish(&graph, &name(seed), Durability::Sync, None).await?;
        }
    }
    Ok(())
}

/// What a thread shows.
#[derive(Clone, Debug, PartialEq)]
struct Shown {
    state: Option<Point>,
    keys: Vec<String>,
    history: BTreeMap<String, Point>,
}

/// A checkpoint: what a run would continue from, and what else history shows of it.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    stands: String,
    details: String,
}

impl Point {
    fn of(snapshot: &Snapshot<Log>) -> Self {
        let Snapshot {
            parent,
            values,
            next,
            step,
            source,
            created_at,
            unfilled_joins,
            metadata,
            ..
        } = snapshot;
        let stands = format!(
            "{:?} {next:?} {step} {source:?} {created_at:?} {parent:?} {unfilled_joins:?} {metadata:?}",
            values.keys
        );
        let tasks = snapshot.tasks.iter().map(|task| {
            let inside = task.inside.as_ref().map(|inside| format!("{inside:?}"));
            format!(
                "{} {} {:?} {:?} {:?} {inside:?}",
                task.node, task.sent, task.result, task.error, task.interrupts
            )
        });
        let tasks: Vec<_> = tasks.collect();
        let details = format!("{:?} {tasks:?}", snapshot.interrupts);
        Self { stands, details }
    }
}

async fn show(thread: &Thread<Log>) -> Result<Shown, AgentError> {
    let state = thread.state_with_subgraphs().await?;
    let keys = state.as_ref().map(|state| state.values.keys.clone());
    let history = thread.history().await?;
    let lines = history
        .iter()
        .map(|snapshot| (snapshot.id.to_string(), Point::of(snapshot)));
    Ok(Shown {
        state: state.as_ref().map(Point::of),
        keys: keys.unwrap_or_default(),
        history: lines.collect(),
    })
}

/// What came of the cases.
#[derive(Debug, Default)]
struct Outcomes {
    noticed: u64,
    harmless: u64,
    /// The thread is not found: its name was damaged.
    gone: u64,
    /// Checkpoints on which nothing is based are gone, or have another id.
    leaves: u64,
    /// A record that only history shows is gone: a question that was answered, say.
    details: u64,
}

impl Outcomes {
    /// Compares what a damaged thread shows with what it showed before.
    fn judge(
        &mut self,
        name: &str,
        before: &Shown,
        found: Result<Shown, AgentError>,
    ) -> Result<(), String> {
        let found = match found {
            Ok(found) => found,
            Err(AgentError::Checkpoint(CheckpointError::Corrupt(what))) => {
                self.noticed += 1;
                return match what.contains(&format!("thread `{name}`")) {
                    true => Ok(()),
                    false => Err(format!("the error does not name the thread: {what}")),
                };
            }
            Err(_) => {
                self.noticed += 1;
                return Ok(());
            }
        };
        if found == *before {
            self.harmless += 1;
            return Ok(());
        }
        if found.state.is_none() && found.history.is_empty() {
            self.gone += 1;
            return Ok(());
        }
        let difference = format!("{found:?} and not {before:?}");
        if found.state != before.state {
            return Err(format!("the state differs: {difference}"));
        }
        let known: Vec<_> = before.history.values().map(|point| &point.stands).collect();
        let mut leaves = found.history.len() != before.history.len();
        for (id, point) in &found.history {
            match before.history.get(id) {
                Some(before) if before == point => {}
                Some(before) if before.stands == point.stands => self.details += 1,
                None if known.contains(&&point.stands) => leaves = true,
                _ => return Err(format!("checkpoint {id} differs: {difference}")),
            }
        }
        self.leaves += u64::from(leaves);
        Ok(())
    }

    fn figures(&self, what: &str) -> String {
        let Self {
            noticed,
            harmless,
            gone,
            leaves,
            details,
        } = self;
        let mut all = String::new();
        let _ = write!(
            all,
            "{what}: {noticed} noticed, {harmless} without effect; {gone} threads not found, {leaves} ends of branches gone or under another id, {details} checkpoints without a detail"
        );
        all
    }
}

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    let folder = tempfile::tempdir().expect("there is room for files");
    let base = folder.path().join("base.db");
    let before = block_on(async {
        let saver = Storage::Sqlite(base.clone()).open().await?;
        fill(&saver).await.map_err(|error| error.to_string())?;
        let mut before = BTreeMap::new();
        for seed in SEEDS {
            let thread = graph(seed, Arc::clone(&saver)).thread(name(seed));
            let shown = show(&thread).await;
            before.insert(seed, shown.map_err(|error| error.to_string())?);
        }
        Ok::<_, String>(before)
    });
    let before = match before {
        Ok(before) => before,
        Err(error) => {
            report.finding(error);
            return report;
        }
    };
    let bytes = std::fs::read(&base).expect("the file is read");
    let case = folder.path().join("case.db");
    let mut outcomes = Outcomes::default();
    for number in 0..effort.of(250, 10_000) {
        let mut random = fastrand::Rng::with_seed(effort.seed * 7_000_000 + number);
        let mut damaged = bytes.clone();
        let how = change(&mut damaged, &mut random);
        sqlite(
            &case,
            &damaged,
            None,
            &before,
            number,
            &how,
            &mut outcomes,
            &mut report,
        );
    }
    report.say(outcomes.figures("bytes of files"));
    let rows = Rows::of_file(&base);
    let mut outcomes = Outcomes::default();
    for number in 0..effort.of(250, 6_000) {
        let mut random = fastrand::Rng::with_seed(effort.seed * 8_000_000 + number);
        let sql = rows.damage(&mut random);
        let how = sql.shown();
        sqlite(
            &case,
            &bytes,
            Some(&sql),
            &before,
            number,
            &how,
            &mut outcomes,
            &mut report,
        );
    }
    report.say(outcomes.figures("rows of SQLite"));
    if let Some(schema) = Storage::postgres() {
        report.add(block_on(postgres(effort, &schema)));
        block_on(schema.remove());
    }
    report
}

/// Damages bytes of a file, and says how.
fn change(bytes: &mut Vec<u8>, random: &mut fastrand::Rng) -> String {
    let at = random.usize(..bytes.len());
    match random.u8(..10) {
        0..5 => {
            let bit = random.u8(..8);
            bytes[at] ^= 1 << bit;
            format!("bit {bit} of byte {at} flipped")
        }
        5..8 => {
            let end = (at + random.usize(1..64)).min(bytes.len());
            bytes[at..end].fill_with(|| random.u8(..));
            format!("bytes {at} to {end} overwritten")
        }
        8 => {
            let page = at / 4096 * 4096;
            let end = (page + 4096).min(bytes.len());
            let other = random.usize(..bytes.len()) / 4096 * 4096;
            let copy = bytes[other..(other + 4096).min(bytes.len())].to_vec();
            let copied = copy.len().min(end - page);
            bytes[page..page + copied].copy_from_slice(&copy[..copied]);
            format!("the page at {page} replaced by the one at {other}")
        }
        _ => {
            bytes.truncate(at);
            format!("cut off at {at}")
        }
    }
}

/// A damaged file: reads and runs all of its threads.
#[allow(clippy::too_many_arguments)]
fn sqlite(
    case: &Path,
    bytes: &[u8],
    sql: Option<&Change>,
    before: &BTreeMap<u64, Shown>,
    number: u64,
    how: &str,
    outcomes: &mut Outcomes,
    report: &mut Report,
) {
    for suffix in ["", "-wal", "-shm"] {
        let mut file = case.as_os_str().to_owned();
        file.push(suffix);
        let _ = std::fs::remove_file(PathBuf::from(file));
    }
    std::fs::write(case, bytes).expect("there is room for files");
    if let Some(sql) = sql {
        let connection = Connection::open(case).expect("the file opens");
        if let Err(error) =
            connection.execute(&sql.sqlite(), rusqlite::params_from_iter(&sql.value))
        {
            // A constraint stands against it.
            let _ = error;
            return;
        }
    }
    report.cases += 1;
    let tried = caught(|| {
        block_on(async {
            let storage = Storage::Sqlite(case.to_owned());
            let read = tokio::time::timeout(LONG, read(&storage, before, outcomes)).await;
            read.unwrap_or_else(|_| Err("it hangs".to_owned()))
        })
    });
    if let Err(what) = tried.and_then(|read| read) {
        report.finding(format!("file {number}, {how}: {what}"));
    }
}

async fn read(
    storage: &Storage,
    before: &BTreeMap<u64, Shown>,
    outcomes: &mut Outcomes,
) -> Result<(), String> {
    let Ok(saver) = storage.open().await else {
        outcomes.noticed += 1;
        return Ok(());
    };
    for (seed, before) in before {
        let graph = graph(*seed, Arc::clone(&saver));
        let thread = graph.thread(name(*seed));
        outcomes.judge(&name(*seed), before, show(&thread).await)?;
        goes_on(&thread, before).await?;
    }
    Ok(())
}

/// A run behind the damage continues from the state that was stored, or not at all.
async fn goes_on(thread: &Thread<Log>, before: &Shown) -> Result<(), String> {
    let input = LogUpdate::default().keys(vec!["more".to_owned()]);
    let Ok(outcome) = thread.run(input).await else {
        return Ok(());
    };
    let keys = &outcome.state().keys;
    let mut expected = before.keys.clone();
    expected.push("more".to_owned());
    // The thread was not found, and begins anew.
    if keys.starts_with(&expected) || keys.first().is_some_and(|first| first == "more") {
        return Ok(());
    }
    Err(format!(
        "a run goes on with {keys:?} instead of {expected:?}"
    ))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    Number,
    Bool,
    Id,
    Text,
    Bytes,
}

/// The columns that are damaged.
const COLUMNS: [(&str, &str, Type); 19] = [
    ("thread_rows", "checkpoint", Type::Number),
    ("thread_rows", "kind", Type::Number),
    ("thread_rows", "text", Type::Text),
    ("thread_rows", "format", Type::Text),
    ("thread_rows", "version", Type::Number),
    ("thread_rows", "payload", Type::Bytes),
    ("thread_rows", "sums", Type::Number),
    ("thread_checkpoints", "id", Type::Id),
    ("thread_checkpoints", "base", Type::Id),
    ("thread_checkpoints", "snapshot", Type::Bool),
    ("thread_checkpoints", "step", Type::Number),
    ("thread_checkpoints", "source", Type::Text),
    ("thread_checkpoints", "first_row", Type::Number),
    ("thread_checkpoints", "last_row", Type::Number),
    ("thread_logs", "head", Type::Id),
    ("thread_logs", "version", Type::Number),
    ("thread_logs", "updated_at", Type::Number),
    ("thread_logs", "rows", Type::Number),
    ("thread_logs", "owner", Type::Number),
];

/// The rows of a database: how to find each, and its columns in a plain form.
#[derive(Debug, Default)]
struct Rows(Vec<(&'static str, String, Vec<Option<String>>)>);

/// A change of one column, or the deletion of a row.
#[derive(Debug)]
struct Change {
    table: &'static str,
    place: String,
    column: Option<(&'static str, Type)>,
    value: Option<String>,
}

impl Rows {
    /// The columns of a table.
    fn columns(table: &str) -> impl Iterator<Item = (&'static str, Type)> {
        let of = COLUMNS.iter().filter(move |(name, ..)| *name == table);
        of.map(|(_, column, ty)| (*column, *ty))
    }

    fn of_file(path: &Path) -> Self {
        let connection = Connection::open(path).expect("the file opens");
        let mut rows = Vec::new();
        for (table, place) in [
            ("thread_rows", "'id = ' || id"),
            (
                "thread_checkpoints",
                "'log = ' || log || ' AND id = X''' || hex(id) || ''''",
            ),
            ("thread_logs", "'id = ' || id"),
        ] {
            let columns: Vec<_> = Self::columns(table)
                .map(|(column, ty)| match ty {
                    Type::Id | Type::Bytes => format!("hex({column})"),
                    _ => format!("CAST({column} AS TEXT)"),
                })
                .collect();
            let sql = format!("SELECT {place}, {} FROM {table}", columns.join(", "));
            let mut statement = connection.prepare(&sql).expect("the query fits");
            let found = statement.query_map([], |row| {
                let values = (1..=columns.len()).map(|at| row.get::<_, Option<String>>(at));
                Ok((row.get(0)?, values.collect::<Result<_, _>>()?))
            });
            for row in found.expect("the table is read") {
                let (place, values) = row.expect("a row is read");
                rows.push((table, place, values));
            }
        }
        Self(rows)
    }

    /// The rows of one thread of a schema.
    async fn of_thread(client: &tokio_postgres::Client, schema: &str, thread: &str) -> Self {
        let mut rows = Vec::new();
        for table in ["thread_rows", "thread_checkpoints", "thread_logs"] {
            let columns: Vec<_> = Self::columns(table)
                .map(|(column, ty)| match (ty, column) {
                    (_, "updated_at") => "'1'".to_owned(),
                    (Type::Bytes, _) => format!("encode({column}, 'hex')"),
                    (Type::Bool, _) => format!("{column}::int::text"),
                    (Type::Id, _) => format!("replace({column}::text, '-', '')"),
                    _ => format!("{column}::text"),
                })
                .collect();
            let log = if table == "thread_logs" { "id" } else { "log" };
            let sql = format!(
                "SELECT ctid::text, {} FROM {schema}.{table}
                WHERE {log} IN (SELECT id FROM {schema}.thread_logs WHERE thread = $1)",
                columns.join(", ")
            );
            let found = client.query(&sql, &[&thread]).await;
            for row in found.expect("the table is read") {
                let place = format!("ctid = '{}'", row.get::<_, String>(0));
                let values = (1..=columns.len()).map(|at| row.get(at)).collect();
                rows.push((table, place, values));
            }
        }
        Self(rows)
    }

    fn damage(&self, random: &mut fastrand::Rng) -> Change {
        // A table first: most rows are in one of them.
        let tables = [
            "thread_rows",
            "thread_rows",
            "thread_checkpoints",
            "thread_logs",
        ];
        let table = tables[random.usize(..tables.len())];
        let of: Vec<_> = self.0.iter().filter(|(of, ..)| *of == table).collect();
        let (table, place, values) = of[random.usize(..of.len())];
        let (table, place) = (*table, place.clone());
        if table != "thread_logs" && random.u8(..12) == 0 {
            return Change {
                table,
                place,
                column: None,
                value: None,
            };
        }
        let columns: Vec<_> = Self::columns(table).collect();
        loop {
            let at = random.usize(..columns.len());
            let (column, ty) = columns[at];
            let Some(old) = &values[at] else { continue };
            let others: Vec<_> = of.iter().filter_map(|row| row.2[at].clone()).collect();
            let value = other(old, ty, &others, random);
            if value != *old {
                return Change {
                    table,
                    place,
                    column: Some((column, ty)),
                    value: Some(value),
                };
            }
        }
    }
}

/// Another value of a column.
fn other(old: &str, ty: Type, others: &[String], random: &mut fastrand::Rng) -> String {
    // That of another row.
    if random.u8(..4) == 0 {
        return others[random.usize(..others.len())].clone();
    }
    match ty {
        Type::Bool => (if old == "0" { "1" } else { "0" }).to_owned(),
        Type::Number => {
            let number: i64 = old.parse().unwrap_or(0);
            let changed = match random.u8(..5) {
                0 => number.wrapping_add(1),
                1 => number.wrapping_sub(1),
                2 => i64::MAX - random.i64(0..3),
                3 => i64::MIN + random.i64(0..3),
                _ => number ^ (1 << random.u8(..64)),
            };
            changed.to_string()
        }
        Type::Id | Type::Bytes => {
            let mut digits: Vec<_> = old.chars().collect();
            if digits.is_empty() {
                return old.to_owned();
            }
            let at = random.usize(..digits.len());
            let digit = digits[at].to_digit(16).unwrap_or(0) ^ (1 << random.u8(..4));
            digits[at] = char::from_digit(digit, 16).unwrap_or('0');
            digits.into_iter().collect()
        }
        Type::Text => {
            let mut bytes = old.as_bytes().to_vec();
            if bytes.is_empty() {
                return "x".to_owned();
            }
            let at = random.usize(..bytes.len());
            if random.u8(..4) == 0 {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1 << random.u8(..7);
            }
            String::from_utf8(bytes)
                .ok()
                .filter(|text| !text.contains('\0'))
                .unwrap_or_default()
        }
    }
}

impl Change {
    fn sqlite(&self) -> String {
        let Self { table, place, .. } = self;
        match self.column {
            None => format!("DELETE FROM {table} WHERE {place}"),
            Some((column, ty)) => {
                let value = match ty {
                    Type::Id | Type::Bytes => "unhex(?1)",
                    Type::Text => "?1",
                    Type::Number | Type::Bool => "CAST(?1 AS INTEGER)",
                };
                format!("UPDATE {table} SET {column} = {value} WHERE {place}")
            }
        }
    }

    fn postgres(&self, schema: &str) -> String {
        let Self { table, place, .. } = self;
        let value = self.value.clone().unwrap_or_default().replace('\'', "''");
        match self.column {
            None => format!("DELETE FROM {schema}.{table} WHERE {place}"),
            Some((column, ty)) => {
                let value = match (ty, column) {
                    (_, "updated_at") => "now() + interval '1 year'".to_owned(),
                    (Type::Id, _) => format!("'{value}'::uuid"),
                    (Type::Bytes, _) => format!("decode('{value}', 'hex')"),
                    (Type::Bool, _) => format!("{value}::int::boolean"),
                    (Type::Number, "kind") => format!("({value} % 32768)::smallint"),
                    (Type::Number, _) => format!("('{value}')::bigint"),
                    (Type::Text, _) => format!("'{value}'"),
                };
                format!("UPDATE {schema}.{table} SET {column} = {value} WHERE {place}")
            }
        }
    }

    fn shown(&self) -> String {
        let Self { table, place, .. } = self;
        match self.column {
            None => format!("{table} without the row where {place}"),
            Some((column, _)) => {
                let value = self.value.as_deref().unwrap_or_default();
                format!("{table} where {place}: {column} is {value:.80}")
            }
        }
    }
}

async fn postgres(effort: Effort, storage: &Storage) -> Report {
    let Storage::Postgres(schema) = storage else {
        return Report::default();
    };
    let mut report = Report::default();
    let saver = storage.open().await.expect("the storage opens");
    fill(&saver).await.expect("the threads are written");
    let client = client().await;
    let mut outcomes = Outcomes::default();
    for number in 0..effort.of(80, 3_000) {
        let mut random = fastrand::Rng::with_seed(effort.seed * 9_000_000 + number);
        let seed = SEEDS[random.usize(..SEEDS.len())];
        let graph = graph(seed, Arc::clone(&saver));
        let copy = format!("copy-{number}");
        let copied = graph.thread(name(seed)).copy(&copy).await;
        copied.expect("the thread is copied");
        let thread = graph.thread(&copy);
        let before = show(&thread).await.expect("the copy is read");
        let change = Rows::of_thread(&client, schema, &copy)
            .await
            .damage(&mut random);
        if client
            .batch_execute(&change.postgres(schema))
            .await
            .is_err()
        {
            // A constraint stands against it.
            let _ = thread.delete().await;
            continue;
        }
        report.cases += 1;
        let read = async {
            outcomes.judge(&copy, &before, show(&thread).await)?;
            goes_on(&thread, &before).await
        };
        let read = tokio::time::timeout(LONG, read).await;
        if let Err(what) = read.unwrap_or_else(|_| Err("it hangs".to_owned())) {
            report.finding(format!("row {number}, {}: {what}", change.shown()));
        }
        let _ = thread.delete().await;
    }
    report.say(outcomes.figures("rows of PostgreSQL"));
    report
}
