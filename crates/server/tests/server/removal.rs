//! Threads that are removed while something else is done to them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex};

use langgraph::State;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::Api;

/// A meeting of the test and the first merge.
struct Merge {
    begins: Sender<()>,
    goes_on: Receiver<()>,
}

static MERGE: LazyLock<Mutex<Option<Merge>>> = LazyLock::new(Mutex::default);
static WAITS: AtomicBool = AtomicBool::new(false);

fn slow(mut notes: Vec<String>, more: Vec<String>) -> Vec<String> {
    if WAITS.swap(false, Ordering::SeqCst)
        && let Some(merge) = MERGE.lock().unwrap().take()
    {
        merge.begins.send(()).unwrap();
        merge.goes_on.recv().unwrap();
    }
    notes.extend(more);
    notes
}

#[derive(State, Clone, Debug, Default)]
struct Notes {
    #[reducer(slow)]
    notes: Vec<String>,
}

async fn keep(_: &Notes) -> NotesUpdate {
    NotesUpdate::default()
}

const THREAD: &str = "6e1dd1a4-54a3-4c53-8c3f-4a2f0d1a7c11";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_change_of_a_thread_that_is_removed_meanwhile_stores_nothing() {
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("keep", keep).add_sequence(&["keep"]);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new()
        .file(folder.path().join("threads.db"))
        .graph("notes", graph.compile().unwrap());
    let api = Api::serve(server).await;
    let thread = json!({"thread_id": THREAD, "graph_id": "notes"});
    let created = api.post("/threads", thread.clone()).await;
    assert_eq!(created["thread_id"], THREAD);

    let (begins, begun) = channel();
    let (go_on, goes_on) = channel();
    *MERGE.lock().unwrap() = Some(Merge { begins, goes_on });
    WAITS.store(true, Ordering::SeqCst);
    let state = format!("/threads/{THREAD}/state");
    let body = json!({"values": {"notes": ["late"]}, "as_node": "keep"});
    let late = tokio::spawn({
        let (client, url) = (api.client.clone(), format!("{}{state}", api.url));
        async move {
            let answer = client.post(url).json(&body).send().await.unwrap();
            (answer.status(), answer.json::<Value>().await.unwrap())
        }
    });
    tokio::task::spawn_blocking(move || begun.recv().unwrap())
        .await
        .unwrap();
    let path = format!("/threads/{THREAD}");
    let (status, _) = api.call(Method::DELETE, &path, json!({})).await;
    assert_eq!(status, 204);
    go_on.send(()).unwrap();
    let (status, answer) = late.await.unwrap();
    assert_eq!(status, 404, "{answer}");
    assert!(
        answer["detail"].as_str().unwrap().contains("not found"),
        "{answer}"
    );

    // A thread of the same name begins with nothing.
    api.post("/threads", thread).await;
    let read = api.get(&state).await;
    assert_eq!(read["values"], json!({}), "{read}");
}
