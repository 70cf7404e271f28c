//! Tools of a server, in graphs.
#![allow(clippy::unwrap_used)] // in what several tests share

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{ContentPart, ToolCall};
use langgraph::prelude::*;
use langgraph_agent::{
    ApprovalRequest, Budget, HumanInTheLoop, MessagesState, MessagesStateUpdate, ScriptedModel,
    ToolDecision, ToolNode, Turn, react_agent,
};
use langgraph_mcp::{Elicited, Http, McpClient, McpError, Options, Question};
use serde_json::{Value, json};
use tokio::process::Command;

use support::{Seen, start};

fn asks(calls: &[(&str, Value)]) -> MessagesStateUpdate {
    let numbered = calls.iter().enumerate();
    let calls = numbered
        .map(|(n, (name, arguments))| ToolCall::new(format!("c{n}"), *name, arguments.clone()));
    let message = Message::assistant_with_tool_calls("", calls);
    MessagesStateUpdate::default().messages(vec![message])
}

async fn connected(options: Options) -> (McpClient, Arc<Seen>) {
    let (address, seen) = start().await;
    let client = McpClient::connect_with(Http::new(address), options).await;
    (client.unwrap(), seen)
}

/// A graph of nothing but the tools.
async fn tools_of(client: &McpClient) -> StateGraph<MessagesState> {
    let tools = client.tools().await.unwrap();
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("tools", ToolNode::new(tools))
        .add_sequence(&["tools"]);
    graph
}

fn answers(state: &MessagesState) -> Vec<(bool, String)> {
    let results = state.messages.iter().filter_map(Message::tool_result);
    let results = results.map(|result| (!result.is_error(), result.content.text().into_owned()));
    results.collect()
}

#[tokio::test]
async fn a_server_lists_its_tools_and_describes_itself() {
    let (client, _) = connected(Options::default().prefix("inn_")).await;
    let tools = client.tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool.name().to_owned()).collect();
    let expected = [
        "add",
        "facts",
        "fail",
        "picture",
        "slow",
        "book_table",
        "ask",
        "wait",
    ];
    assert_eq!(names, expected.map(|name| format!("inn_{name}")));
    let add = tools.get("inn_add").unwrap().definition();
    assert_eq!(add.description, "Adds two numbers.");
    assert_eq!(add.parameters["properties"]["a"]["type"], "integer");
    assert_eq!(client.instructions().unwrap(), "Ask before you book.");
    assert!(client.server_info().is_some());
    // By its own name at the server.
    let graph = tools_of(&client).await.compile().unwrap();
    let call = asks(&[("inn_add", json!({"a": 2, "b": 3}))]);
    let state = graph.invoke(call).await.unwrap();
    assert_eq!(answers(&state), [(true, "5".to_owned())]);
}

