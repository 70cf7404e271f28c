//! Several processes on one SQLite file: which there are, and their signals to each other.
//!
//! SQLite has no `NOTIFY`. A process that is not alone writes each signal as a row, in the
//! transaction whose change it reports. Every process looks for new rows when the file has
//! changed, which costs it a look at shared memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::queue::Signal;
use langgraph::environment;
use langgraph_sql::{process_is_gone, this_process};
use rusqlite::Connection;
use tokio::sync::broadcast;

use super::blocking::blocking;
use super::signal_words::{signal, word};
use super::statement::Statement;
use super::{RowsResult, sql};

/// How often a process looks that is not alone.
const SHARED: Duration = Duration::from_millis(30);

/// How often it looks that is alone. A new process waits longer than that before it does anything.
const ALONE: Duration = Duration::from_millis(200);

/// How often it looks for processes that are gone without a word.
const ROUND: Duration = Duration::from_secs(1);

/// How many signals stay in the file. A process that is further behind looks at everything.
const KEPT: i64 = 10_000;

/// What these tables hold ends with the processes.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS served_processes (name TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS served_signals (
        number INTEGER PRIMARY KEY, process TEXT NOT NULL, word TEXT NOT NULL
    );
";

/// This process, among those on the file.
#[derive(Debug)]
pub(super) struct Peers {
    name: String,
    others: AtomicBool,
}

impl Peers {
    /// Returns true if other processes have the file.
    pub(super) fn has_others(&self) -> bool {
        self.others.load(Ordering::Acquire)
    }

    /// Returns the statement that notifies them.
    pub(super) fn notify(&self, signal: &Signal) -> Statement {
        let sql = "INSERT INTO served_signals (process, word) VALUES ($1, $2)";
        sql!(sql, &self.name, word(signal))
    }

    /// Returns the statement that notifies them of a run, if it waits.
    pub(super) fn notify_of_waiting(&self, run: &str) -> Statement {
        sql!(
            "INSERT INTO served_signals (process, word) \
             SELECT $2, $3 FROM served_runs WHERE id = $1 AND status = 'pending'",
            run,
            &self.name,
            word(&Signal::Queued),
        )
    }
}

/// Looks at the file for this process, which is listed in it meanwhile.
pub(super) struct Watch {
    connection: Connection,
    pub(super) peers: Arc<Peers>,
    /// The version of the file that was seen last.
    version: i64,
    /// The number of the signal that was read last.
    read: i64,
    round: Instant,
}

impl Watch {
    /// Lists this process in the file. If there are others, it waits until they know.
    pub(super) async fn open(path: PathBuf) -> RowsResult<Self> {
        let watch = blocking(move || Self::list(&path)).await??;
        if watch.peers.has_others() {
            tokio::time::sleep(ALONE * 2).await;
        }
        Ok(watch)
    }

    /// Lists this process in the file. It blocks.
    fn list(path: &Path) -> RowsResult<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(TABLES)?;
        let name = format!("{}/{}", this_process(), langgraph_core::new_id());
        connection.execute("INSERT INTO served_processes VALUES (?1)", [&name])?;
        let mut watch = Self {
            read: connection.query_row(NEWEST, [], |row| row.get(0))?,
            connection,
            peers: Arc::new(Peers {
                name,
                others: AtomicBool::new(false),
            }),
            version: -1,
            round: environment::steady(),
        };
        watch.forget_gone()?;
        watch.look()?;
        // From now on it waits for no writer: a later look does what this one could not.
        watch.connection.busy_timeout(Duration::ZERO)?;
        Ok(watch)
    }

    /// Returns the signals of other processes since the last look.
    fn look(&mut self) -> RowsResult<Vec<Signal>> {
        let late = environment::since(self.round) > ROUND;
        if late && self.peers.has_others() {
            // If another process writes just now, it is done in a later round.
            let _ = self.forget_gone();
        }
        // The version shows changes by other connections, also those of this process.
        let version = self
            .connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if version == self.version && !late {
            return Ok(Vec::new());
        }
        if late {
            self.round = environment::steady();
        }
        self.version = version;
        let mut signals = Vec::new();
        let others = !self.others()?.is_empty();
        let before = self.peers.others.swap(others, Ordering::AcqRel);
        if others && !before {
            // It may have sent signals before this process listened.
            signals.push(Signal::Lost);
        }
        if others || before {
            self.read_signals(&mut signals)?;
        }
        Ok(signals)
    }

    fn others(&self) -> RowsResult<Vec<String>> {
        let sql = "SELECT name FROM served_processes WHERE name <> ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let names = statement.query_map([&self.peers.name], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    fn read_signals(&mut self, signals: &mut Vec<Signal>) -> RowsResult<()> {
        let sql = "SELECT number, process, word FROM served_signals WHERE number > ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([self.read])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            if number > self.read + 1 {
                signals.push(Signal::Lost);
            }
            self.read = number;
            let (process, word) = (row.get_ref(1)?, row.get_ref(2)?);
            if process.as_str().is_ok_and(|name| name != self.peers.name) {
                signals.push(word.as_str().map_or(Signal::Lost, signal));
            }
        }
        Ok(())
    }

    /// Removes the processes that are gone, and signals that are old.
    fn forget_gone(&self) -> RowsResult<()> {
        for name in self.others()? {
            if name
                .rsplit_once('/')
                .is_some_and(|(p, _)| process_is_gone(p))
            {
                let sql = "DELETE FROM served_processes WHERE name = ?1";
                self.connection.execute(sql, [name])?;
            }
        }
        if self
            .connection
            .query_row(OLDEST, [], |row| row.get::<_, i64>(0))?
            + 2 * KEPT
            < self.read
        {
            let sql = "DELETE FROM served_signals WHERE number < ?1";
            self.connection.execute(sql, [self.read - KEPT])?;
        }
        Ok(())
    }
}

