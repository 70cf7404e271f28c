//! Where a server stores what it has, and how that is kept and opened again.

use std::path::{Path, PathBuf};
use std::process::Command;

use langgraph_postgres::{Database, Options};
use langgraph_server::Server;
use rusqlite::Connection;
use tokio_postgres::NoTls;

use crate::Fallible;

/// The schema whose dump is kept. Wherever a dump has this word, it means the schema.
const SCHEMA: &str = "upgrade_kept";

/// The level of the compression, which takes a moment and is done once.
const LEVEL: i32 = 19;

/// The databases.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A file of SQLite.
    Sqlite,
    /// A schema of the PostgreSQL server that `DATABASE_URL` names.
    Postgres,
}

impl Kind {
    /// The name of the file with what the database held.
    fn dump(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite.db.zst",
            Self::Postgres => "postgres.sql.zst",
        }
    }

    /// The name of the file with what clients knew.
    pub(crate) fn known(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite.json",
            Self::Postgres => "postgres.json",
        }
    }
}

/// The database of one server.
#[derive(Debug)]
pub enum Storage {
    /// A file.
    Sqlite(PathBuf),
    /// A schema.
    Postgres(String),
}

impl Storage {
    /// Reads an argument of the command line, which names the storage of a process.
    pub fn parse(argument: &str) -> Fallible<Self> {
        match argument.split_once(':') {
            Some(("sqlite", path)) => Ok(Self::Sqlite(path.into())),
            Some(("postgres", schema)) => Ok(Self::Postgres(schema.to_owned())),
            _ => Err(format!("`{argument}` names no storage").into()),
        }
    }

    pub(crate) fn argument(&self) -> String {
        match self {
            Self::Sqlite(path) => format!("sqlite:{}", path.display()),
            Self::Postgres(schema) => format!("postgres:{schema}"),
        }
    }

    /// An empty one, in which a release stores what is kept.
    pub(crate) async fn empty(kind: Kind, folder: &Path) -> Fallible<Self> {
        let storage = match kind {
            Kind::Sqlite => Self::Sqlite(folder.join("kept.db")),
            Kind::Postgres => Self::Postgres(SCHEMA.to_owned()),
        };
        storage.remove().await?;
        Ok(storage)
    }

    /// A copy of what a release has kept: in the folder, or in a schema of this name.
    pub async fn copy(release: &Path, kind: Kind, folder: &Path, schema: &str) -> Fallible<Self> {
        let dump = std::fs::read(release.join(kind.dump()))?;
        let dump = zstd::decode_all(&*dump)?;
        match kind {
            Kind::Sqlite => {
                let file = folder.join("copy.db");
                std::fs::write(&file, dump)?;
                Ok(Self::Sqlite(file))
            }
            Kind::Postgres => {
                let sql = String::from_utf8(dump)?.replace(SCHEMA, schema);
                execute(&sql).await?;
                Ok(Self::Postgres(schema.to_owned()))
            }
        }
    }

    /// A server over it.
    pub async fn server(&self) -> Fallible<Server> {
        Ok(match self {
            Self::Sqlite(path) => Server::new().file(path),
            Self::Postgres(schema) => {
                let options = Options::default().schema(schema).max_connections(8);
                Server::new().postgres(Database::connect_with(&url()?, options).await?)
            }
        })
    }

    /// Writes what it holds into the folder of a release.
    pub(crate) fn dump(&self, release: &Path) -> Fallible<()> {
        let (kind, dump) = match self {
            Self::Sqlite(path) => (Kind::Sqlite, vacuumed(path)?),
            Self::Postgres(schema) => (Kind::Postgres, dumped(schema)?),
        };
        let dump = zstd::encode_all(&*dump, LEVEL)?;
        Ok(std::fs::write(release.join(kind.dump()), dump)?)
    }

    /// Removes a schema. A file goes with its folder.
    pub async fn remove(&self) -> Fallible<()> {
        if let Self::Postgres(schema) = self {
            let sql = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
            execute(&sql).await?;
        }
        Ok(())
    }
}

/// The bytes of a file without free pages, and with what is in its write-ahead log.
fn vacuumed(path: &Path) -> Fallible<Vec<u8>> {
    let small = path.with_extension("small");
    let text = small.to_str().ok_or("a folder whose name is no text")?;
    Connection::open(path)?.execute("VACUUM INTO ?1", [text])?;
    Ok(std::fs::read(small)?)
}

/// The statements that make a schema again.
fn dumped(schema: &str) -> Fallible<Vec<u8>> {
    let dump = Command::new("pg_dump")
        .args([
            "--inserts",
            "--rows-per-insert=100",
            "--no-owner",
            "--no-privileges",
        ])
        .args(["--no-comments", "--schema", schema, "--dbname", &url()?])
        .output()
        .map_err(|error| format!("failed to start `pg_dump`: {error}"))?;
    if !dump.status.success() {
        return Err(String::from_utf8_lossy(&dump.stderr).into());
    }
    let sql = String::from_utf8(dump.stdout)?;
    // Commands to `psql`, comments, and settings that an older server may not have.
    let left_out = ["\\", "--", "SET "];
    let lines = sql
        .lines()
        .filter(|line| !line.is_empty() && !left_out.iter().any(|start| line.starts_with(start)));
    Ok(lines
        .flat_map(|line| [line, "\n"])
        .collect::<String>()
        .into())
}

fn url() -> Fallible<String> {
    std::env::var("DATABASE_URL")
        .map_err(|_| "needs PostgreSQL: run it with tests/servers.sh".into())
}

/// Sends statements to the server.
async fn execute(sql: &str) -> Fallible<()> {
    let (client, connection) = tokio_postgres::connect(&url()?, NoTls).await?;
    tokio::spawn(connection);
    let done = client.batch_execute(sql).await;
    done.map_err(|error| match error.as_db_error() {
        Some(error) => error.to_string().into(),
        None => error.into(),
    })
}
