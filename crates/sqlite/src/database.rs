//! A database file: opening, writing and reading.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use langgraph_core::environment;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::SqliteError;
use crate::files::Files;
use crate::migrate::migrate;
use crate::reader::Readers;
use crate::writer::Writer;

/// When a write counts as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Synchronous {
    /// When the disk has it: no failure loses an acknowledged write, except for [passing](Database::write_passing)
    /// ones. Those are the leases of threads, since a loss of power ends the processes that hold them.
    #[default]
    Full,
    /// When the operating system has it. A crash of the program loses nothing; a power failure may
    /// undo the last writes. The file is never damaged. Single writes are several times faster.
    Normal,
}

/// The options of a database.
///
/// # Examples
///
/// ```
/// use langgraph_sqlite::{Database, Options, Synchronous};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("memory.db");
/// let database = Database::open_with(path, Options::default().synchronous(Synchronous::Normal))?;
/// # drop(database);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    synchronous: Synchronous,
    busy_timeout: Duration,
    readers: usize,
    group: usize,
    mapped: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::default(),
            busy_timeout: Duration::from_secs(10),
            readers: 2,
            group: 256,
            mapped: 0,
        }
    }
}

impl Options {
    /// Sets when a write counts as stored; the default is [`Synchronous::Full`].
    #[must_use]
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Limits the wait while another process writes; the default is 10 seconds.
    #[must_use]
    pub fn busy_timeout(mut self, limit: Duration) -> Self {
        self.busy_timeout = limit;
        self
    }

    /// Sets the number of reading connections; the default is 2, and the minimum 1.
    #[must_use]
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers.max(1);
        self
    }

    /// Maps this many bytes of the file into memory, so that reads need no copy; the default is
    /// none. Long threads then load faster. But if the disk fails or is removed during such a read,
    /// the program ends (`SIGBUS`) instead of returning an error.
    #[must_use]
    pub fn mapped(mut self, bytes: u32) -> Self {
        self.mapped = bytes;
        self
    }

    /// Limits the number of queued writes in one transaction; the default is 256, and the minimum
    /// 1.
    #[must_use]
    pub fn group(mut self, writes: usize) -> Self {
        self.group = writes.max(1);
        self
    }
}

/// A SQLite database with the tables of this crate. Cheap to clone: clones share the database.
///
/// One thread writes: writes of several tasks at the same time form one transaction with one wait
/// for the disk. While commits take less than 200 µs, as on a file system in memory or with
/// [`Synchronous::Normal`], small writes that meet no other run on the thread of their caller
/// instead, which spares two wake-ups of threads. A few threads read, each on a snapshot; reads of a few rows run on the
/// thread of their caller, too. The file is in WAL mode, so readers and the writer do not wait for each other; other
/// processes can open it too.
///
/// Dropping the last clone first writes what is in the queue. It waits for that, and for reads that
/// are under way, and moves the write-ahead log into the file: afterwards, the file alone is the
/// database.
///
/// Do not delete, rename or replace the files of an open database. A read or write that finds other
/// files in their place fails with [`SqliteError::Moved`]; nothing is acknowledged that went into a
/// file without a name. To restore a backup, close the database first.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

struct Inner {
    /// `None`: in memory.
    path: Option<PathBuf>,
    /// `None` for a database in memory, which lives in one connection, and in a simulation. Dropped before the writer:
    /// the last connection to close moves the log into the file.
    readers: Option<Readers>,
    writer: Writer,
}

