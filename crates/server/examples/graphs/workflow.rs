//! An entrypoint: plain code, whose tasks appear as they run.

use std::error::Error;
use std::time::Duration;

use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, TaskState, entrypoint, task};
use langgraph_server::{GraphHandle, ServedGraph};
use serde_json::json;

#[task]
async fn outline(topic: String) -> Vec<String> {
    tokio::time::sleep(Duration::from_millis(250)).await;
    ["history", "uses"]
        .map(|part| format!("{topic}: {part}"))
        .to_vec()
}

#[task]
async fn chapter(title: String) -> String {
    tokio::time::sleep(Duration::from_millis(250)).await;
    format!("{title}, in a few words.")
}

#[task]
async fn bind(chapters: Vec<String>) -> String {
    tokio::time::sleep(Duration::from_millis(250)).await;
    chapters.join("\n")
}

/// Writes a book, and asks whether it is one.
#[entrypoint]
async fn book(topic: String, cx: &Context) -> Result<String, NodeError> {
    let titles = outline(topic).on(cx).await?;
    let mut chapters = Vec::new();
    for title in titles {
        chapters.push(chapter(title).on(cx));
    }
    let chapters = futures_util::future::try_join_all(chapters).await?;
    let accepted: bool = cx.interrupt("accepted?", &chapters)?;
    if accepted {
        return bind(chapters).on(cx).await;
    }
    Ok(String::new())
}

pub(crate) fn graph() -> Result<ServedGraph, Box<dyn Error>> {
    let input = json!({
        "type": "object",
        "required": ["input"],
        "properties": {"input": {"type": "string", "title": "Topic"}},
    });
    let graph = GraphHandle::new(book.compile()?).subgraph_state::<TaskState>();
    Ok(graph.input_schema(input).into())
}
