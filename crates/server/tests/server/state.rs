//! Threads that are written by hand: by updates, as supersteps, and as copies.

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::{END, START, StateGraph};
use langgraph::node;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[node]
async fn plan(_: &Notes) -> NotesUpdate {
    NotesUpdate::default().notes(vec!["plan".to_owned()])
}

#[node]
async fn write(_: &Notes) -> NotesUpdate {
    NotesUpdate::default().notes(vec!["write".to_owned()])
}

async fn api() -> Api {
    let mut notes = StateGraph::<Notes>::new();
    notes
        .add_node("plan", plan)
        .add_node("write", write)
        .add_sequence(&["plan", "write"]);
    Api::serve(Server::new().graph("notes", notes.compile().unwrap())).await
}

async fn run(api: &Api, thread: &str, options: Value) -> Value {
    let mut body = json!({"assistant_id": "notes", "input": {"notes": ["in"]}});
    for (name, value) in options.as_object().unwrap() {
        body[name] = value.clone();
    }
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await
}

async fn state(api: &Api, thread: &str) -> Value {
    api.get(&format!("/threads/{thread}/state")).await
}

#[tokio::test]
async fn a_breakpoint_at_an_unknown_node_is_left_out() {
    let api = api().await;
    let thread = api.thread().await;
    let breaks = json!({"interrupt_before": ["nope", "write"], "interrupt_after": ["neither"]});
    run(&api, &thread, breaks).await;
    assert_eq!(state(&api, &thread).await["next"], json!(["write"]));

    let thread = api.thread().await;
    let done = run(&api, &thread, json!({"interrupt_before": ["nope"]})).await;
    assert_eq!(done, json!({"notes": ["in", "plan", "write"]}));
}

#[tokio::test]
async fn a_state_is_written_as_input_as_a_copy_and_as_an_end() {
    let api = api().await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/state");
    run(&api, &thread, json!({})).await;

    let input = json!({"as_node": "__input__", "values": {"notes": ["more"]}});
    let made = api.post(&path, input).await;
    let now = state(&api, &thread).await;
    assert_eq!(now["checkpoint_id"], made["checkpoint"]["checkpoint_id"]);
    // As in LangGraph, the input is there, and is not applied before the thread goes on.
    assert_eq!(now["next"], json!(["__start__"]));
    assert_eq!(now["values"]["notes"], json!(["in", "plan", "write"]));

    api.post(&path, json!({"as_node": "__copy__", "values": null}))
        .await;
    let copy = state(&api, &thread).await;
    assert_eq!(copy["next"], json!(["__start__"]));
    assert_eq!(copy["metadata"]["source"], "fork");

    api.post(&path, json!({"as_node": "__end__", "values": null}))
        .await;
    let ended = state(&api, &thread).await;
    assert_eq!(ended["next"], json!([]));
    let (status, refused) = api
        .call(
            Method::POST,
            &path,
            json!({"as_node": "__end__", "values": {"notes": ["x"]}}),
        )
        .await;
    assert_eq!(status, 422, "{refused}");

    let (status, refused) = api
        .call(
            Method::POST,
            &path,
            json!({"as_node": "nope", "values": {"notes": ["x"]}}),
        )
        .await;
    assert_eq!(status, 422, "{refused}");
    assert!(refused.to_string().contains("nope"), "{refused}");
}

#[tokio::test]
async fn a_thread_is_made_again_from_its_supersteps() {
    let api = api().await;
    let step = |node: &str, note: &str| json!({"updates": [{"as_node": node, "values": {"notes": [note]}}]});
    let made = api
        .post(
            "/threads",
            json!({
                "metadata": {"graph_id": "notes"},
                "supersteps": [step("__input__", "in"), step("__start__", "in"), step("plan", "planned")],
            }),
        )
        .await;
    let thread = made["thread_id"].as_str().unwrap();
    let now = state(&api, thread).await;
    assert_eq!(now["values"]["notes"], json!(["in", "planned"]));
    assert_eq!(now["next"], json!(["write"]));
    let done = run(&api, thread, json!({"input": null})).await;
    assert_eq!(done["notes"], json!(["in", "planned", "write"]));
}

