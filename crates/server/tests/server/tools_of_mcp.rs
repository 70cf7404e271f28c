//! The names of assistants as tools of MCP.

use std::collections::BTreeSet;

use langgraph::graph::{CompiledStateGraph, StateGraph};
use langgraph::message::Message;
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::Server;
use serde_json::{Value, json};

use crate::support::Api;

/// A graph that says its name.
fn says(name: &'static str) -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    let say = move |_: &MessagesState| {
        MessagesStateUpdate::default().messages(vec![Message::assistant(name)])
    };
    graph.add_node("say", say).add_sequence(&["say"]);
    graph.compile().unwrap()
}

fn rpc(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

#[tokio::test]
async fn assistants_with_one_name_are_tools_with_names_of_their_own() {
    let server = Server::new()
        .graph("a.b", says("with a dot"))
        .graph("a b", says("with a space"))
        .graph("a_b", says("with a line"));
    let api = Api::serve(server).await;
    let long = "long".repeat(20);
    for name in ["a_b", "other", "other", &long, &long] {
        let new = json!({"graph_id": "a.b", "name": name});
        api.post("/assistants", new).await;
    }

    let listed = api.post("/mcp/", rpc("tools/list", &json!({}))).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: BTreeSet<&str> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 8, "{names:?}");
    let letters = |name: &&str| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    assert!(names.iter().all(letters), "{names:?}");
    assert!(names.iter().all(|name| name.len() <= 64), "{names:?}");

    // A graph has its own name, if that is one of tools.
    let call = json!({"name": "a_b", "arguments": {"messages": "?"}});
    let called = api.post("/mcp/", rpc("tools/call", &call)).await;
    let said = &called["result"]["content"][0]["text"];
    assert_eq!(said, "with a line", "{called}");
    for name in names {
        let call = json!({"name": name, "arguments": {"messages": "?"}});
        let called = api.post("/mcp/", rpc("tools/call", &call)).await;
        assert_eq!(called["result"]["isError"], false, "{name}: {called}");
    }
}
