//! Threads that earlier versions have stored as `MessagePack`, compressed, and encrypted.

use langgraph::checkpoint::{Formats, Json};
use langgraph_codecs::{Encrypted, Key, MessagePack, Zstd};
use langgraph_tests::golden::check_rows;

#[tokio::test]
async fn logs_in_messagepack_are_read_and_gone_on_with() {
    for name in ["messagepack-1.jsonl", "messagepack.jsonl"] {
        check_rows(name, Formats::new(MessagePack)).await.unwrap();
    }
}

#[tokio::test]
async fn a_compressed_log_is_read_and_gone_on_with() {
    let formats = Formats::new(Zstd::new(Json));
    check_rows("zstd.jsonl", formats).await.unwrap();
}

#[tokio::test]
async fn an_encrypted_log_is_read_and_gone_on_with() {
    let key = Key::new("golden", &[7; 32]);
    let formats = Formats::new(Encrypted::new(Json, key));
    check_rows("encrypted.jsonl", formats).await.unwrap();
}