const NEWEST: &str = "SELECT coalesce(max(number), 0) FROM served_signals";
const OLDEST: &str = "SELECT coalesce(min(number), 0) FROM served_signals";

impl Drop for Watch {
    fn drop(&mut self) {
        if environment::has_ended() {
            return;
        }
        let sql = "DELETE FROM served_processes WHERE name = ?1";
        let _ = self.connection.busy_timeout(Duration::from_secs(1));
        // Otherwise the others notice when the process is gone.
        let _ = self.connection.execute(sql, [&self.peers.name]);
    }
}

/// Passes on the signals of other processes, as long as there is a receiver.
pub(super) async fn listen(mut watch: Watch, signals: broadcast::Sender<Signal>) {
    let mut fails = false;
    // The rows hold the other sender.
    while signals.strong_count() > 1 {
        let look = move || {
            let found = watch.look();
            (watch, found)
        };
        let Ok((back, found)) = blocking(look).await else {
            return; // The program ends.
        };
        watch = back;
        match found {
            Ok(found) => {
                fails = false;
                for signal in found {
                    let _ = signals.send(signal);
                }
            }
            Err(error) => {
                if !fails {
                    tracing::warn!(%error, "failed to read the signals of other processes");
                }
                fails = true;
            }
        }
        let alone = fails || !watch.peers.has_others();
        tokio::time::sleep(if alone { ALONE } else { SHARED }).await;
    }
}

#[cfg(test)]
mod tests {
    use crate::queue::{After, Job, RunEnd, RunQueue, Signals};

    use super::super::Rows;
    use super::*;

    async fn next(signals: &mut Signals) -> Signal {
        let next = tokio::time::timeout(Duration::from_secs(10), signals.next());
        next.await.expect("no signal comes").unwrap()
    }

    async fn until(rows: &Rows, shared: bool) {
        let begun = Instant::now();
        while rows.is_shared() != shared {
            assert!(begun.elapsed() < Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn l3_two_on_one_file_notify_each_other_and_one_alone_writes_no_signals() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.db");
        let one = Rows::open(&file).await.unwrap();
        let mut heard = one.signals();
        assert!(!one.is_shared());
        one.push(Job::new("run 1", "a", "{}")).await.unwrap();
        assert_eq!(next(&mut heard).await, Signal::Queued);

        let other = Rows::open(&file).await.unwrap();
        // It begins when the first one knows of it.
        assert!(one.is_shared() && other.is_shared());
        assert_eq!(next(&mut heard).await, Signal::Lost);
        let claim = other
            .claim("other", Duration::from_secs(30), After::START)
            .await;
        let claim = claim.unwrap().unwrap();
        let begun = Instant::now();
        assert!(
            other
                .finish(&claim, RunEnd::Status("success"), None)
                .await
                .unwrap()
        );
        let ended = Signal::Ended {
            run: "run 1".to_owned(),
            thread: "a".to_owned(),
        };
        assert_eq!(next(&mut heard).await, ended);
        assert!(begun.elapsed() < Duration::from_secs(1));

        drop(other);
        until(&one, false).await;
        let signals = |sql: &str| -> i64 {
            let connection = Connection::open(&file).unwrap();
            connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        let before = signals(NEWEST);
        assert!(before > 0);
        one.push(Job::new("run 2", "a", "{}")).await.unwrap();
        assert_eq!(signals(NEWEST), before);
    }

    #[tokio::test]
    async fn l3_a_process_that_was_killed_is_forgotten_and_one_that_is_behind_looks_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rows.db");
        let rows = Rows::open(&file).await.unwrap();
        let mut heard = rows.signals();
        let other = Connection::open(&file).unwrap();
        other.busy_timeout(Duration::from_secs(10)).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (host, _) = this_process().rsplit_once('/').unwrap();
        let (host, _) = host.rsplit_once('/').unwrap();
        let gone = format!("{host}/{}/1/x", child.id());
        child.wait().unwrap();
        // First one of whom nothing is known.
        let add = "INSERT INTO served_processes VALUES (?1)";
        other.execute(add, ["elsewhere/1/1/x"]).unwrap();
        other.execute(add, [&gone]).unwrap();
        until(&rows, true).await;
        assert_eq!(next(&mut heard).await, Signal::Lost);
        let events = || Signal::Events {
            run: "run 1".to_owned(),
            thread: "a".to_owned(),
        };
        let tell = "INSERT INTO served_signals VALUES (?1, 'x', 'events:run 1:a')";
        other.execute(tell, [1]).unwrap();
        assert_eq!(next(&mut heard).await, events());
        other.execute(tell, [3 * KEPT]).unwrap();
        assert_eq!(next(&mut heard).await, Signal::Lost);
        assert_eq!(next(&mut heard).await, events());
        // The one that is gone goes first, and the signals of long ago with it.
        let names = "SELECT group_concat(name) FROM served_processes WHERE name LIKE '%/x'";
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            let left: String = other.query_row(names, [], |row| row.get(0)).unwrap();
            let oldest: i64 = other.query_row(OLDEST, [], |row| row.get(0)).unwrap();
            if left == "elsewhere/1/1/x" && oldest == 3 * KEPT {
                other
                    .execute("DELETE FROM served_processes WHERE name LIKE '%/x'", [])
                    .unwrap();
                return until(&rows, false).await;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the process is still listed");
    }
}
