//! Threads that earlier versions have stored as JSON, and the fingerprints of their graphs.

use langgraph::checkpoint::Formats;
use langgraph_tests::golden::{World, check_rows, order, road};

#[tokio::test]
async fn logs_in_json_are_read_and_gone_on_with() {
    for name in ["json-1.jsonl", "json.jsonl"] {
        check_rows(name, Formats::default()).await.unwrap();
    }
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
