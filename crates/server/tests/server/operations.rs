//! The operations beside runs: figures, storage, MCP, A2A, the WebSocket, meaning, contexts.

use crate::support::{Api, frames};
use futures_util::{SinkExt, StreamExt};
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::{Message, MessageChunk};
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_agent::schema_of;
use langgraph_server::{GraphHandle, RunContext, Server};
use langgraph_store::{HashingEmbedder, StoreOptions};
use reqwest::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message as SocketMessage;

#[derive(State, Clone, Debug, Default)]
struct Desk {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    city: Option<String>,
}

/// How the desk answers.
#[derive(Deserialize, JsonSchema)]
#[serde(default)]
struct Style {
    /// What comes before each answer.
    greeting: String,
    #[schemars(range(max = 3))]
    retries: u32,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            greeting: "Hello".to_owned(),
            retries: 1,
        }
    }
}

/// What is meant.
#[derive(Deserialize, JsonSchema)]
struct Answer(String);

#[node(interrupts)]
async fn answer(state: &Desk, cx: &Context) -> Result<DeskUpdate, NodeError> {
    let style: Style = cx.resource::<RunContext>()?.read()?;
    let text = state.messages.last().map(|last| last.text().into_owned());
    let mut text = text.unwrap_or_default();
    if text == "ask" {
        let schema = schema_of::<Answer>();
        let question = json!({"question": "which?", "response_schema": schema});
        Answer(text) = cx.interrupt("which", &question)?;
    }
    let city = state.city.clone().unwrap_or_default();
    let said = format!("{}: {text}{city}", style.greeting);
    cx.emit_chunk(MessageChunk::text(&*said).with_id("reply"))
        .await;
    let said = Message::assistant(said).with_id("reply");
    Ok(DeskUpdate::default().messages(vec![said]))
}

async fn api() -> Api {
    let mut graph = StateGraph::<Desk>::new();
    graph.add_node("answer", answer).add_sequence(&["answer"]);
    let desk = GraphHandle::new(graph.compile().unwrap()).context::<Style>();
    let store = StoreOptions::default().embedder(HashingEmbedder::new(64));
    Api::serve(Server::new().store(store).graph("desk", desk)).await
}

async fn run(api: &Api, thread: &str, body: Value) -> Value {
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await
}

#[tokio::test]
async fn figures_are_those_of_the_queue_and_of_this_process() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "desk", "input": {"messages": "hi"}});
    run(&api, &thread, body.clone()).await;
    let later = json!({"assistant_id": "desk", "input": {}, "after_seconds": 600});
    api.post("/runs", later).await;
    let response = api.request(Method::GET, "/metrics").send().await.unwrap();
    let kind = response.headers()["content-type"].to_str().unwrap();
    assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
    let text = response.text().await.unwrap();
    for line in [
        "# TYPE langgraph_run_seconds histogram",
        "langgraph_queue_runs{status=\"pending\"} 1",
        "langgraph_runs_ended_total{status=\"success\"} 1",
        "langgraph_run_seconds_bucket{le=\"+Inf\"} 1",
        "langgraph_run_seconds_count 1",
        "langgraph_draining 0",
    ] {
        assert!(text.lines().any(|known| known == line), "{line} in\n{text}");
    }
    let json = api.get("/metrics?format=json").await;
    assert_eq!(json["queue"]["num_pending"], 1, "{json}");
    assert_eq!(json["workers"]["active"], 0);
}

