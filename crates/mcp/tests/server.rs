//! Graphs as tools of a server, called by our own client over HTTP.
#![allow(clippy::unwrap_used)] // in what several tests share

#[path = "../../http/tests/http/slow_clients.rs"]
mod slow_clients;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::{MemorySaver, ThreadFilter};
use langgraph::graph::CompiledStateGraph;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::{
    FnTool, HumanInTheLoop, Json, MessagesState, MessagesStateUpdate, ScriptedModel, ToolNode,
    Turn, react_agent,
};
use langgraph_mcp::{Elicited, GraphTool, Http, McpClient, McpServer, Question};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

#[derive(Deserialize, JsonSchema)]
struct Number {
    /// Where it starts.
    start: i64,
}

fn number(name: &str, graph: CompiledStateGraph<i64>) -> GraphTool {
    let answer = |n: &i64| Json(json!({"n": n}));
    GraphTool::new(
        name,
        "Works on a number.",
        graph,
        |number: Number| number.start,
        answer,
    )
}

/// A graph of one node.
fn one<K>(node: impl langgraph::graph::IntoNode<i64, K>) -> CompiledStateGraph<i64> {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("work", node).add_sequence(&["work"]);
    graph.compile().unwrap()
}

fn persistent(graph: CompiledStateGraph<i64>) -> CompiledStateGraph<i64> {
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

/// A client of a server with these tools.
async fn connected(server: McpServer) -> McpClient {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(server.listen(listener));
    McpClient::connect(Http::new(address)).await.unwrap()
}

async fn served(tool: GraphTool) -> McpClient {
    connected(McpServer::new("test", "1").tool(tool)).await
}

/// A graph whose only node calls the tools of a server.
async fn caller(client: &McpClient) -> CompiledStateGraph<MessagesState> {
    let mut graph = StateGraph::<MessagesState>::new();
    let tools = ToolNode::new(client.tools().await.unwrap());
    graph.add_node("tools", tools).add_sequence(&["tools"]);
    graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()))
}

fn call(name: &str, arguments: Value) -> MessagesStateUpdate {
    let call = ToolCall::new("c", name, arguments);
    let message = Message::assistant_with_tool_calls("", [call]);
    MessagesStateUpdate::default().messages(vec![message])
}

/// The answer to the call, and whether it is an error.
fn answer(state: &MessagesState) -> (bool, String) {
    let result = state
        .messages
        .iter()
        .find_map(Message::tool_result)
        .unwrap();
    (result.is_error(), result.content.text().into_owned())
}

