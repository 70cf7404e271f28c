//! Every row of remote nodes, inside one process. Crates with a transport run the same body.

#[path = "../rows/mod.rs"]
mod rows;

use std::sync::Arc;

use langgraph_remote::LocalNetwork;

#[tokio::test]
async fn every_row_holds_inside_a_process() {
    let log = Arc::default();
    let network = LocalNetwork::new();
    network.register("worker", rows::worker(&log));
    network.register("mail", rows::mail());
    rows::hold(Arc::new(network), &log).await;
}