#[tokio::test]
async fn the_storage_of_a_thread_grows() {
    let api = api().await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/storage");
    let empty = api.get(&path).await;
    assert_eq!(empty["total_bytes"], 0, "{empty}");
    let body = json!({"assistant_id": "desk", "input": {"messages": "hi"}});
    run(&api, &thread, body).await;
    let storage = api.get(&path).await;
    assert!(storage["total_bytes"].as_u64().unwrap() > 0, "{storage}");
    assert!(storage["checkpoints"]["count"].as_u64().unwrap() > 1);
    let messages = &storage["channel_values"]["by_channel"]["messages"];
    assert_eq!(
        messages["versions"], 2,
        "the question and the answer: {storage}"
    );
    assert!(messages["bytes"].as_u64().unwrap() > 20, "{storage}");
    let sections = ["checkpoints", "channel_values", "pending_writes"];
    let bytes = sections.map(|section| storage[section]["bytes"].as_u64().unwrap());
    assert_eq!(storage["total_bytes"], bytes.iter().sum::<u64>());
    let missing = "/threads/00000000-0000-4000-8000-000000000000/storage";
    let (status, _) = api.call(Method::GET, missing, json!({})).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn an_assistant_is_a_tool_of_mcp() {
    let api = api().await;
    let rpc = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let begun = rpc("initialize", json!({"protocolVersion": "2025-06-18"}));
    let begun = api.post("/mcp/", begun).await;
    assert_eq!(begun["result"]["protocolVersion"], "2025-06-18");
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let (status, _) = api.call(Method::POST, "/mcp/", note).await;
    assert_eq!(status, 202);
    let listed = api.post("/mcp/", rpc("tools/list", json!({}))).await;
    let tool = &listed["result"]["tools"][0];
    assert_eq!(tool["name"], "desk", "{listed}");
    let city = &tool["inputSchema"]["properties"]["city"];
    assert_eq!(
        *city,
        json!({"anyOf": [{"type": "string"}, {"type": "null"}]})
    );
    let arguments = json!({"messages": "hi", "city": " in Oslo"});
    let called = rpc(
        "tools/call",
        json!({"name": "desk", "arguments": arguments}),
    );
    let called = api.post("/mcp", called).await;
    let result = &called["result"];
    assert_eq!(
        result["content"][0]["text"], "Hello: hi in Oslo",
        "{called}"
    );
    assert_eq!(result["isError"], false);

    let asks = json!({"name": "desk", "arguments": {"messages": "ask"}});
    let asks = api.post("/mcp/", rpc("tools/call", asks)).await;
    assert_eq!(asks["result"]["isError"], true, "{asks}");
    for (call, code) in [
        (rpc("tools/call", json!({"name": "nobody"})), -32602),
        (rpc("tools/none", json!({})), -32601),
    ] {
        let refused = api.post("/mcp/", call).await;
        assert_eq!(refused["error"]["code"], code, "{refused}");
    }
    let (status, refused) = api.call(Method::POST, "/mcp/", json!([1])).await;
    assert_eq!(
        (status.as_u16(), &refused["error"]["code"]),
        (400, &json!(-32600))
    );
    let (status, _) = api.call(Method::GET, "/mcp/", json!({})).await;
    assert_eq!(status, 405);
}

fn message(text: &str, context: &str) -> Value {
    json!({"message": {
        "messageId": "m", "role": "user", "contextId": context,
        "parts": [{"kind": "text", "text": text}],
    }})
}

#[tokio::test]
async fn an_assistant_is_an_agent_of_a2a() {
    let api = api().await;
    let rpc = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": "7", "method": method, "params": params});
    let card = api.get("/a2a/desk/.well-known/agent-card.json").await;
    assert_eq!(card["supportedInterfaces"][0]["protocolVersion"], "1.0");
    assert_eq!(card["url"], card["supportedInterfaces"][0]["url"]);

    let context = "11111111-1111-4111-8111-111111111111";
    let sent = rpc("message/send", message("hi", context));
    let task = api.post("/a2a/desk", sent).await["result"].take();
    assert_eq!(task["status"]["state"], "completed", "{task}");
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "Hello: hi");
    assert_eq!(task["contextId"], context);
    let read = rpc("GetTask", json!({"id": task["id"]}));
    let read = api.post("/a2a/desk", read).await["result"].take();
    assert_eq!(read["status"]["state"], "TASK_STATE_COMPLETED", "{read}");
    assert_eq!(read["artifacts"][0]["parts"][0]["text"], "Hello: hi");

    // An interrupt requires input, and the next message of the context is the answer.
    let asked = rpc("SendMessage", message("ask", context));
    let asked = api.post("/a2a/desk", asked).await["result"]["task"].take();
    assert_eq!(
        asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED",
        "{asked}"
    );
    let said = asked["status"]["message"]["parts"][0]["text"].as_str();
    assert!(said.unwrap().contains("which?"), "{asked}");
    let waiting = rpc("tasks/get", json!({"id": asked["id"]}));
    let waiting = api.post("/a2a/desk", waiting).await["result"].take();
    assert_eq!(waiting["status"]["state"], "input-required", "{waiting}");
    let answered = rpc("message/send", message("this one", context));
    let answered = api.post("/a2a/desk", answered).await["result"].take();
    let text = &answered["artifacts"][0]["parts"][0]["text"];
    assert_eq!(*text, "Hello: this one", "{answered}");

    let refused = rpc("tasks/cancel", json!({"id": answered["id"]}));
    let refused = api.post("/a2a/desk", refused).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    let missing = rpc("tasks/get", json!({"id": "nothing"}));
    let missing = api.post("/a2a/desk", missing).await;
    assert_eq!(missing["error"]["code"], -32001, "{missing}");
}

