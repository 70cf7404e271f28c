//! Embeddings.

use langgraph_store::{Embedder, MemoryStore, StoreExt, StoreOptions};
use serde_json::{Value, json};

use super::support::{Answer, Server};

fn embeddings(places: impl IntoIterator<Item = u16>) -> Answer {
    let data = places.into_iter().map(|index| {
        let vector = [f32::from(index) + 1.0, 0.5];
        json!({"object": "embedding", "index": index, "embedding": vector})
    });
    let data: Vec<Value> = data.collect();
    let usage = json!({"prompt_tokens": 1, "total_tokens": 1});
    let body = json!({"object": "list", "model": "test-model", "data": data, "usage": usage});
    Answer::json("200 OK", &body)
}

#[tokio::test]
async fn texts_are_embedded_some_at_a_time_and_come_back_in_their_order() {
    let server = Server::start([embeddings((0..64).rev()), embeddings(0..6)]).await;
    let embedder = server.openai().embedder(2).unwrap();
    let texts: Vec<String> = (0..70).map(|n| format!("text {n}")).collect();
    let vectors = embedder.embed(&texts).await.unwrap();
    let firsts: Vec<f32> = vectors.iter().map(|vector| vector[0]).collect();
    let expected = (1..=64_u16).chain(1..=6).map(f32::from);
    assert_eq!(firsts, expected.collect::<Vec<f32>>());
    let requests = server.requests();
    assert_eq!(requests[0]["input"], json!(texts[..64]));
    assert_eq!(requests[1]["input"], json!(texts[64..]));
}

#[tokio::test]
async fn an_embedder_that_is_refused_says_why() {
    let body = json!({"error": {"message": "no such model", "type": "invalid_request_error"}});
    let server = Server::start([Answer::json("404 Not Found", &body), embeddings([0])]).await;
    let store = StoreOptions::default().embedder(server.openai().embedder(2).unwrap());
    let store = MemoryStore::with(store);
    let error = store.put(["a"], "k", "text").await.unwrap_err().to_string();
    assert!(error.starts_with("the embedder failed: "), "{error}");
    assert!(error.contains("no such model"), "{error}");

    let embedder = server.openai().embedder(2).unwrap();
    let texts = ["one".to_owned(), "two".to_owned()];
    let error = embedder.embed(&texts).await.unwrap_err().to_string();
    assert_eq!(error, "the provider gave 1 vectors for 2 texts");
}
