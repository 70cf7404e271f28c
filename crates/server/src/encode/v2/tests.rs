//! What is open at the end of a run.

use langgraph::message::MessageChunk;

use super::*;
use crate::stream::StreamEvent;

#[test]
fn messages_that_the_end_of_a_run_finishes_have_the_same_numbers_each_time() {
    let channels: Channels =
        serde_json::from_value(json!({"channels": ["messages"], "depth": 9})).unwrap();
    let mut encoder = V2::new("run", "graph", 0, channels, -1);
    let namespaces: Vec<String> = (0..9).map(|number| format!("part:{number}")).collect();
    for namespace in &namespaces {
        let chunk = StreamEvent::new(StreamEventKind::MessageChunk {
            id: namespace.clone(),
            chunk: MessageChunk::text("hi"),
            metadata: json!({}),
        });
        encoder.encode(&chunk.at(vec![namespace.clone()], 1));
    }
    let ended = encoder.encode(&StreamEvent::ended(EndStatus::Failed, None));
    let finished: Vec<String> = ended
        .iter()
        .map(ToString::to_string)
        .filter(|frame| frame.contains("message-finish"))
        .collect();
    assert_eq!(finished.len(), namespaces.len());
    for (frame, namespace) in finished.iter().zip(&namespaces) {
        assert!(frame.contains(namespace.as_str()), "{namespace}: {frame}");
    }
}
