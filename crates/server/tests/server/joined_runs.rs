//! The results of runs, for those who join them later.

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Notes {
    word: String,
    #[reducer(append)]
    notes: Vec<String>,
}

/// Notes the word. Asks for another one, or never ends, if it says so.
#[node(interrupts)]
async fn note(state: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    let word = match state.word.as_str() {
        "ask" => cx.interrupt("ask", "which?")?,
        "wait" => std::future::pending().await,
        "fail" => return Err(NodeError::msg("it fails")),
        word => word.to_owned(),
    };
    Ok(NotesUpdate::default().notes(vec![word]))
}

async fn api(server: Server) -> Api {
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("note", note).add_sequence(&["note"]);
    Api::serve(server.graph("notes", graph.compile().unwrap())).await
}

fn body(word: &str) -> Value {
    json!({"assistant_id": "notes", "input": {"word": word}})
}

/// Runs the graph on a thread, and returns the path of the run and its result.
async fn run(api: &Api, thread: &str, body: Value) -> (String, Value) {
    let path = format!("/threads/{thread}/runs");
    let run = api.post(&path, body).await;
    let path = format!("{path}/{}", run["run_id"].as_str().unwrap());
    let result = api.get(&format!("{path}/join")).await;
    (path, result)
}

#[tokio::test]
async fn a_run_that_is_joined_later_has_the_result_that_it_had() {
    let api = api(Server::new()).await;
    let thread = api.thread().await;
    let mut exit = body("c");
    exit["durability"] = json!("exit");
    let answer = json!({"assistant_id": "notes", "command": {"resume": "d"}});
    let mut runs = Vec::new();
    for given in [
        body("a"),
        body("b"),
        exit,
        body("ask"),
        answer,
        body("fail"),
    ] {
        runs.push(run(&api, &thread, given).await);
    }
    assert_eq!(runs[1].1["notes"], json!(["a", "b"]));
    let open = runs[3].1["__interrupt__"].as_array().unwrap();
    assert_eq!(open[0]["value"], "which?");
    assert_eq!(runs[4].1["notes"], json!(["a", "b", "c", "d"]));
    assert!(runs[5].1["__error__"].is_object(), "{}", runs[5].1);

    let path = format!("/threads/{thread}/runs");
    let waits = api.post(&path, body("wait")).await;
    let cancelled = format!("{path}/{}", waits["run_id"].as_str().unwrap());
    let cancel = format!("{cancelled}/cancel?wait=true");
    assert_eq!(api.call(Method::POST, &cancel, json!({})).await.0, 200);
    runs.push((cancelled, json!({})));
    let update = json!({"values": {"notes": ["by hand"]}, "as_node": "note"});
    api.post(&format!("/threads/{thread}/state"), update).await;
    for (path, result) in runs {
        assert_eq!(api.get(&format!("{path}/join")).await, result, "{path}");
    }
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_it_stores_anything_leaves_its_thread_as_it_was() {
    let api = api(Server::new()).await;
    let finished = api.thread().await;
    run(&api, &finished, body("a")).await;
    let asks = api.thread().await;
    run(&api, &asks, body("ask")).await;
    let failed = api.thread().await;
    run(&api, &failed, body("fail")).await;
    let new = api.thread().await;
    for (thread, status) in [
        (finished, "idle"),
        (asks, "interrupted"),
        (failed, "error"),
        (new, "idle"),
    ] {
        let before = api.get(&format!("/threads/{thread}")).await;
        assert_eq!(before["status"], status);
        let mut body = body("wait");
        body["durability"] = json!("exit");
        let path = format!("/threads/{thread}/runs");
        let run = api.post(&path, body).await;
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        let run = format!("{path}/{}", run["run_id"].as_str().unwrap());
        let cancel = format!("{run}/cancel?wait=true");
        assert_eq!(api.call(Method::POST, &cancel, json!({})).await.0, 200);
        assert_eq!(api.get(&run).await["status"], "interrupted");
        let after = api.get(&format!("/threads/{thread}")).await;
        for field in [
            "status",
            "values",
            "interrupts",
            "error",
            "state_updated_at",
        ] {
            assert_eq!(after[field], before[field], "{status}: {field}");
        }
        let history = api.get(&format!("/threads/{thread}/history")).await;
        let state = api.get(&format!("/threads/{thread}/state")).await;
        assert_ne!(state["values"]["word"], "wait", "{status}: {history}");
    }
}
