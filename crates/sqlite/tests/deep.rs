//! Deep agents whose threads are in SQLite: what the tests of `langgraph-deep` say of a saver that keeps bytes.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

#[path = "../../deep/tests/deep/recovery.rs"]
mod recovery;
#[path = "../../deep/tests/deep/storage.rs"]
mod storage;
#[allow(dead_code)] // what only other tests of `langgraph-deep` need
#[path = "../../deep/tests/deep/support.rs"]
mod support;

fn saver() -> langgraph_sqlite::SqliteSaver {
    langgraph_sqlite::SqliteSaver::in_memory().unwrap()
}
