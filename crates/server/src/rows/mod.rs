//! The rows of the server: assistants, threads, runs, events and crons, in SQLite or PostgreSQL.

mod assistants;
mod base;
mod blocking;
mod cells;
mod claims;
mod contained;
mod crons;
mod db;
mod depth;
mod due;
mod ending;
mod error;
mod event_log;
mod lanes;
mod lease_of_thread;
mod listing;
#[cfg(feature = "postgres")]
mod notifier;
mod numbers;
mod outbox;
mod page;
mod peers;
#[cfg(feature = "postgres")]
mod postgres;
mod push;
mod queue;
mod queued_run;
mod removal;
mod renewer;
mod requests;
mod runs;
mod schema;
mod search;
mod settings;
mod shelf;
mod signal_words;
mod sqlite;
mod statement;
mod submission;
mod threads;
mod times;
mod translated;
mod ttl;
mod worker;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::queue::Signal;
use langgraph_sqlite::Database;
use serde_json::Value;
use tokio::sync::broadcast;

pub(crate) use assistants::{Assistant, AssistantOrder, AssistantsOf, system_assistant};
pub(crate) use base::Base;
pub(crate) use blocking::blocking;
use cells::Line;
pub(crate) use contained::contains;
pub(crate) use crons::{Cron, CronOrder, CronsOf};
use db::Db;
pub(crate) use depth::QueueDepth;
pub(crate) use due::DueRun;
pub(crate) use ending::{Ended, RunEnding, ThreadEnd};
pub(crate) use error::RowsError;
pub(crate) use listing::{Listing, Sorted};
pub(crate) use numbers::PER_EVENT;
pub(crate) use page::Found;
use peers::{Peers, Watch};
pub(crate) use queued_run::QueuedRun;
pub(crate) use removal::{Mark, Removal};
pub(crate) use renewer::Renewer;
pub(crate) use requests::KeptSince;
pub(crate) use runs::{Run, runs_in_file};
pub(crate) use search::{ThreadOrder, ThreadsOf};
pub(crate) use shelf::create_file;
use statement::{find, read, sql};
pub(crate) use submission::{Submission, Submitted, ThreadOfJob};
pub(crate) use threads::{ChangedThread, Creation, Thread};
pub(crate) use ttl::{Pruning, Ttl};
pub(crate) use worker::Worker;

pub(crate) type RowsResult<T> = Result<T, RowsError>;

/// How many signals wait for a slow reader. One that misses some looks at everything.
const SIGNALS: usize = 1024;

/// All rows of the server.
pub(crate) struct Rows {
    db: Db,
    signals: broadcast::Sender<Signal>,
    /// The processes on the file.
    peers: Option<Arc<Peers>>,
    /// What notifies those on PostgreSQL.
    #[cfg(feature = "postgres")]
    notifier: Option<notifier::Notifier>,
    file: Option<PathBuf>,
}

impl Rows {
    /// Keeps the rows in a SQLite database. Other processes may have its file too.
    pub(crate) async fn sqlite(database: Database) -> RowsResult<Self> {
        let file = database.path().map(Path::to_owned);
        let mut rows = Self::with(Db::sqlite(database).await?).await?;
        if let Some(file) = file {
            let watch = Watch::open(file.clone()).await?;
            rows.file = Some(file);
            rows.peers = Some(Arc::clone(&watch.peers));
            tokio::spawn(peers::listen(watch, rows.signals.clone()));
        }
        Ok(rows)
    }

    /// Opens a file.
    #[cfg(test)]
    pub(crate) async fn open(path: &Path) -> RowsResult<Self> {
        Self::sqlite(Database::open(path)?).await
    }

    #[cfg(test)]
    pub(crate) async fn in_memory() -> RowsResult<Self> {
        Self::sqlite(Database::in_memory()?).await
    }

    /// Keeps the rows in the schema of a PostgreSQL database.
    #[cfg(feature = "postgres")]
    pub(crate) async fn postgres(database: langgraph_postgres::Database) -> RowsResult<Self> {
        let mut rows = Self::with(Db::Postgres(database.clone())).await?;
        let process = langgraph_core::new_id().simple().to_string();
        let listen = postgres::listen(database.clone(), process.clone(), rows.signals.clone());
        tokio::spawn(listen);
        rows.notifier = Some(notifier::Notifier::start(database, process));
        Ok(rows)
    }

    /// Returns the connections to the database that are in use, and the most there may be; `None` for a file.
    pub(crate) fn pool(&self) -> Option<(usize, usize)> {
        match &self.db {
            #[cfg(feature = "postgres")]
            Db::Postgres(database) => Some(database.connections()),
            Db::Sqlite(_) => None,
        }
    }

    async fn with(db: Db) -> RowsResult<Self> {
        schema::create(&db).await?;
        let signals = broadcast::Sender::new(SIGNALS);
        Ok(Self {
            db,
            signals,
            peers: None,
            #[cfg(feature = "postgres")]
            notifier: None,
            file: None,
        })
    }

    /// Returns true if other processes may have the same rows.
    pub(crate) fn is_shared(&self) -> bool {
        let has_others = self.peers.as_deref().is_some_and(Peers::has_others);
        has_others || self.db.is_shared()
    }
}

/// Writes the entries of `from` over those of `into`.
pub(crate) fn merge(into: &mut Value, from: &Value) {
    if let Value::Object(from) = from {
        if !into.is_object() {
            *into = Value::Object(serde_json::Map::new());
        }
        for (key, value) in from {
            into[key] = value.clone();
        }
    }
}