impl Database {
    /// Opens the file, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, belongs to another program, or was written by a later version of
    /// this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        Self::open_with(path, Options::default())
    }

    /// As [`open`](Self::open), with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    #[allow(clippy::needless_pass_by_value)] // reads better where it is written in place
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, SqliteError> {
        Self::open_file(path.as_ref(), &options)
    }

    /// Not generic: a program that opens a file has no code of SQLite's functions in its own.
    fn open_file(path: &Path, options: &Options) -> Result<Self, SqliteError> {
        let failed = |error: rusqlite::Error| SqliteError::Open {
            path: path.to_owned(),
            source: Box::new(error),
        };
        let mut connection = Connection::open(path).map_err(failed)?;
        configure(&connection, options).map_err(failed)?;
        migrate(&mut connection, path)?;
        // After the migration: the mode stays with the file, which may belong to another program.
        let mode: String = connection
            .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
            .map_err(failed)?;
        if !mode.eq_ignore_ascii_case("wal") {
            return Err(SqliteError::Open {
                path: path.to_owned(),
                source: format!("the file system does not support WAL (mode `{mode}`)").into(),
            });
        }
        let started = |error: std::io::Error| SqliteError::Open {
            path: path.to_owned(),
            source: Box::new(error),
        };
        let reader = || {
            let reader = Connection::open(path).map_err(failed)?;
            configure(&reader, options).map_err(failed)?;
            reader
                .pragma_update(None, "query_only", true)
                .and_then(|()| reader.pragma_update(None, "mmap_size", options.mapped))
                .map_err(failed)?;
            Ok::<_, SqliteError>(reader)
        };
        let start = |files: &Files| {
            let readers = (0..options.readers).map(|_| reader());
            let readers: Vec<_> = readers.collect::<Result<_, _>>()?;
            Readers::start(readers, reader()?, files).map_err(started)
        };
        // A read opens the write-ahead log, so that it is there to be looked at.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
            .map_err(failed)?;
        let files = Files::of(path);
        // The thread of a simulation reads by its only connection.
        let is_simulated = environment::process() != 0;
        let readers = (!is_simulated).then(|| start(&files)).transpose()?;
        Ok(Self {
            inner: Arc::new(Inner {
                path: Some(path.to_owned()),
                readers,
                writer: Writer::start(connection, options.group, options.busy_timeout, Some(files))
                    .map_err(started)?,
            }),
        })
    }

    /// Creates a database in memory, which ends with its last clone: for tests.
    ///
    /// # Errors
    ///
    /// If its thread cannot be started.
    pub fn in_memory() -> Result<Self, SqliteError> {
        let path = Path::new(":memory:");
        let mut connection = Connection::open_in_memory()?;
        let options = Options::default();
        configure(&connection, &options)?;
        migrate(&mut connection, path)?;
        let writer = Writer::start(connection, options.group, options.busy_timeout, None);
        Ok(Self {
            inner: Arc::new(Inner {
                path: None,
                readers: None,
                writer: writer.map_err(|error| SqliteError::Open {
                    path: path.to_owned(),
                    source: Box::new(error),
                })?,
            }),
        })
    }

    /// Returns the file, or `None` for a database in memory.
    pub fn path(&self) -> Option<&Path> {
        self.inner.path.as_deref()
    }

    /// Runs `job` on the writing thread, in a transaction that it may share with others.
    ///
    /// Its changes are kept if it returns `Ok`, and undone if it returns `Err`. The result arrives
    /// after the commit. The job must not begin or end transactions itself, nor hold a
    /// [`Database`]. Dropping the future does not stop a job in the queue.
    ///
    /// # Errors
    ///
    /// What the job returns, or why its transaction failed.
    ///
    /// # Examples
    ///
    /// Tables of a program beside those of its threads: what is written to both at the same time waits once for the
    /// disk.
    ///
    /// ```
    /// use langgraph_sqlite::{Database, SqliteError, rusqlite::Connection};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), SqliteError> {
    /// let database = Database::in_memory()?;
    /// let create = |connection: &Connection| {
    ///     Ok::<_, SqliteError>(connection.execute_batch("CREATE TABLE orders (id TEXT PRIMARY KEY)")?)
    /// };
    /// database.write(create).await?;
    /// let count = |connection: &Connection| {
    ///     Ok::<i64, SqliteError>(connection.query_row("SELECT count(*) FROM orders", [], |row| row.get(0))?)
    /// };
    /// assert_eq!(database.read(count).await?, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.inner.writer.run(job).await
    }

    /// As [`write`](Self::write), for a job that takes about as long as a commit on a fast disk:
    /// while commits are that fast, it runs on the thread of the caller.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    pub async fn write_short<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.inner.writer.run_short(job).await
    }

    /// As [`write_short`](Self::write_short), for a job that a loss of power may undo, until a write that waits for the
    /// disk has followed: this one does not wait, unless it shares the transaction of one that does.
    ///
    /// # Errors
    ///
    /// As [`write`](Self::write).
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph_sqlite::{Database, SqliteError, rusqlite::Connection};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), SqliteError> {
    /// let database = Database::in_memory()?;
    /// let run = |sql: &'static str| {
    ///     move |connection: &Connection| Ok::<_, SqliteError>(connection.execute_batch(sql)?)
    /// };
    /// database.write(run("CREATE TABLE work (worker TEXT)")).await?;
    /// database.write_passing(run("INSERT INTO work VALUES ('Ada')")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_passing<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        self.inner.writer.run_passing(job).await
    }

    /// Runs `job` on a snapshot of the database, which includes everything committed before the
    /// call. It writes nothing.
    ///
    /// # Errors
    ///
    /// What the job returns, or why the snapshot failed.
    pub async fn read<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        match &self.inner.readers {
            Some(readers) if environment::process() == 0 => readers.run(job).await,
            // A database in memory has one connection, and the thread of a simulation needs one.
            _ => self.inner.writer.run(job).await,
        }
    }

    /// As [`read`](Self::read), for a job that finds a few rows by their keys: while such reads are quick, it runs on
    /// the thread of the caller.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub async fn read_short<T, E>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<SqliteError> + Send + 'static,
    {
        match &self.inner.readers {
            Some(readers) if environment::process() == 0 => readers.run_short(job).await,
            _ => self.inner.writer.run_short(job).await,
        }
    }
}

