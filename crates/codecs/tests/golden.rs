//! Threads that an earlier version has stored as `MessagePack`.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Formats};
use langgraph_codecs::MessagePack;
use langgraph_tests::golden::{check, folder, restore};

#[tokio::test]
async fn a_log_in_messagepack_is_read_and_gone_on_with() {
    let rows = std::fs::read_to_string(folder().join("messagepack.jsonl")).unwrap();
    let saver = restore(&rows, Formats::new(MessagePack)).unwrap();
    let saver: Arc<dyn Checkpointer> = Arc::new(saver);
    check(&saver).await.unwrap();
}
