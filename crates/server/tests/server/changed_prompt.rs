//! A changed assistant is used by the next run, without a build or a new program.

use std::time::{Duration, Instant};

use crate::support::Api;
use langgraph::prelude::*;
use langgraph_server::{GraphHandle, RunContext, Server};
use reqwest::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// How many prompts are tried: the fastest is compared, since a machine may do much else.
const ROUNDS: usize = 20;

#[derive(State, Clone, Debug, Default)]
struct Chat {
    said: String,
}

#[derive(Deserialize, JsonSchema)]
struct Style {
    prompt: String,
}

fn speak(_: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    let style: Style = cx.resource::<RunContext>()?.read()?;
    Ok(ChatUpdate::default().said(style.prompt))
}

#[tokio::test]
async fn the_next_run_has_the_new_prompt_within_a_tenth_of_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let mut graph = StateGraph::<Chat>::new();
    graph.add_node("speak", speak).add_sequence(&["speak"]);
    let handle = GraphHandle::new(graph.compile().unwrap()).context::<Style>();
    let server = Server::new().file(folder.path().join("threads.db"));
    let api = Api::serve(server.graph("chat", handle)).await;
    let thread = api.thread().await;
    let made = json!({"graph_id": "chat", "context": {"prompt": "Be brief."}});
    let assistant = api.post("/assistants", made).await["assistant_id"].clone();
    let path = format!("/assistants/{}", assistant.as_str().unwrap());

    let mut fastest = Duration::MAX;
    for round in 0..ROUNDS {
        let prompt = format!("Use {round} words.");
        let begun = Instant::now();
        api.call(Method::PATCH, &path, json!({"context": {"prompt": prompt}}))
            .await;
        let run = json!({"assistant_id": assistant, "input": {}});
        let state = api.post(&format!("/threads/{thread}/runs/wait"), run).await;
        fastest = fastest.min(begun.elapsed());
        assert_eq!(state["said"], prompt);
    }
    println!("from the new prompt to the answer of a run with it: {fastest:?}");
    assert!(fastest < Duration::from_millis(100), "{fastest:?}");
}
