//! The calls of a graph and of its threads, with each state that test programs share.

use langgraph_tests::fixtures::engines::walks;

#[tokio::test]
async fn a_thread_runs_and_is_read_changed_copied_and_removed_whatever_its_state() {
    for walk in walks() {
        walk.await.unwrap();
    }
}