#[tokio::test]
async fn the_updates_of_a_superstep_make_one_checkpoint_and_all_of_their_nodes_are_followed() {
    let api = api().await;
    let update = |node: &str, note: &str| json!({"as_node": node, "values": {"notes": [note]}});
    let body = |updates: Value| {
        let start = json!({"updates": [update("__start__", "in")]});
        json!({"graph_id": "notes", "supersteps": [start, {"updates": updates}]})
    };
    let both = json!([update("plan", "planned"), update("write", "written")]);
    let made = api.post("/threads", body(both)).await;
    let thread = made["thread_id"].as_str().unwrap();
    let now = state(&api, thread).await;
    assert_eq!(now["values"]["notes"], json!(["in", "planned", "written"]));
    assert_eq!(now["next"], json!(["write"]));
    let history = api.get(&format!("/threads/{thread}/history")).await;
    assert_eq!(history.as_array().map(Vec::len), Some(2), "{history}");

    for (updates, why) in [
        (
            json!([update("plan", "a"), update("__input__", "b")]),
            "alone",
        ),
        (json!([update("plan", "a"), update("nope", "b")]), "nope"),
        (json!([]), "update"),
    ] {
        let (status, refused) = api.call(Method::POST, "/threads", body(updates)).await;
        assert_eq!(status, 422, "{refused}");
        assert!(refused.to_string().contains(why), "{refused}");
    }
    // Of what is refused, no thread stays.
    assert_eq!(api.post("/threads/count", json!({})).await, 1);
}

#[tokio::test]
async fn what_a_router_says_as_it_fails_is_shown_only_if_the_program_says_so() {
    for (shows, expected) in [
        (false, "node `plan` failed"),
        (true, "the password is sesame"),
    ] {
        let mut notes = StateGraph::<Notes>::new();
        let fails = |_: &Notes| -> Result<&str, NodeError> {
            Err(NodeError::msg("the password is sesame"))
        };
        notes
            .add_node("plan", plan)
            .add_node("write", write)
            .add_edge(START, "plan")
            .add_conditional_edges("plan", fails, ["write", END])
            .add_edge("write", END);
        let mut server = Server::new().graph("notes", notes.compile().unwrap());
        if shows {
            server = server.show_node_errors();
        }
        let api = Api::serve(server).await;
        let thread = api.thread().await;
        let path = format!("/threads/{thread}/state");
        let body = json!({"as_node": "plan", "values": {"notes": ["x"]}});
        let (status, refused) = api.call(Method::POST, &path, body).await;
        assert_eq!(status, 422, "{refused}");
        let why = refused["detail"].as_str().unwrap();
        assert!(why.contains(expected), "{why}");
        assert!(shows || !why.contains("sesame"), "{why}");
    }
}

#[tokio::test]
async fn a_copy_names_the_thread_that_it_is() {
    let api = api().await;
    let thread = api.thread().await;
    run(&api, &thread, json!({})).await;
    let copied = api
        .post(&format!("/threads/{thread}/copy"), json!({}))
        .await;
    let copy = copied["thread_id"].as_str().unwrap();
    assert_ne!(copy, thread);
    let history = api.get(&format!("/threads/{copy}/history")).await;
    let now = state(&api, copy).await;
    assert_eq!(now["values"]["notes"], json!(["in", "plan", "write"]));
    assert_eq!(now["metadata"]["thread_id"], copy);
    assert_eq!(now["checkpoint"]["thread_id"], copy);
    for part in [&now, &history] {
        assert!(!part.to_string().contains(&thread), "{part}");
    }
}

#[tokio::test]
async fn a_copy_that_is_refused_leaves_no_thread() {
    let folder = tempfile::tempdir().unwrap();
    let server = || Server::new().file(folder.path().join("threads.db"));
    let graph = || {
        let mut graph = StateGraph::<Notes>::new();
        graph.add_node("noop", |_: &Notes| NotesUpdate::default());
        graph.add_sequence(&["noop"]);
        graph.compile().unwrap()
    };
    let api = Api::serve(server().graph("old", graph())).await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "old", "input": {}});
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    // The next version of the program does not have the graph.
    let api = Api::serve(server().graph("new", graph())).await;
    let path = format!("/threads/{thread}/copy");
    let (status, refused) = api.call(Method::POST, &path, json!({})).await;
    assert!(status.is_client_error(), "{status} {refused}");
    let found = api.post("/threads/search", json!({})).await;
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
}
