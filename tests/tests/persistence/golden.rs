//! Threads that an earlier version has stored as JSON, and the fingerprints of its graphs.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Formats};
use langgraph_tests::golden::{World, check, folder, order, restore, road};

#[tokio::test]
async fn a_log_in_json_is_read_and_gone_on_with() {
    let rows = std::fs::read_to_string(folder().join("json.jsonl")).unwrap();
    let saver: Arc<dyn Checkpointer> = Arc::new(restore(&rows, Formats::default()).unwrap());
    check(&saver).await.unwrap();
}

/// Every checkpoint has one, which shows whether the graph has changed since.
#[test]
fn the_fingerprint_of_a_graph_stays_the_same() {
    let order = order(&World::new(0.0)).unwrap();
    assert_eq!(order.topology().fingerprint(), 9_683_989_585_104_382_054);
    assert_eq!(
        road().unwrap().topology().fingerprint(),
        16_913_494_248_019_022_566
    );
}
