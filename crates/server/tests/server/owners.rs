//! Ids that a client can know before they exist: no other user gets what they name.

use std::path::Path;
use std::time::Duration;

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::{BearerTokens, Server, User};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

const SECRET: &str = "only for ada";

fn graph() -> langgraph::CompiledStateGraph<Notes> {
    let mut notes = StateGraph::<Notes>::new();
    let write = |_: &Notes| NotesUpdate::default().notes(vec!["noted".to_owned()]);
    notes.add_node("write", write).add_sequence(&["write"]);
    notes.compile().unwrap()
}

fn tokens() -> BearerTokens {
    BearerTokens::new()
        .token("token-of-ada", User::new("ada"))
        .token("token-of-ben", User::new("ben"))
        .token("token-of-team", User::new("a").owner("team"))
        .token("token-of-team-1", User::new("b").owner("team:1"))
}

async fn users(server: Server) -> (Api, Api) {
    let api = Api::serve(server.authenticate(tokens())).await;
    (
        api.with_token("token-of-ada"),
        api.with_token("token-of-ben"),
    )
}

#[tokio::test]
async fn a_stream_of_a_thread_that_does_not_exist_yet_shows_nothing_of_another_user() {
    let (ada, ben) = users(Server::new().graph("notes", graph())).await;
    let thread = Uuid::new_v4();
    let path = format!("/threads/{thread}/stream/events");
    let channels = json!({"channels": ["values", "updates", "lifecycle", "tasks"]});
    let mut heard = ben.send(Method::POST, &path, channels.clone()).await;
    assert_eq!(heard.status(), 200);
    let mut own = ada.send(Method::POST, &path, channels).await;
    let start = json!({"id": 1, "method": "run.start", "params": {
        "assistant_id": "notes", "input": {"notes": [SECRET]},
    }});
    ada.post(&format!("/threads/{thread}/commands"), start)
        .await;

    let mut text = String::new();
    while !text.contains("completed") {
        text.push_str(&String::from_utf8_lossy(
            &own.chunk().await.unwrap().unwrap(),
        ));
    }
    assert!(text.contains(SECRET));
    // His stream breaks off, and there is nothing to come back to.
    let end = async {
        let mut text = String::new();
        while let Ok(Some(part)) = heard.chunk().await {
            text.push_str(&String::from_utf8_lossy(&part));
        }
        text
    };
    let text = tokio::time::timeout(Duration::from_secs(5), end)
        .await
        .unwrap();
    assert!(!text.contains("data:"), "{text}");
    let again = ben
        .send(Method::POST, &path, json!({"channels": ["values"]}))
        .await;
    assert_eq!(again.status(), 404);
}

async fn chat(api: &Api, thread: &str, text: &str) -> String {
    let body = json!({
        "threadId": thread, "runId": "r", "messages": [], "state": {"notes": [text]},
        "tools": [], "context": [], "forwardedProps": {},
    });
    api.send(Method::POST, "/ag-ui/notes", body)
        .await
        .text()
        .await
        .unwrap()
}

#[tokio::test]
async fn threads_of_ag_ui_cannot_be_taken_by_another_user() {
    let (ada, ben) = users(Server::new().graph("notes", graph())).await;
    let computed = Uuid::new_v5(&Uuid::NAMESPACE_URL, b"ag-ui:ada:main");
    ben.post("/threads", json!({"thread_id": computed})).await;
    let text = chat(&ada, "main", SECRET).await;
    assert!(text.contains("RUN_FINISHED"), "{text}");
    let again = chat(&ada, "main", "more").await;
    assert!(again.contains(SECRET), "it is another thread: {again}");
    let other = chat(&ben, "main", "mine").await;
    assert!(
        other.contains("RUN_FINISHED") && !other.contains(SECRET),
        "{other}"
    );
}

#[tokio::test]
async fn threads_of_owners_with_separators_in_their_names_are_apart() {
    let (ada, _) = users(Server::new().graph("notes", graph())).await;
    let team = ada.with_token("token-of-team");
    let other = ada.with_token("token-of-team-1");
    assert!(chat(&team, "1:x", SECRET).await.contains("RUN_FINISHED"));
    let text = chat(&other, "x", "mine").await;
    assert!(
        text.contains("RUN_FINISHED") && !text.contains(SECRET),
        "{text}"
    );
}

#[tokio::test]
async fn the_default_assistant_of_a_graph_that_comes_later_belongs_to_the_graph() {
    let folder = tempfile::tempdir().unwrap();
    let server = |file: &Path| Server::new().file(file).graph("notes", graph());
    let file = folder.path().join("server.db");
    let namespace = Uuid::parse_str("6ba7b821-9dad-11d1-80b4-00c04fd430c8").unwrap();
    let id = Uuid::new_v5(&namespace, b"future");
    {
        let (_, ben) = users(server(&file)).await;
        let body = json!({"graph_id": "notes", "assistant_id": id});
        ben.post("/assistants", body).await;
    }
    // The next deploy has one more graph.
    let (ada, _) = users(server(&file).graph("future", graph())).await;
    let found = ada.get(&format!("/assistants/{id}")).await;
    assert_eq!(found["graph_id"], "future", "{found}");
    let body = json!({"assistant_id": "future", "input": {"notes": []}});
    let done: Value = ada.post("/runs/wait", body).await;
    assert_eq!(done["notes"], json!(["noted"]));
}
