//! Every saver that needs no server is held to the suite of the library.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, MemorySaver};
use langgraph_conformance::checkpoint;
use langgraph_tests::ByteSaver;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e1_the_saver_in_memory_does_what_a_saver_has_to() {
    let report =
        checkpoint::run(async || Ok(Arc::new(MemorySaver::new()) as Arc<dyn Checkpointer>));
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.is_empty(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_saver_of_bytes_does_what_a_saver_has_to() {
    let report =
        checkpoint::run(async || Ok(Arc::new(ByteSaver::default()) as Arc<dyn Checkpointer>));
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.is_empty(), "{report}");
}