#[tokio::test]
async fn a_graph_is_a_tool_with_the_schema_of_its_arguments() {
    let tool = number("double", one(|n: &i64| n * 2));
    let server = McpServer::new("sums", "2.1")
        .instructions("Only whole numbers.")
        .tool(tool);
    let client = connected(server).await;
    assert_eq!(client.server_info().unwrap(), ("sums".into(), "2.1".into()));
    assert_eq!(client.instructions().unwrap(), "Only whole numbers.");
    let tools = client.tools().await.unwrap();
    let double = tools.get("double").unwrap().definition();
    assert_eq!(double.description, "Works on a number.");
    assert_eq!(
        double.parameters["properties"]["start"]["description"],
        "Where it starts."
    );

    let graph = caller(&client).await;
    let state = graph
        .run(call("double", json!({"start": 21})))
        .thread("a")
        .await
        .unwrap();
    assert_eq!(answer(state.state()), (false, r#"{"n":42}"#.to_owned()));
    // Arguments that do not fit are an answer that the model can read.
    let state = graph
        .run(call("double", json!({"start": "two"})))
        .thread("b")
        .await
        .unwrap();
    let (failed, text) = answer(state.state());
    assert!(failed && text.contains("invalid type: string"), "{text}");
}

#[tokio::test]
async fn an_error_of_the_graph_is_the_answer() {
    let tool = number(
        "broken",
        one(|_: &i64| Err::<i64, _>(NodeError::msg("no paper"))),
    );
    let graph = caller(&served(tool).await).await;
    let state = graph
        .run(call("broken", json!({"start": 1})))
        .thread("t")
        .await
        .unwrap();
    let (failed, text) = answer(state.state());
    assert!(
        failed && text.contains("node `work` failed: no paper"),
        "{text}"
    );
}

#[tokio::test]
async fn a_question_of_the_graph_pauses_the_client_and_its_answer_resumes_the_graph() {
    fn ask(n: i64, cx: &Context) -> Result<i64, NodeError> {
        let more: i64 = cx.interrupt("more", "How many more?")?;
        let name: String = cx.interrupt("name", &json!({"question": "For whom?"}))?;
        Ok(n + more + i64::try_from(name.len())?)
    }
    let inner = persistent(one(ask));
    let client = served(number("order", inner.clone())).await;
    let graph = caller(&client).await;
    let thread = graph.thread("t");

    let outcome = thread
        .run(call("order", json!({"start": 1})))
        .await
        .unwrap();
    let asked = &outcome.interrupts()[0];
    let question: Question = serde_json::from_value(asked.payload.clone()).unwrap();
    assert_eq!(question.message, "How many more?");
    assert_eq!(question.schema.unwrap()["required"], json!(["answer"]));

    // An answer that does not fit leaves the question open, and says why.
    let few = Elicited::Accept(json!({"answer": "a few"}));
    let outcome = thread.resume(asked.key.clone(), few).await.unwrap();
    let again: Question = serde_json::from_value(outcome.interrupts()[0].payload.clone()).unwrap();
    assert!(again.message.contains("expected i64"), "{}", again.message);
}

#[tokio::test]
async fn every_question_of_a_call_is_answered_and_its_thread_is_gone_at_the_end() {
    fn ask(n: i64, cx: &Context) -> Result<i64, NodeError> {
        let more: i64 = cx.interrupt("more", "How many more?")?;
        let name: String = cx.interrupt("name", &json!({"question": "For whom?"}))?;
        Ok(n + more + i64::try_from(name.len())?)
    }
    let inner = persistent(one(ask));
    let client = served(number("order", inner.clone())).await;
    let graph = caller(&client).await;
    let thread = graph.thread("t");
    let mut outcome = thread
        .run(call("order", json!({"start": 1})))
        .await
        .unwrap();
    // `1234` is a number where a number is wanted, and a text where a text is.
    let mut messages = vec![];
    while let Some(asked) = outcome.interrupts().first() {
        let question: Question = serde_json::from_value(asked.payload.clone()).unwrap();
        messages.push(question.message);
        let answer = Elicited::Accept(json!({"answer": "1234"}));
        outcome = thread.resume(asked.key.clone(), answer).await.unwrap();
    }
    assert_eq!(messages, ["How many more?", "For whom?"]);
    assert_eq!(answer(outcome.state()), (false, r#"{"n":1239}"#.to_owned()));
    let left = inner.threads().list(ThreadFilter::default()).await.unwrap();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn an_approval_is_a_form_and_a_refusal_reaches_the_model() {
    for (answered, said) in [
        (json!({"decision": "approve"}), "wiped"),
        (
            json!({"decision": "reject", "text": "Not the disk!"}),
            "Not the disk!",
        ),
    ] {
        let wiped = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&wiped);
        let wipe = FnTool::new("wipe", "Empties the disk.", move || {
            let seen = Arc::clone(&seen);
            async move {
                seen.fetch_add(1, Ordering::SeqCst);
                "wiped"
            }
        });
        let model = ScriptedModel::new([
            Turn::tool_calls([ToolCall::new("c1", "wipe", json!({}))]),
            Turn::text("Done."),
        ]);
        let agent = react_agent(model.clone(), (wipe,))
            .with(HumanInTheLoop::new("wipe"))
            .compile()
            .unwrap();
        let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
        let client = served(GraphTool::chat("keeper", "Keeps the disk.", agent)).await;
        let graph = caller(&client).await;
        let thread = graph.thread("t");
        let outcome = thread
            .run(call("keeper", json!({"message": "Clean up!"})))
            .await
            .unwrap();
        let asked = &outcome.interrupts()[0];
        let question: Question = serde_json::from_value(asked.payload.clone()).unwrap();
        assert_eq!(question.message, "May `wipe` run with {}?");
        let form = question.schema.unwrap();
        assert_eq!(form["properties"]["decision"]["enum"][0], "approve");
        let key = asked.key.clone();
        let outcome = thread
            .resume(key, Elicited::Accept(answered))
            .await
            .unwrap();
        assert_eq!(answer(outcome.state()), (false, "Done.".to_owned()));
        let read = model.requests()[1].messages[2].text().into_owned();
        assert_eq!(read, said);
        assert_eq!(wiped.load(Ordering::SeqCst), usize::from(said == "wiped"));
    }
}

#[tokio::test]
async fn a_user_who_does_not_answer_ends_the_call() {
    let ask =
        |_: &i64, cx: &Context| -> Result<i64, NodeError> { Ok(cx.interrupt("n", "How many?")?) };
    let inner = persistent(one(ask));
    let graph = caller(&served(number("order", inner.clone())).await).await;
    let thread = graph.thread("t");
    let outcome = thread
        .run(call("order", json!({"start": 1})))
        .await
        .unwrap();
    let key = outcome.interrupts()[0].key.clone();
    let outcome = thread.resume(key, Elicited::Decline).await.unwrap();
    assert_eq!(
        answer(outcome.state()),
        (
            true,
            "Error: the user did not answer: How many?\n Please fix your mistakes.".to_owned()
        )
    );
    assert!(
        inner
            .threads()
            .list(ThreadFilter::default())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_graph_that_pauses_at_a_breakpoint_has_no_answer_and_leaves_no_thread() {
    let pausing = || {
        let mut graph = StateGraph::<i64>::new();
        let double = |n: &i64| n * 2;
        graph
            .add_node("write", double)
            .add_node("publish", double)
            .add_sequence(&["write", "publish"])
            .interrupt_before(["publish"]);
        graph.compile().unwrap()
    };
    for inner in [pausing(), persistent(pausing())] {
        let graph = caller(&served(number("essay", inner.clone())).await).await;
        let run = graph.run(call("essay", json!({"start": 1}))).thread("t");
        let (is_error, text) = answer(run.await.unwrap().state());
        assert!(is_error, "{text}");
        assert!(text.contains("paused at a breakpoint"), "{text}");
        if inner.is_persistent() {
            let left = inner.threads().list(ThreadFilter::default()).await;
            assert!(left.unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn a_call_can_go_on_in_another_process_that_shares_the_key_and_the_checkpointer() {
    let ask =
        |_: &i64, cx: &Context| -> Result<i64, NodeError> { Ok(cx.interrupt("n", "How many?")?) };
    let saver = Arc::new(MemorySaver::new());
    let server = |key: &str| {
        let graph = one(ask).checkpointer(Arc::clone(&saver));
        McpServer::new("test", "1")
            .secret(key)
            .tool(number("order", graph))
    };
    for (second, said) in [
        ("one", (false, r#"{"n":12}"#)),
        ("two", (true, "not from this server")),
    ] {
        let first = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let place = first.local_addr().unwrap();
        let stopped = tokio::spawn(server("one").listen(first));
        let client = McpClient::connect(Http::new(format!("http://{place}/mcp")))
            .await
            .unwrap();
        let graph = caller(&client).await;
        let thread = graph.thread("t");
        let outcome = thread
            .run(call("order", json!({"start": 1})))
            .await
            .unwrap();
        let key = outcome.interrupts()[0].key.clone();

        stopped.abort();
        let _ = stopped.await;
        let listener = TcpListener::bind(place).await.unwrap();
        tokio::spawn(server(second).listen(listener));
        let twelve = Elicited::Accept(json!({"answer": "12"}));
        let outcome = thread.resume(key, twelve).await.unwrap();
        let (failed, text) = answer(outcome.state());
        assert!(failed == said.0 && text.contains(said.1), "{text}");
    }
}

/// Fails unless a custom event has the fields and the constants of its schema.
#[track_caller]
fn assert_declared(schema: &Value, event: &Value) {
    let declared = schema["properties"].as_object().unwrap();
    let event = event.as_object().unwrap();
    assert_eq!(declared.len(), event.len());
    assert_eq!(schema["required"].as_array().unwrap().len(), event.len());
    for (name, value) in event {
        let constant = declared[name].get("const");
        assert!(constant.is_none_or(|constant| constant == value), "{name}");
    }
}

#[tokio::test]
async fn what_the_graph_emits_reaches_the_client_as_progress() {
    async fn work(n: &i64, cx: &Context) -> Result<i64, NodeError> {
        cx.emit("half way").await?;
        Ok(n * 2)
    }
    let client = served(number("double", one(work))).await;
    let graph = caller(&client).await;
    let tools = graph.topology().tools();
    let schema: Value = serde_json::from_str(&tools[0].custom_events).unwrap();
    let run = graph.run(call("double", json!({"start": 21}))).thread("t");
    let mut events = run.stream(StreamMode::Custom);
    let mut reported = vec![];
    while let Some(event) = events.next().await {
        if let langgraph::stream::EventKind::Custom { value, .. } = event.unwrap().kind {
            assert_eq!(value["type"], "mcp_progress");
            assert_declared(&schema, &value);
            reported.push(value["message"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(reported, ["half way", "`work` is done"]);
}

#[tokio::test]
async fn a_cancelled_call_stops_the_run() {
    struct Dropped(Arc<Notify>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (began, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (starts, stops) = (Arc::clone(&began), Arc::clone(&ended));
    let work = move |_: i64| {
        let (starts, stops) = (Arc::clone(&starts), Arc::clone(&stops));
        async move {
            let _dropped = Dropped(stops);
            starts.notify_one();
            std::future::pending::<i64>().await
        }
    };
    let graph = caller(&served(number("endless", one(work))).await).await;
    let run = tokio::spawn(
        graph
            .run(call("endless", json!({"start": 1})))
            .thread("t")
            .into_future(),
    );
    began.notified().await;
    run.abort();
    let stopped = tokio::time::timeout(Duration::from_secs(20), ended.notified());
    stopped.await.unwrap();
}

#[tokio::test]
async fn a_thread_that_the_arguments_name_goes_on_in_the_next_call() {
    let graph = persistent(one(|n: &i64| n + 1));
    let tool = number("count", graph.clone()).thread(|arguments| {
        arguments
            .get("start")
            .filter(|start| **start == 7)
            .map(|_| "lucky".to_owned())
    });
    let outer = caller(&served(tool).await).await;
    for start in [7, 1] {
        let run = outer
            .run(call("count", json!({"start": start})))
            .thread(start.to_string());
        run.await.unwrap();
    }
    let left = graph.threads().list(ThreadFilter::default()).await.unwrap();
    let names: Vec<_> = left.iter().map(|thread| thread.thread.clone()).collect();
    assert_eq!(names, ["lucky"]);
}

#[tokio::test]
async fn sessions_are_bounded_and_the_one_idle_for_longest_makes_room() {
    let tool = number("double", one(|n: &i64| n * 2));
    let server = McpServer::new("test", "1").tool(tool).max_sessions(3);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(server.listen(listener));
    let http = reqwest::Client::new();
    let post = async |session: Option<&str>, body: Value| {
        let mut request = http
            .post(&address)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(body.to_string());
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send().await.unwrap()
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}});
    let ping = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"});
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let answer = post(None, initialize.clone()).await;
        let session = answer.headers()["mcp-session-id"].to_str().unwrap();
        sessions.push(session.to_owned());
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        post(Some(&sessions[sessions.len() - 1]), initialized).await;
    }
    // The first one is used again, so the second one makes room.
    assert_eq!(post(Some(&sessions[0]), ping.clone()).await.status(), 200);
    post(None, initialize).await;
    let statuses = [
        post(Some(&sessions[0]), ping.clone()).await.status(),
        post(Some(&sessions[1]), ping.clone()).await.status(),
        post(Some(&sessions[2]), ping).await.status(),
    ];
    assert_eq!(statuses.map(|status| status.as_u16()), [200, 404, 200]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_silent_clients_are_closed_and_others_served() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = McpServer::new("test", "1").client_timeout(Duration::from_secs(1));
    tokio::spawn(server.listen(listener));
    slow_clients::are_closed(address, "/mcp").await;
}