#[tokio::test]
async fn every_call_is_answered_whatever_the_server_says() {
    let (client, _) = connected(Options::default()).await;
    let graph = tools_of(&client).await.compile().unwrap();
    let calls = asks(&[
        ("add", json!({"a": 2, "b": 3})),
        ("add", json!({"a": "two"})),
        ("add", json!([2, 3])),
        ("facts", json!({})),
        ("fail", json!({})),
        ("picture", Value::Null),
    ]);
    let state = graph.invoke(calls).await.unwrap();
    let said = answers(&state);
    assert_eq!(said[0], (true, "5".to_owned()));
    assert!(!said[1].0 && said[1].1.contains("`a` and `b` are numbers"));
    assert!(!said[2].0 && said[2].1.contains("[2,3]"), "{:?}", said[2]);
    assert_eq!(said[3], (true, r#"{"facts":[1,2,3]}"#.to_owned()));
    assert!(!said[4].0 && said[4].1.contains("the kitchen is closed"));
    assert!(said[5].0);
    let parts = state.messages.last().unwrap().parts().to_vec();
    let picture = ContentPart::image_base64("image/png", "aGk=");
    assert_eq!(parts, [ContentPart::text("a dot"), picture]);
}

#[tokio::test]
async fn a_model_works_with_the_tools_of_a_server() {
    let (client, seen) = connected(Options::default()).await;
    let model = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c", "add", json!({"a": 40, "b": 2}))]),
        Turn::text("It is 42."),
    ]);
    let agent = react_agent(model, client.tools().await.unwrap());
    let agent = agent.compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("40 + 2?")).await;
    let messages = state.unwrap().messages;
    assert_eq!(messages[2].text(), "42");
    assert_eq!(messages[3].text(), "It is 42.");
    assert_eq!(seen.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_question_of_a_server_pauses_the_run_and_the_answer_reaches_it() {
    let accept = Elicited::Accept(json!({"guests": 4}));
    let answers_of_person = [
        (
            accept,
            json!({"action": "accept", "content": {"guests": 4}}),
        ),
        (Elicited::Decline, json!({"action": "decline"})),
        (Elicited::Cancel, json!({"action": "cancel"})),
    ];
    for (answer, expected) in answers_of_person {
        let (client, _) = connected(Options::default()).await;
        let graph = tools_of(&client).await.compile().unwrap();
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let call = asks(&[("book_table", json!({}))]);
        let outcome = graph.run(call).thread("t").await.unwrap();
        assert!(!outcome.is_done(), "{:?}", answers(outcome.state()));
        let asked = &outcome.interrupts()[0];
        let question: Question = serde_json::from_value(asked.payload.clone()).unwrap();
        assert_eq!(question.message, "For how many?");
        let schema = question.schema.unwrap();
        assert_eq!(schema["properties"]["guests"]["type"], "integer");
        let key = asked.key.clone();
        assert!(key.ends_with("book_table/guests"), "{key}");
        let outcome = graph.thread("t").resume(key, answer).await.unwrap();
        let (success, text) = answers(outcome.state()).remove(0);
        assert!(success);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_at_the_server() {
    let (client, seen) = connected(Options::default()).await;
    let graph = tools_of(&client).await.compile().unwrap();
    let run = tokio::spawn(async move { graph.invoke(asks(&[("slow", json!({}))])).await });
    seen.slow.notified().await;
    run.abort();
    let cancelled = tokio::time::timeout(Duration::from_secs(20), seen.cancelled.notified());
    cancelled.await.unwrap();
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_cancelled_and_answered_with_an_error() {
    let limit = Duration::from_millis(200);
    let (client, seen) = connected(Options::default().call_timeout(limit)).await;
    let graph = tools_of(&client).await.compile().unwrap();
    let state = graph.invoke(asks(&[("slow", json!({}))])).await.unwrap();
    let (success, text) = answers(&state).remove(0);
    assert!(!success && text.contains("`slow` has not answered within 200ms"));
    let cancelled = tokio::time::timeout(Duration::from_secs(20), seen.cancelled.notified());
    cancelled.await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_gone_fails_the_node() {
    let (client, seen) = connected(Options::default()).await;
    let graph = tools_of(&client).await.compile().unwrap();
    client.close().await;
    let error = graph
        .invoke(asks(&[("fail", json!({}))]))
        .await
        .unwrap_err();
    let error = error.node_error().unwrap();
    let gone = error.downcast_ref::<McpError>().unwrap();
    assert!(matches!(gone, McpError::Gone { .. }), "{gone}");
    assert_eq!(seen.calls.load(Ordering::SeqCst), 0);
}

async fn refused(transport: impl Into<langgraph_mcp::Transport>) -> McpError {
    let short = Options::default().connect_timeout(Duration::from_secs(5));
    McpClient::connect_with(transport, short).await.unwrap_err()
}

#[tokio::test]
async fn addresses_and_programs_that_are_no_server_are_named() {
    let error = refused(Command::new("no-such-program-anywhere")).await;
    assert!(
        matches!(&error, McpError::Start { program, .. } if program == "no-such-program-anywhere")
    );

    // It ends without a word of the protocol.
    let error = refused(Command::new("true")).await;
    assert!(
        matches!(&error, McpError::Connect { server, .. } if server == "true"),
        "{error}"
    );

    // It says nothing at all.
    let mut silent = Command::new("sleep");
    silent.arg("60");
    let brief = Options::default().connect_timeout(Duration::from_millis(200));
    let error = McpClient::connect_with(silent, brief).await.unwrap_err();
    assert!(
        matches!(&error, McpError::TimedOut { server, .. } if server == "sleep"),
        "{error}"
    );

    for address in ["nonsense", "ftp://example.org", "https://example.org"] {
        let error = refused(Http::new(address)).await;
        let encrypts = cfg!(any(feature = "rustls", feature = "native-tls"));
        if !(encrypts && address.starts_with("https")) {
            assert!(matches!(error, McpError::Address { .. }), "{error}");
        }
    }
    let header = Http::new("http://127.0.0.1:9/mcp").header("two words", "x");
    let error = refused(header).await.to_string();
    assert!(error.contains("two words"), "{error}");
    // No server is there; the error does not contain the secret of the address.
    let error = refused(Http::new("http://127.0.0.1:9/mcp?key=secret")).await;
    assert!(matches!(error, McpError::Connect { .. }));
    assert!(
        error
            .to_string()
            .starts_with("failed to connect to the MCP server `http://127.0.0.1:9/mcp`")
    );
}

/// An agent whose model calls these tools at once, and answers.
async fn agent(
    client: &McpClient,
    calls: Vec<ToolCall>,
    approved: &'static str,
) -> CompiledStateGraph<MessagesState> {
    let model = ScriptedModel::new([Turn::tool_calls(calls), Turn::text("Done.")]);
    let agent = react_agent(model, client.tools().await.unwrap());
    let agent = agent.with(HumanInTheLoop::new(approved)).compile().unwrap();
    agent.checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test]
async fn an_approved_call_that_asks_counts_once_and_keeps_its_decision() {
    let (client, seen) = connected(Options::default()).await;
    let calls = vec![ToolCall::new("c", "book_table", json!({}))];
    let budget = Arc::new(Budget::by(|_| "ada".to_owned()).tool_calls(1));
    let agent = agent(&client, calls, "book_table").await;
    let agent = agent.resource(Arc::clone(&budget));
    let thread = agent.thread("t");
    let paused = thread
        .run(MessagesStateUpdate::user("A table!"))
        .await
        .unwrap();
    assert_eq!(seen.calls.load(Ordering::SeqCst), 0);
    let request = ApprovalRequest::of(&paused.interrupts()[0]).unwrap();
    let paused = thread
        .resume("c", request.answer(ToolDecision::Approve))
        .await
        .unwrap();
    assert_eq!(paused.interrupts()[0].key, "book_table/guests");
    // An answer of another form leaves the question open.
    thread.answer("four").await.unwrap_err();
    let guests = Elicited::Accept(json!({"guests": 4}));
    let state = thread.answer(guests).await.unwrap().finished().unwrap();
    assert_eq!(answers(&state).len(), 1);
    assert_eq!(state.messages[3].text(), "Done.");
    assert_eq!(seen.calls.load(Ordering::SeqCst), 2);
    assert_eq!(budget.account("ada").await.unwrap().spent.tool_calls, 1);
}

#[tokio::test]
async fn edited_arguments_of_a_servers_tool_are_checked_by_its_schema() {
    let (client, _) = connected(Options::default()).await;
    let calls = vec![ToolCall::new("c", "add", json!({"a": 1, "b": 2}))];
    let agent = agent(&client, calls, "add").await;
    let thread = agent.thread("t");
    thread
        .run(MessagesStateUpdate::user("1 + 2?"))
        .await
        .unwrap();
    let typo = ToolDecision::edit([("a", json!("seven"))]);
    thread.resume("c", typo).await.unwrap_err();
    let edited = ToolDecision::edit([("a", 40), ("b", 2)]);
    let state = thread
        .resume("c", edited)
        .await
        .unwrap()
        .finished()
        .unwrap();
    let text = answers(&state).remove(0).1;
    assert!(text.ends_with("\n42"), "{text}");
}

#[tokio::test]
async fn equal_questions_of_calls_side_by_side_wait_beside_an_approval_and_get_an_answer_each() {
    let (client, seen) = connected(Options::default()).await;
    let calls = vec![
        ToolCall::new("c1", "book_table", json!({})),
        ToolCall::new("c2", "add", json!({"a": 1, "b": 2})),
        ToolCall::new("c3", "book_table", json!({})),
    ];
    let agent = agent(&client, calls, "add").await;
    let thread = agent.thread("t");
    let run = thread.run(MessagesStateUpdate::user("?"));
    let asked = run.await.unwrap().interrupts().to_vec();
    let keys = asked.iter().map(|asked| &*asked.key);
    assert_eq!(
        keys.collect::<Vec<_>>(),
        ["book_table/guests", "c2", "book_table/guests"]
    );
    // The key names two of them.
    let guests = |n: u8| Elicited::Accept(json!({"guests": n}));
    thread
        .resume("book_table/guests", guests(3))
        .await
        .unwrap_err();
    thread.resume(&asked[2].id, guests(3)).await.unwrap();
    let request = ApprovalRequest::of(&asked[1]).unwrap();
    thread
        .resume("c2", request.answer(ToolDecision::Approve))
        .await
        .unwrap();
    let done = thread.answer(guests(2)).await.unwrap().finished().unwrap();
    let said = answers(&done);
    assert!(
        said[0].1.contains("\"guests\":2") && said[2].1.contains("\"guests\":3"),
        "{said:?}"
    );
    assert_eq!(said[1], (true, "3".to_owned()));
    // Each booking in two rounds, and the sum: nothing runs again for an answer to another call.
    assert_eq!(seen.calls.load(Ordering::SeqCst), 5);
}