#[tokio::test]
async fn a_stream_of_a2a_has_the_task_its_text_and_its_end() {
    let api = api().await;
    for (method, places) in [
        (
            "message/stream",
            ["/kind", "/artifact/parts/0/text", "/status/state"],
        ),
        (
            "SendStreamingMessage",
            [
                "/task/id",
                "/artifactUpdate/artifact/parts/0/text",
                "/statusUpdate/status/state",
            ],
        ),
    ] {
        let call =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": message("hi", "c")});
        let response = api.send(Method::POST, "/a2a/desk", call).await;
        let frames = frames(&response.text().await.unwrap());
        let results: Vec<&Value> = frames.iter().map(|frame| &frame.data["result"]).collect();
        assert_eq!(results.len(), 3, "{results:?}");
        let found = |index: usize| results[index].pointer(places[index]).cloned();
        assert!(found(0).is_some(), "{results:?}");
        assert_eq!(found(1).unwrap(), "Hello: hi", "{results:?}");
        let end = found(2).unwrap();
        assert!(
            end == "completed" || end == "TASK_STATE_COMPLETED",
            "{results:?}"
        );
    }
}

#[tokio::test]
async fn a_socket_takes_commands_and_sends_the_events_of_subscriptions() {
    let api = api().await;
    let thread = "22222222-2222-4222-8222-222222222222";
    let url = api.url.replace("http", "ws") + &format!("/threads/{thread}/stream/events");
    let (mut socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
    let command = |id: u64, method: &str, params: Value| {
        let command = json!({"id": id, "method": method, "params": params});
        SocketMessage::text(command.to_string())
    };
    let wanted = json!({"channels": ["values", "lifecycle", "messages"]});
    let input = json!({"assistant_id": "desk", "input": {"messages": "hi"}});
    for sent in [
        command(1, "subscription.subscribe", wanted),
        command(
            2,
            "subscription.subscribe",
            json!({"channels": ["nothing"]}),
        ),
        command(3, "run.start", input),
    ] {
        socket.send(sent).await.unwrap();
    }
    let mut answers = Vec::new();
    let mut events = Vec::new();
    while !events
        .iter()
        .any(|event: &Value| event["params"]["data"]["event"] == "completed")
    {
        let message = socket.next().await.unwrap().unwrap();
        let SocketMessage::Text(text) = message else {
            continue;
        };
        let value: Value = serde_json::from_str(text.as_str()).unwrap();
        if value["type"] == "event" {
            events.push(value);
        } else {
            answers.push(value);
        }
    }
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert!(
        answers[0]["result"]["subscription_id"].is_string(),
        "{answers:?}"
    );
    assert_eq!(answers[1]["type"], "error", "{answers:?}");
    assert!(answers[2]["result"]["run_id"].is_string(), "{answers:?}");
    let methods: Vec<&str> = events
        .iter()
        .map(|event| event["method"].as_str().unwrap())
        .collect();
    assert!(
        methods.contains(&"values") && methods.contains(&"messages"),
        "{methods:?}"
    );

    let gone = json!({"subscription_id": answers[0]["result"]["subscription_id"]});
    socket
        .send(command(4, "subscription.unsubscribe", gone))
        .await
        .unwrap();
    loop {
        let SocketMessage::Text(text) = socket.next().await.unwrap().unwrap() else {
            continue;
        };
        let value: Value = serde_json::from_str(text.as_str()).unwrap();
        if value["id"] == 4 {
            assert_eq!(value["type"], "success", "{value}");
            break;
        }
    }
}

#[tokio::test]
async fn items_are_found_by_their_meaning() {
    let api = api().await;
    for (key, text, index) in [
        ("a", "the cat sleeps", Value::Null),
        ("b", "stocks fell again", json!(["text"])),
        ("c", "the cat sleeps", json!(false)),
    ] {
        let item =
            json!({"namespace": ["notes"], "key": key, "value": {"text": text}, "index": index});
        let (status, refused) = api.call(Method::PUT, "/store/items", item).await;
        assert_eq!(status, 204, "{refused}");
    }
    let wanted = json!({"namespace_prefix": ["notes"], "query": "a cat that sleeps"});
    let found = api.post("/store/items/search", wanted).await;
    let keys: Vec<&Value> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["key"])
        .collect();
    assert_eq!(keys, ["a", "b"], "{found}");
    assert!(found["items"][0]["score"].as_f64() > found["items"][1]["score"].as_f64());

    let missing = "/store/items?namespace=notes&key=none";
    let missing = api.request(Method::GET, missing).send().await.unwrap();
    assert_eq!(missing.status(), 200);
    assert_eq!(missing.text().await.unwrap(), "null");
}

