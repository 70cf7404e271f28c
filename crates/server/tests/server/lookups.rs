//! A look at a thread that fails is an error of the server: it does not mean that there is no thread.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::Message;
use langgraph::node;
use langgraph::node::Context;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::{GraphHandle, Server};
use reqwest::Method;
use rusqlite::Connection;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use uuid::Uuid;

#[node(interrupts)]
async fn ask(_: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let word: String = cx.interrupt("word", "Which?")?;
    Ok(MessagesStateUpdate::default().messages(vec![Message::assistant(word)]))
}

/// The file whose rows are mended when a context is read, between two looks at a thread.
static MENDED: Mutex<Option<PathBuf>> = Mutex::new(None);

#[derive(JsonSchema)]
struct Mending {}

impl<'de> Deserialize<'de> for Mending {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        let file = MENDED.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(file) = file {
            change(&file, "substr(doc, 2)");
        }
        Ok(Self {})
    }
}

/// Writes the documents of all threads anew.
fn change(file: &Path, doc: &str) {
    let connection = Connection::open(file).unwrap();
    let sql = format!("UPDATE served_threads SET doc = {doc}");
    connection.execute(&sql, []).unwrap();
}

/// Has each look at a thread fail.
fn damage(file: &Path) {
    change(file, "'?' || doc");
}

async fn api(file: &Path) -> Api {
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", ask).add_sequence(&["ask"]);
    let desk = GraphHandle::new(graph.compile().unwrap()).context::<Mending>();
    Api::serve(Server::new().file(file).graph("desk", desk)).await
}

async fn runs(api: &Api, thread: &str) -> usize {
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    runs.as_array().unwrap().len()
}

#[tokio::test]
async fn a_message_of_a2a_whose_thread_cannot_be_read_is_no_new_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let api = api(&file).await;
    let context = api.thread().await;
    let send = async |text: &str| {
        let message = json!({
            "messageId": "m", "role": "user", "contextId": context,
            "parts": [{"kind": "text", "text": text}],
        });
        let params = json!({"message": message});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params});
        api.post("/a2a/desk", call).await
    };
    let asked = send("hi").await;
    assert_eq!(
        asked["result"]["status"]["state"], "input-required",
        "{asked}"
    );

    damage(&file);
    *MENDED.lock().unwrap() = Some(file.clone());
    let failed = send("this one").await;
    if MENDED.lock().unwrap().take().is_some() {
        change(&file, "substr(doc, 2)");
    }
    assert_eq!(failed["error"]["code"], -32603, "{failed}");
    assert_eq!(runs(&api, &context).await, 1);
    // The same message is the answer when the thread can be read again.
    let answered = send("this one").await;
    let state = &answered["result"]["status"]["state"];
    assert_eq!(*state, "completed", "{answered}");
}

#[tokio::test]
async fn a_run_of_ag_ui_whose_thread_cannot_be_read_starts_on_no_other_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let api = api(&file).await;
    // A thread of a client whose ids are no UUIDs, as an earlier version has made it.
    let name = Uuid::new_v5(&Uuid::NAMESPACE_URL, b"ag-ui::one").to_string();
    api.post("/threads", json!({"thread_id": name})).await;
    let input = json!({
        "threadId": "one", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "hi"}],
        "tools": [], "context": [], "state": {}, "forwardedProps": {},
    });
    damage(&file);
    let answer = api.send(Method::POST, "/ag-ui/desk", input.clone()).await;
    assert_eq!(answer.status(), 500);
    change(&file, "substr(doc, 2)");
    assert_eq!(api.post("/threads/count", json!({})).await, 1);
    let answer = api.send(Method::POST, "/ag-ui/desk", input).await;
    assert_eq!(answer.status(), 200);
    let events = answer.text().await.unwrap();
    assert!(events.contains("RUN_FINISHED"), "{events}");
    assert_eq!(runs(&api, &name).await, 1);
}

#[tokio::test]
async fn an_input_of_the_protocol_whose_thread_cannot_be_read_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let api = api(&file).await;
    let thread = api.thread().await;
    let wait = json!({"assistant_id": "desk", "input": {}});
    api.post(&format!("/threads/{thread}/runs/wait"), wait)
        .await;
    // What is read of the thread is there; its states are not.
    let connection = Connection::open(&file).unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'served%' \
                  AND name LIKE '%checkpoint%'";
    let tables: Vec<String> = connection
        .prepare(tables)
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(!tables.is_empty());
    let rename = |from: &str, to: &str| {
        let sql = format!("ALTER TABLE \"{from}\" RENAME TO \"{to}\"");
        connection.execute_batch(&sql).unwrap();
    };
    for table in &tables {
        rename(table, &format!("{table}_away"));
    }
    let start = json!({
        "id": 1, "method": "run.start", "params": {"assistant_id": "desk", "input": "this one"},
    });
    let path = format!("/threads/{thread}/commands");
    let answer: Value = api.post(&path, start).await;
    for table in &tables {
        rename(&format!("{table}_away"), table);
    }
    assert_eq!(answer["type"], "error", "{answer}");
    assert_eq!(runs(&api, &thread).await, 1);
}