fn configure(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    connection.busy_timeout(options.busy_timeout)?;
    // All statements of a server too: one that has to be parsed again takes as long as its work.
    connection.set_prepared_statement_cache_capacity(256);
    // Otherwise a plan depends on the values of its parameters, so that SQLite plans a statement anew at each call.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    let synchronous = match options.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("path", &self.inner.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(connection: &Connection) -> Result<i64, SqliteError> {
        Ok(connection.query_row("SELECT count(*) FROM n", [], |row| row.get(0))?)
    }

    async fn table(database: &Database) {
        let made = database.write(|connection| -> Result<(), SqliteError> {
            Ok(connection.execute_batch("CREATE TABLE n (n INTEGER UNIQUE) STRICT")?)
        });
        made.await.unwrap();
    }

    async fn insert(database: &Database, n: i64) -> Result<(), SqliteError> {
        let job = move |connection: &Connection| -> Result<(), SqliteError> {
            connection.execute("INSERT INTO n VALUES (?1)", [n])?;
            Ok(())
        };
        database.write(job).await
    }

    fn both() -> (tempfile::TempDir, [Database; 2]) {
        let folder = tempfile::tempdir().unwrap();
        let file = Database::open(folder.path().join("test.db")).unwrap();
        (folder, [file, Database::in_memory().unwrap()])
    }

    #[tokio::test]
    async fn leases_do_not_wait_for_the_disk_and_what_follows_them_does() {
        use langgraph_core::checkpoint::Leases;

        let (_folder, [database, _]) = both();
        let saver = crate::SqliteSaver::new(database.clone());
        let level = || database.inner.writer.level();
        let term = Duration::from_secs(30);
        assert!(saver.lease("t", "me", term).await.unwrap().is_none());
        assert_eq!(level(), 1);
        table(&database).await;
        assert_eq!(level(), 2);
        assert!(saver.renew("t", "me", term).await.unwrap());
        assert_eq!(level(), 1);
        insert(&database, 1).await.unwrap();
        assert_eq!(level(), 2);
        saver.release("t", "me").await.unwrap();
        assert_eq!(level(), 1);
    }

    #[tokio::test]
    async fn what_a_failed_job_did_is_undone_and_the_others_of_its_group_are_kept() {
        let (_folder, databases) = both();
        for database in databases {
            table(&database).await;
            let writes = (0..100).map(|n| {
                let database = database.clone();
                tokio::spawn(async move {
                    let job = move |connection: &Connection| -> Result<(), SqliteError> {
                        connection.execute("INSERT INTO n VALUES (?1)", [n])?;
                        if n % 2 == 0 {
                            Ok(())
                        } else {
                            Err(SqliteError::Closed)
                        }
                    };
                    database.write(job).await
                })
            });
            for (n, write) in writes.collect::<Vec<_>>().into_iter().enumerate() {
                assert_eq!(write.await.unwrap().is_ok(), n % 2 == 0);
            }
            assert_eq!(database.read(counted).await.unwrap(), 50);
        }
    }

    #[tokio::test]
    async fn a_panic_in_a_job_is_an_error_and_the_next_one_runs() {
        let (_folder, databases) = both();
        for database in databases {
            table(&database).await;
            let job = |connection: &Connection| -> Result<(), SqliteError> {
                connection.execute("INSERT INTO n VALUES (1)", [])?;
                panic!("on purpose")
            };
            let error = database.write(job).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                "a job of the database panicked: on purpose"
            );
            let job = |_: &Connection| -> Result<(), SqliteError> { panic!("while reading") };
            let error = database.read(job).await.unwrap_err();
            assert!(matches!(error, SqliteError::Panicked(_)), "{error}");
            insert(&database, 1).await.unwrap();
            assert_eq!(database.read(counted).await.unwrap(), 1);
        }
    }

    #[tokio::test]
    async fn a_statement_is_planned_once_whatever_its_parameters_are() {
        let (_folder, databases) = both();
        for database in databases {
            let job = |connection: &Connection| -> Result<i32, SqliteError> {
                let sql = "SELECT id FROM thread_logs WHERE thread = ?1 ORDER BY namespace";
                for thread in ["one", "two", "three"] {
                    connection.prepare_cached(sql)?.exists([thread])?;
                }
                let statement = connection.prepare_cached(sql)?;
                Ok(statement.get_status(rusqlite::StatementStatus::RePrepare))
            };
            assert_eq!(database.write(job).await.unwrap(), 0);
            assert_eq!(database.read(job).await.unwrap(), 0);
        }
    }

    #[tokio::test]
    async fn quick_reads_run_on_the_thread_of_their_caller_and_see_what_is_committed() {
        let (_folder, databases) = both();
        for database in databases {
            table(&database).await;
            let mut here = 0;
            for n in 0..1_000 {
                insert(&database, n).await.unwrap();
                let job = |connection: &Connection| {
                    Ok::<_, SqliteError>((counted(connection)?, std::thread::current().id()))
                };
                let (count, thread) = database.read_short(job).await.unwrap();
                assert_eq!(count, n + 1);
                here += u32::from(thread == std::thread::current().id());
            }
            assert!(here > 100, "{here}");
        }
    }

    #[tokio::test]
    async fn dropping_the_database_writes_what_is_in_the_queue() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let database = Database::open(&path).unwrap();
        table(&database).await;
        for n in 0..500 {
            let mut write = Box::pin(insert(&database, n));
            // After a poll it is in the queue; no caller waits for it.
            assert!(futures_util::poll!(&mut write).is_pending());
        }
        drop(database);
        let database = Database::open(&path).unwrap();
        assert_eq!(database.read(counted).await.unwrap(), 500);
    }

    #[tokio::test]
    async fn a_transaction_that_sqlite_gives_up_is_reported_to_all_of_its_group() {
        let database = Database::in_memory().unwrap();
        table(&database).await;
        // The writer is held until all have asked.
        let (held, waits) = std::sync::mpsc::channel::<()>();
        let slow = move |_: &Connection| -> Result<(), SqliteError> {
            let _ = waits.recv_timeout(Duration::from_secs(10));
            Ok(())
        };
        insert(&database, 1).await.unwrap();
        let mut waiting = Box::pin(database.write(slow));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let before = insert(&database, 2);
        let breaks = database.write(|connection: &Connection| -> Result<(), SqliteError> {
            Ok(connection.execute_batch("INSERT OR ROLLBACK INTO n VALUES (1)")?)
        });
        let after = insert(&database, 3);
        let mut all = Box::pin(async { tokio::join!(before, breaks, after) });
        assert!(futures_util::poll!(&mut all).is_pending());
        drop(held);
        let (before, breaks, after) = all.await;
        assert!(
            matches!(before, Err(SqliteError::RolledBack(_))),
            "{before:?}"
        );
        assert!(matches!(breaks, Err(SqliteError::Sqlite(_))), "{breaks:?}");
        after.unwrap();
    }

    #[tokio::test]
    async fn two_databases_on_one_file_wait_for_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let one = Database::open(&path).unwrap();
        table(&one).await;
        let two = Database::open(&path).unwrap();
        let writes = (0..40).map(|n| insert(if n % 2 == 0 { &one } else { &two }, n));
        for result in futures_util::future::join_all(writes).await {
            result.unwrap();
        }
        assert_eq!(two.read(counted).await.unwrap(), 40);
        let short = Options::default().busy_timeout(Duration::from_millis(20));
        let three = Database::open_with(&path, short).unwrap();
        let slow = |_: &Connection| -> Result<(), SqliteError> {
            std::thread::sleep(Duration::from_millis(500));
            Ok(())
        };
        let mut slow = Box::pin(one.write(slow));
        assert!(futures_util::poll!(&mut slow).is_pending());
        tokio::time::sleep(Duration::from_millis(100)).await;
        let error = insert(&three, 100).await.unwrap_err();
        assert!(matches!(error, SqliteError::Busy), "{error}");
    }

    /// Inserts one, and says whether that was acknowledged.
    async fn acknowledged(database: &Database, n: i64) -> bool {
        match insert(database, n).await {
            Ok(()) => true,
            Err(SqliteError::Moved(_)) => false,
            Err(error) => panic!("{error}"),
        }
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_file_that_is_deleted_or_replaced_is_noticed_before_a_write_is_acknowledged() {
        type Change = fn(&Path, &Path);
        let changes: [(&str, Change, bool); 4] = [
            ("", |file, _| std::fs::remove_file(file).unwrap(), false),
            ("-wal", |file, _| std::fs::remove_file(file).unwrap(), false),
            (
                "",
                |file, other| std::fs::rename(other, file).unwrap(),
                false,
            ),
            // There and back again: it is the same file.
            (
                "",
                |file, _| {
                    std::fs::rename(file, file.with_extension("x")).unwrap();
                    std::fs::rename(file.with_extension("x"), file).unwrap();
                },
                true,
            ),
        ];
        for (suffix, change, same) in changes {
            let folder = tempfile::tempdir().unwrap();
            let [path, other] = ["test.db", "other.db"].map(|name| folder.path().join(name));
            let database = Database::open(&path).unwrap();
            table(&database).await;
            assert!(acknowledged(&database, 1).await);
            drop(Database::open(&other).unwrap());
            let mut file = path.clone().into_os_string();
            file.push(suffix);
            change(Path::new(&file), &other);
            assert_eq!(acknowledged(&database, 2).await, same, "{suffix}");
            let read = database.read(counted).await;
            match read {
                Ok(2) if same => {}
                Err(SqliteError::Moved(moved)) if !same => assert_eq!(moved, Path::new(&file)),
                other => panic!("{suffix}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn dropping_the_database_waits_for_reads_and_leaves_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let database = Database::open(&path).unwrap();
        table(&database).await;
        insert(&database, 1).await.unwrap();
        let (begun, begins) = std::sync::mpsc::channel();
        let (ended, ends) = std::sync::mpsc::channel();
        let mut slow = Box::pin(database.read(move |connection| {
            begun.send(()).unwrap();
            let before = counted(connection)?;
            std::thread::sleep(Duration::from_millis(200));
            ended.send(before).unwrap();
            Ok::<_, SqliteError>(before)
        }));
        assert!(futures_util::poll!(&mut slow).is_pending());
        begins.recv().unwrap();
        drop(slow);
        drop(database);
        // The read was over before.
        assert_eq!(ends.try_recv(), Ok(1));
        let files = std::fs::read_dir(folder.path()).unwrap();
        let names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        assert_eq!(names, ["test.db"]);
    }

    #[tokio::test]
    async fn a_full_disk_refuses_what_does_not_fit_and_keeps_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let database = Database::open(&path).unwrap();
        table(&database).await;
        let job = |connection: &Connection| -> Result<(), SqliteError> {
            let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let sql = format!("PRAGMA max_page_count = {}", pages + 4);
            connection.query_row(&sql, [], |_| Ok(()))?;
            Ok(())
        };
        database.write(job).await.unwrap();
        let mut stored = 0;
        let mut refused = 0;
        for n in 0..20_000 {
            match insert(&database, n).await {
                Ok(()) => stored += 1,
                Err(error) => {
                    assert!(error.to_string().contains("full"), "{error}");
                    refused += 1;
                }
            }
            if refused > 20 {
                break;
            }
        }
        assert!(stored > 10 && refused > 20, "{stored} {refused}");
        assert_eq!(database.read(counted).await.unwrap(), stored);
        drop(database);
        // There is room again.
        let database = Database::open(&path).unwrap();
        insert(&database, -1).await.unwrap();
        assert_eq!(database.read(counted).await.unwrap(), stored + 1);
    }
}