#[tokio::test]
async fn a_context_has_a_schema_is_checked_and_its_versions_are_live() {
    let api = api().await;
    let schemas = api.get("/assistants/desk/schemas").await;
    let greeting = &schemas["context_schema"]["properties"]["greeting"];
    assert_eq!(greeting["description"], "What comes before each answer.");
    assert_eq!(schemas["config_schema"], schemas["context_schema"]);
    let messages = &schemas["state_schema"]["properties"]["messages"];
    assert_eq!(
        (&messages["type"], &messages["items"]["title"]),
        (&json!("array"), &json!("Message"))
    );

    let made = json!({"graph_id": "desk", "name": "polite", "context": {"greeting": "Good day"}});
    let assistant = api.post("/assistants", made).await;
    let id = assistant["assistant_id"].as_str().unwrap();
    let thread = api.thread().await;
    let body = json!({"assistant_id": id, "input": {"messages": "hi"}});
    let values = run(&api, &thread, body.clone()).await;
    assert_eq!(values["messages"][1]["content"], "Good day: hi");
    let changed = json!({"context": {"greeting": "Hey"}});
    let (_, changed) = api
        .call(Method::PATCH, &format!("/assistants/{id}"), changed)
        .await;
    assert_eq!(changed["version"], 2);
    let values = run(&api, &thread, body.clone()).await;
    assert_eq!(values["messages"][1]["content"], "Hey: hi");
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    let versions: Vec<&Value> = runs
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["metadata"]["assistant_version"])
        .collect();
    assert_eq!(versions, [2, 1], "{runs}");

    let mut wrong = body;
    wrong["context"] = json!({"retries": "many"});
    let path = format!("/threads/{thread}/runs/wait");
    let (status, refused) = api.call(Method::POST, &path, wrong).await;
    assert_eq!(status, 422, "{refused}");
    let detail = refused["detail"].as_str().unwrap();
    assert!(
        detail.contains("retries") && detail.contains("u32"),
        "{detail}"
    );
}

#[tokio::test]
async fn a_change_of_an_assistant_keeps_what_it_does_not_name() {
    let api = api().await;
    let made = json!({
        "graph_id": "desk", "context": {"greeting": "Hey"}, "config": {"tags": ["a"]},
    });
    let assistant = api.post("/assistants", made).await;
    let path = format!(
        "/assistants/{}",
        assistant["assistant_id"].as_str().unwrap()
    );
    let changed = async |change: Value| {
        let (_, changed) = api.call(Method::PATCH, &path, change).await;
        (changed["context"].clone(), changed["config"].clone())
    };
    let (context, config) = changed(json!({"config": {"tags": ["b"]}})).await;
    assert_eq!(context, json!({"greeting": "Hey"}));
    assert_eq!(config, json!({"tags": ["b"], "configurable": context}));
    // Both names have what one of them is given.
    let (context, config) = changed(json!({"context": {"greeting": "Ho"}})).await;
    assert_eq!(context, json!({"greeting": "Ho"}));
    assert_eq!(config, json!({"tags": ["b"], "configurable": context}));
    let (context, config) = changed(json!({"config": {"configurable": {"greeting": "Hi"}}})).await;
    assert_eq!(context, json!({"greeting": "Hi"}));
    assert_eq!(config, json!({"configurable": context}));
}

#[tokio::test]
async fn an_interrupt_has_the_schema_of_its_answer() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "desk", "input": {"messages": "ask"}});
    run(&api, &thread, body).await;
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let schema = json!({"type": "string", "description": "What is meant."});
    assert_eq!(state["interrupts"][0]["response_schema"], schema, "{state}");
    assert_eq!(
        state["tasks"][0]["interrupts"][0]["response_schema"],
        schema
    );
}

#[tokio::test]
async fn a_query_that_does_not_fit_is_refused_as_a_body_is() {
    let api = api().await;
    for path in [
        "/metrics?format=xml",
        "/store/items",
        "/assistants/desk/subgraphs?recurse=",
        "/threads/%ff",
    ] {
        let (status, refused) = api.call(Method::GET, path, json!({})).await;
        assert_eq!(status, 422, "{path}: {refused}");
        assert!(refused["detail"].is_string(), "{path}: {refused}");
    }
}
