//! Threads that an earlier version has stored in a file.

use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph_sqlite::SqliteSaver;
use langgraph_tests::golden::{check, folder};

#[tokio::test]
async fn a_file_of_an_earlier_version_is_read_and_gone_on_with() {
    // Of schema 3 and 4, each written by the code of its time.
    for name in ["sqlite.db", "sqlite-4.db"] {
        let copies = tempfile::tempdir().unwrap();
        let copy = copies.path().join(name);
        std::fs::copy(folder().join(name), &copy).unwrap();
        let saver: Arc<dyn Checkpointer> = Arc::new(SqliteSaver::open(&copy).unwrap());
        check(&saver).await.unwrap();
    }
}
