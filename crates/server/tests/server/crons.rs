//! Crons, by what their requests say, and by what they belong to.

use std::time::Duration;

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

async fn api() -> Api {
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("noop", |_: &Notes| NotesUpdate::default());
    graph.add_sequence(&["noop"]);
    Api::serve(Server::new().graph("notes", graph.compile().unwrap())).await
}

/// A cron that never fires while a test runs.
fn yearly(assistant: &str) -> Value {
    json!({"assistant_id": assistant, "schedule": "0 0 1 1 *", "input": {}})
}

#[tokio::test]
async fn the_crons_of_an_assistant_go_with_it() {
    let api = api().await;
    let mut assistants = Vec::new();
    for _ in 0..2 {
        let made = api.post("/assistants", json!({"graph_id": "notes"})).await;
        let id = made["assistant_id"].as_str().unwrap().to_owned();
        api.post("/runs/crons", yearly(&id)).await;
        assistants.push(id);
    }
    let path = format!("/assistants/{}", assistants[0]);
    assert_eq!(api.call(Method::DELETE, &path, json!({})).await.0, 204);
    let left = api.post("/runs/crons/search", json!({})).await;
    let left: Vec<&Value> = left.as_array().unwrap().iter().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["assistant_id"], assistants[1]);
}

#[tokio::test]
async fn a_cron_that_could_not_start_its_runs_is_refused() {
    let api = api().await;
    let id = "0199a000-0000-7000-8000-000000000077";
    for (name, value, why) in [
        ("run_id", json!(id), "run_id"),
        ("enabled", json!("no"), "enabled is true or false"),
        ("config", json!(1), "config is an object"),
        (
            "config",
            json!({"configurable": [1]}),
            "config.configurable is an object",
        ),
        ("metadata", json!([1]), "metadata is an object"),
    ] {
        let mut cron = yearly("notes");
        cron[name] = value.clone();
        let (status, refused) = api.call(Method::POST, "/runs/crons", cron).await;
        assert_eq!(status, 422, "{name}: {refused}");
        assert!(refused.to_string().contains(why), "{refused}");
    }
    assert_eq!(api.post("/runs/crons/count", json!({})).await, 0);
}

#[tokio::test]
async fn what_is_added_to_the_metadata_of_a_cron_is_added_to_those_of_its_runs() {
    let api = api().await;
    let thread = api.thread().await;
    let mut cron = yearly("notes");
    cron["metadata"] = json!({"team": "a"});
    let cron = api
        .post(&format!("/threads/{thread}/runs/crons"), cron)
        .await;
    let path = format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap());
    let change = json!({"metadata": {"kind": "b"}, "schedule": "* * * * * *"});
    let changed = api.call(Method::PATCH, &path, change).await.1;
    assert_eq!(changed["metadata"], json!({"team": "a", "kind": "b"}));
    assert_eq!(changed["payload"]["metadata"], changed["metadata"]);
    for _ in 0..100 {
        let runs = api.get(&format!("/threads/{thread}/runs")).await;
        if runs[0].is_object() {
            let metadata = &runs[0]["metadata"];
            assert_eq!(
                (&metadata["team"], &metadata["kind"]),
                (&json!("a"), &json!("b"))
            );
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the cron does not fire");
}

#[tokio::test]
async fn crons_are_found_by_the_id_of_their_thread_in_every_spelling() {
    let api = api().await;
    let thread = api.thread().await;
    api.post(&format!("/threads/{thread}/runs/crons"), yearly("notes"))
        .await;
    let search = |id: String| json!({"thread_id": id});
    let count = "/runs/crons/count";
    assert_eq!(api.post(count, search(thread.clone())).await, 1);
    assert_eq!(api.post(count, search(thread.to_uppercase())).await, 1);
    let ids = json!({"ids": [thread.to_uppercase()]});
    assert_eq!(api.post("/threads/count", ids).await, 1);
    let refused = api.call(Method::POST, count, search("\0".to_owned())).await;
    assert_eq!(refused.0, 422, "{}", refused.1);
}
