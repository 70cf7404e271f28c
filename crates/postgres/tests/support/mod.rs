//! Databases for the tests.

#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use langgraph_postgres::{Database, Options};

/// Where the server is.
pub(crate) fn url() -> String {
    std::env::var("DATABASE_URL").expect(
        "these tests need a PostgreSQL server: run `tests/servers.sh cargo test -p langgraph-postgres`, which starts one, or set DATABASE_URL",
    )
}

/// A schema of a test's own, which is gone when this is dropped.
pub(crate) struct Schema(String);

#[allow(dead_code)] // not every test file uses all of it
impl Schema {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let (process, now) = (std::process::id(), now.as_micros());
        Self(format!("test_{process}_{now}_{count}"))
    }

    pub(crate) async fn connect(&self) -> Database {
        Database::connect_with(&url(), self.options())
            .await
            .unwrap()
    }

    pub(crate) fn options(&self) -> Options {
        Options::default().schema(&self.0).max_connections(4)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.0);
        // A thread of its own: the test's runtime is busy, or gone.
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.unwrap().block_on(async {
                let connected = tokio_postgres::connect(&url(), tokio_postgres::NoTls).await;
                let (client, connection) = connected.unwrap();
                tokio::spawn(connection);
                client.batch_execute(&sql).await.unwrap();
            });
        });
        if thread.join().is_err() {
            eprintln!("the schema {} is left over", self.0);
        }
    }
}
