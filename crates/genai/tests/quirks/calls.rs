//! Calls of tools, as providers stream them.

use std::collections::BTreeSet;

use langgraph::message::{ContentPart, FinishReason, Message, ToolCall, Usage};
use langgraph_agent::{ChatModel, ChatRequest, MessagesStateUpdate, check_answered, react_agent};
use serde_json::{Value, json};

use super::support::{Answer, Server};
use super::{collect, message};

/// Quirk 1: the pieces of a call's arguments come from the beginning each time.
#[tokio::test]
async fn arguments_of_calls_come_as_what_is_new() {
    let piece = |index: u32, id: &str, name: &str, arguments: &str| {
        let mut call = json!({"index": index, "function": {"arguments": arguments}});
        if !id.is_empty() {
            call["id"] = json!(id);
            call["type"] = json!("function");
            call["function"]["name"] = json!(name);
        }
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string()
    };
    let pieces = [
        piece(0, "c1", "weather", ""),
        piece(0, "", "", "{\"ci"),
        piece(0, "", "", "ty\": \"Paris\""),
        piece(0, "", "", "}"),
        piece(1, "c2", "add", "{\"a\": 1, "),
        piece(1, "", "", "\"b\": 2}"),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}).to_string(),
        "[DONE]".to_owned(),
    ];
    let events: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let server = Server::start([Answer::events(&events)]).await;
    let (chunks, error) = collect(&server.openai().build().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    let deltas: Vec<_> = chunks
        .iter()
        .flat_map(|chunk| &chunk.tool_calls)
        .map(|call| (call.index, call.arguments.as_str()))
        .collect();
    assert_eq!(
        deltas,
        [
            (0, ""),
            (0, "{\"ci"),
            (0, "ty\": \"Paris\""),
            (0, "}"),
            (1, "{\"a\": 1, "),
            (1, "\"b\": 2}"),
        ]
    );
    assert_eq!(
        message(&chunks).tool_calls(),
        [
            ToolCall::new("c1", "weather", json!({"city": "Paris"})),
            ToolCall::new("c2", "add", json!({"a": 1, "b": 2})),
        ]
    );
    assert_eq!(
        chunks.last().unwrap().finish_reason,
        Some(FinishReason::ToolCalls)
    );
}

/// Gemini gives no ids to calls, and may send each in a piece of its own.
#[tokio::test]
async fn calls_without_an_id_get_one_that_no_other_call_has() {
    let call = |path: &str| {
        let call = json!({"functionCall": {"name": "read", "args": {"path": path}}});
        json!({"candidates": [{"content": {"role": "model", "parts": [call]}}]})
    };
    let end = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": []}}]});
    let mut whole = call("c");
    whole["candidates"][0]["finishReason"] = json!("STOP");
    let pieces = [call("a"), call("b"), end].map(|piece| piece.to_string());
    let pieces = pieces.each_ref().map(String::as_str);
    let answers = [
        Answer::events(&pieces),
        Answer::json("200 OK", &whole),
        Answer::json("200 OK", &whole),
    ];
    let server = Server::start(answers).await;
    let model = server.gemini().build().unwrap();
    let (chunks, error) = collect(&model).await;
    assert!(error.is_none(), "{error:?}");
    let mut chat = vec![Message::user("Read!"), message(&chunks)];
    let asked = chat[1].tool_calls().iter().map(|call| call.id.clone());
    chat.extend(
        asked
            .collect::<Vec<_>>()
            .iter()
            .map(|id| Message::tool(id, "text")),
    );
    for _ in 0..2 {
        let answer = model.generate(ChatRequest::new(chat.clone())).await;
        chat.push(answer.unwrap().message);
    }
    let calls: Vec<_> = chat.iter().flat_map(Message::tool_calls).collect();
    let paths: Vec<_> = calls.iter().map(|call| &call.arguments["path"]).collect();
    assert_eq!(paths, ["a", "b", "c", "c"]);
    let ids: BTreeSet<_> = calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids.len(), 4, "{ids:?}");
    // They are sent without the ids, which the provider does not know.
    let sent = server.requests()[1]["contents"].to_string();
    assert!(
        sent.contains("functionResponse") && !sent.contains("call#"),
        "{sent}"
    );
}

/// Quirk 5: arguments that are no JSON, and names of tools that do not exist, are reported to the
/// model; the graph goes on.
#[tokio::test]
async fn broken_arguments_go_back_to_the_model() {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let asks = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": null,
        "tool_calls": [call("c1", "now", "{\"zone\": "), call("c2", "nope", "{}")],
    }}]});
    let says = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "never mind",
    }}]});
    let server =
        Server::start([Answer::json("200 OK", &asks), Answer::json("200 OK", &says)]).await;
    let now = langgraph_agent::FnTool::new("now", "The time.", || async { "12:00" });
    let agent = react_agent(server.openai().build().unwrap(), (now,));
    let agent = agent.compile().unwrap();
    let state = agent.invoke(MessagesStateUpdate::user("hi")).await.unwrap();
    assert_eq!(state.messages[4].text(), "never mind");
    check_answered(&state.messages).unwrap();
    let texts: Vec<_> = state.messages[2..4].iter().map(Message::text).collect();
    assert!(texts[0].contains("not a JSON object"), "{texts:?}");
    assert!(texts[1].contains("nope is not a valid tool"), "{texts:?}");

    // What goes back is JSON all the same.
    let sent = &server.requests()[1]["messages"];
    let arguments = sent[1]["tool_calls"][0]["function"]["arguments"].as_str();
    let arguments: Value = serde_json::from_str(arguments.unwrap()).unwrap();
    assert_eq!(arguments, json!({"invalid_arguments": "{\"zone\": "}));
    assert_eq!(sent[2]["tool_call_id"], "c1");
    assert_eq!(sent[3]["tool_call_id"], "c2");
}

/// Quirk 7: Ollama says "stop" when the model waits for its tools, and announces no beginning.
#[tokio::test]
async fn calls_say_why_an_answer_ends() {
    let call = r#"{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":1,"b":2}}}]},"done":false}"#;
    let end = r#"{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}"#;
    let server = Server::start([Answer::lines(&[call, end])]).await;
    let (chunks, error) = collect(&server.ollama().build().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    let last = chunks.last().unwrap();
    assert_eq!(last.finish_reason, Some(FinishReason::ToolCalls));
    assert_eq!(last.usage, Some(Usage::new(3, 4)));
    let calls = message(&chunks).tool_calls().to_vec();
    assert_eq!(calls[0].arguments, json!({"a": 1, "b": 2}));
    assert!(!calls[0].id.is_empty());
}

#[tokio::test]
async fn anthropic_streams_thoughts_and_calls() {
    let events = [
        r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"claude-test","usage":{"input_tokens":10,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"add","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 1"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"}"}}"#,
        r#"{"type":"content_block_stop","index":1}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let server = Server::start([Answer::named_events(&events)]).await;
    let (chunks, error) = collect(&server.anthropic().build().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    let message = message(&chunks);
    assert_eq!(
        message.tool_calls(),
        [ToolCall::new("t1", "add", json!({"a": 1}))]
    );
    assert_eq!(
        message.parts(),
        [ContentPart::reasoning(
            "hm",
            Some("Anthropic:sig".to_owned())
        )]
    );
    assert_eq!(
        chunks.last().unwrap().finish_reason,
        Some(FinishReason::ToolCalls)
    );
}
