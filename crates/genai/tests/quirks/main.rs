//! What genai leaves open and this crate closes, against recorded answers of providers.
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod calls;
mod embeddings;
mod failures;
#[path = "../../../../examples/tests/listed/mod.rs"]
mod listed;
mod requests;
mod streams;
#[path = "../support/mod.rs"]
mod support;

use std::pin::Pin;

use futures_core::Stream;
use langgraph::message::{Message, MessageAccumulator, MessageChunk};
use langgraph_agent::{ChatModel, ChatRequest, ModelError};
use langgraph_genai::GenaiModel;
use support::{Answer, Server};

#[tokio::test(flavor = "multi_thread")]
async fn i2_every_listed_command_runs() {
    let server = Server::start([Answer::events(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"It is "}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"noon."},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ])])
    .await;
    let run = move || {
        let [resilient] = &listed::of_package("langgraph-genai")[..] else {
            panic!("expected one example");
        };
        resilient.run(&[("OPENAI_BASE_URL", &server.address)])
    };
    let printed = tokio::task::spawn_blocking(run).await.unwrap();
    assert!(
        printed.ends_with("0 tool calls: It is noon.\n"),
        "{printed}"
    );
}

pub(crate) fn hi() -> ChatRequest {
    ChatRequest::new(vec![Message::user("hi")])
}

/// What a stream gives, and the error that ends it.
pub(crate) async fn collect(model: &GenaiModel) -> (Vec<MessageChunk>, Option<ModelError>) {
    let mut stream = model.stream(hi());
    let mut chunks = Vec::new();
    while let Some(item) = next(&mut stream).await {
        match item {
            Ok(chunk) => chunks.push(chunk),
            Err(error) => {
                assert!(
                    next(&mut stream).await.is_none(),
                    "the first error is the end"
                );
                return (chunks, Some(error));
            }
        }
    }
    (chunks, None)
}

pub(crate) async fn next<S: Stream + ?Sized>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await
}

pub(crate) fn message(chunks: &[MessageChunk]) -> Message {
    let mut whole = MessageAccumulator::new();
    for chunk in chunks {
        whole.push(chunk.clone());
    }
    whole.finish()
}

pub(crate) const TEXT: [&str; 4] = [
    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"lo"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#,
];
