//! What genai leaves open and this crate closes, against recorded answers of providers.
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

#[path = "../../../examples/tests/listed/mod.rs"]
mod listed;
mod support;

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use langgraph::message::{
    ContentPart, FinishReason, Message, MessageAccumulator, MessageChunk, ToolCall, Usage,
};
use langgraph_agent::{
    ChatModel, ChatRequest, MessagesStateUpdate, ModelError, ModelErrorKind, ResponseFormat,
    ToolChoice, ToolDefinition, check_answered, react_agent,
};
use langgraph_genai::{GenaiModel, Model};
use langgraph_store::{Embedder, MemoryStore, StoreExt, StoreOptions};
use serde_json::{Value, json};
use support::{Answer, Server};

#[tokio::test(flavor = "multi_thread")]
async fn i2_every_listed_command_runs() {
    let server = Server::start([Answer::events(&[
        r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"It is "}}]}"#,
        r#"{"choices":[{"index":0,"delta":{"content":"noon."},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ])])
    .await;
    let run = move || {
        let [resilient] = &listed::of_package("langgraph-genai")[..] else {
            panic!("expected one example");
        };
        resilient.run(&[("OPENAI_BASE_URL", &server.address)])
    };
    let printed = tokio::task::spawn_blocking(run).await.unwrap();
    assert!(
        printed.ends_with("0 tool calls: It is noon.\n"),
        "{printed}"
    );
}

fn hi() -> ChatRequest {
    ChatRequest::new(vec![Message::user("hi")])
}

/// What a stream gives, and the error that ends it.
async fn collect(model: &GenaiModel) -> (Vec<MessageChunk>, Option<ModelError>) {
    let mut stream = model.stream(hi());
    let mut chunks = Vec::new();
    while let Some(item) = next(&mut stream).await {
        match item {
            Ok(chunk) => chunks.push(chunk),
            Err(error) => {
                assert!(
                    next(&mut stream).await.is_none(),
                    "the first error is the end"
                );
                return (chunks, Some(error));
            }
        }
    }
    (chunks, None)
}

async fn next<S: Stream + ?Sized>(stream: &mut Pin<Box<S>>) -> Option<S::Item> {
    std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await
}

fn message(chunks: &[MessageChunk]) -> Message {
    let mut whole = MessageAccumulator::new();
    for chunk in chunks {
        whole.push(chunk.clone());
    }
    whole.finish()
}

const TEXT: [&str; 4] = [
    r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{"content":"lo"}}]}"#,
    r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
    r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}"#,
];

#[tokio::test]
async fn text_streams_with_its_cost_and_its_end() {
    let events = [&TEXT[..], &["[DONE]"]].concat();
    let server = Server::start([Answer::events(&events)]).await;
    let model = server.openai().build().unwrap();
    let (chunks, error) = collect(&model).await;
    assert!(error.is_none(), "{error:?}");
    let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, ["Hel", "lo", ""]);
    let last = chunks.last().unwrap();
    assert_eq!(last.usage, Some(Usage::new(3, 2)));
    assert_eq!(last.finish_reason, Some(FinishReason::Stop));
    let sent = &server.requests()[0];
    assert_eq!(sent["messages"], json!([{"role": "user", "content": "hi"}]));
    assert_eq!(sent["model"], "test-model");
}

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

/// Quirk 2: a stream that is cut off ends as if it were whole.
#[tokio::test]
async fn a_stream_that_is_cut_off_is_an_error() {
    for answer in [Answer::events(&TEXT[..2]), Answer::events(&TEXT[..2]).cut()] {
        let server = Server::start([answer]).await;
        let (chunks, error) = collect(&server.openai().build().unwrap()).await;
        assert_eq!(chunks.len(), 2);
        let error = error.unwrap();
        assert!(
            matches!(
                error.kind(),
                ModelErrorKind::Incomplete | ModelErrorKind::Transport
            ),
            "{error:?}"
        );
        assert!(error.is_retryable());
    }
}

/// Quirk 3: after a broken chunk the stream continues.
#[tokio::test]
async fn a_broken_piece_ends_the_stream() {
    let events = [TEXT[0], r#"{"choices": [{"del"#, TEXT[1], TEXT[2], "[DONE]"];
    let server = Server::start([Answer::events(&events)]).await;
    let (chunks, error) = collect(&server.openai().build().unwrap()).await;
    assert_eq!(chunks.len(), 1);
    assert_eq!(error.unwrap().kind(), &ModelErrorKind::Incomplete);
}

#[tokio::test]
async fn an_error_in_the_stream_ends_it() {
    let failed = r#"{"error": {"message": "overloaded", "type": "server_error"}}"#;
    let server = Server::start([Answer::events(&[TEXT[0], failed, "[DONE]"])]).await;
    let (_, error) = collect(&server.openai().build().unwrap()).await;
    let error = error.unwrap();
    assert_eq!(error.kind(), &ModelErrorKind::Provider { status: None });
    assert!(error.to_string().contains("overloaded"), "{error}");
}

/// Quirk 4: the model does not retry, and the caller learns how long to wait.
#[tokio::test]
async fn statuses_become_kinds_and_nothing_is_tried_twice() {
    let said = |message: &str| json!({"error": {"message": message}});
    let cases = [
        ("429 Too Many Requests", said("slow down"), "rate"),
        (
            "429 Too Many Requests",
            json!({"error": {"message": "pay", "code": "insufficient_quota"}}),
            "quota",
        ),
        ("500 Internal Server Error", said("oops"), "500"),
        ("401 Unauthorized", said("bad key"), "auth"),
        ("400 Bad Request", said("no such parameter"), "request"),
        (
            "400 Bad Request",
            said("This model's maximum context length is 8192 tokens"),
            "length",
        ),
    ];
    for (status, body, name) in cases {
        let expected = match name {
            "rate" => ModelErrorKind::RateLimited {
                retry_after: Some(Duration::from_secs(7)),
            },
            "quota" => ModelErrorKind::Provider { status: Some(429) },
            "500" => ModelErrorKind::Provider { status: Some(500) },
            "auth" => ModelErrorKind::Auth,
            "request" => ModelErrorKind::InvalidRequest,
            _ => ModelErrorKind::ContextLength,
        };
        let answer = Answer::json(status, &body)
            .header("content-type: application/json\r\nretry-after: 7\r\n");
        let server = Server::start([answer.clone(), answer]).await;
        let model = server.openai().build().unwrap();
        let whole = model.generate(hi()).await.unwrap_err();
        let (_, streamed) = collect(&model).await;
        for error in [whole, streamed.unwrap()] {
            assert_eq!(error.kind(), &expected, "{error}");
            assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
            let message = body["error"]["message"].as_str().unwrap();
            assert!(error.to_string().ends_with(message), "{error}");
            assert!(!format!("{error:?}").contains("\"hi\""), "{error:?}");
        }
        assert_eq!(server.requests().len(), 2);
    }
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

/// Quirk 6: silence in the middle of a stream.
#[tokio::test]
async fn a_stream_that_falls_silent_times_out() {
    let answer = Answer::events(&TEXT[..2]).stall(Duration::from_secs(30));
    let server = Server::start([answer]).await;
    let model = server.openai().idle_timeout(Duration::from_millis(300));
    let (chunks, error) = collect(&model.build().unwrap()).await;
    assert_eq!(chunks.len(), 2);
    assert_eq!(error.unwrap().kind(), &ModelErrorKind::Timeout);
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

/// A server that ends its stream properly and never says why.
#[tokio::test]
async fn an_answer_without_a_reason_that_has_ended_is_whole() {
    let server = Server::start([Answer::events(&[TEXT[0], TEXT[1], "[DONE]"])]).await;
    let (chunks, error) = collect(&server.openai().build().unwrap()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        chunks.last().unwrap().finish_reason,
        Some(FinishReason::Stop)
    );
}

#[tokio::test]
async fn a_closed_port_is_a_transport_error() {
    let model = Model::openai("m")
        .base_url("http://127.0.0.1:9/v1")
        .build()
        .unwrap();
    for error in [
        model.generate(hi()).await.unwrap_err(),
        collect(&model).await.1.unwrap(),
    ] {
        assert_eq!(error.kind(), &ModelErrorKind::Transport, "{error}");
        assert!(error.to_string().contains("cannot be reached"), "{error}");
        assert!(error.is_retryable());
    }
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

#[tokio::test]
async fn a_whole_conversation_is_sent_as_providers_want_it() {
    let answer = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-test",
        "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 1}});
    let server = Server::start([Answer::json("200 OK", &answer)]).await;
    let thinking = vec![
        ContentPart::reasoning("hm", Some("sig".to_owned())),
        ContentPart::text("I look."),
    ];
    let calls = ["c1", "c2"].map(|id| ToolCall::new(id, "look", json!({"at": id})));
    let request = ChatRequest::new(vec![
        Message::user(vec![
            ContentPart::text("What is this?"),
            ContentPart::image_base64("image/png", "AA=="),
        ]),
        Message::assistant_with_tool_calls(thinking, calls),
        Message::tool("c1", "a cat"),
        Message::tool_error("c2", "nothing"),
    ])
    .system("Be brief.")
    .tools(vec![ToolDefinition::new(
        "look",
        "Looks.",
        json!({"type": "object", "properties": {"at": {"type": "string"}}}),
    )])
    .tool_choice(ToolChoice::Tool("look".to_owned()))
    .max_tokens(64)
    .temperature(0.5)
    .stop("###");
    let model = server.anthropic().build().unwrap();
    let response = model.generate(request).await.unwrap();
    assert_eq!(response.message.text(), "done");
    assert_eq!(response.usage, Some(Usage::new(5, 1)));
    assert_eq!(response.finish_reason, Some(FinishReason::Stop));

    let sent = &server.requests()[0];
    assert!(sent["system"].to_string().contains("Be brief."), "{sent}");
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3, "{sent:#}");
    assert_eq!(messages[0]["content"][1]["type"], "image");
    let kinds: Vec<_> = messages[1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(messages[1]["content"][0]["signature"], "sig");
    // Both answers in one message.
    let answers = messages[2]["content"].as_array().unwrap();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[1]["tool_use_id"], "c2");
    assert_eq!(sent["tools"][0]["name"], "look");
    assert_eq!(sent["tool_choice"]["name"], "look");
    assert_eq!(
        (&sent["max_tokens"], &sent["temperature"]),
        (&json!(64), &json!(0.5))
    );
    assert_eq!(sent["stop_sequences"], json!(["###"]));
}

#[tokio::test]
async fn a_schema_is_sent_with_a_name_that_providers_take() {
    let answer = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "{\"n\": 1}",
    }}]});
    let server = Server::start([Answer::json("200 OK", &answer)]).await;
    let schema =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let request = hi().response_format(ResponseFormat::json("Vec<City>", schema));
    server
        .openai()
        .build()
        .unwrap()
        .generate(request)
        .await
        .unwrap();
    let format = &server.requests()[0]["response_format"]["json_schema"];
    assert_eq!(format["name"], "Vec_City_");
    assert_eq!(format["schema"]["properties"]["n"]["type"], "integer");
}

#[tokio::test]
async fn what_cannot_be_sent_says_so() {
    let model = Model::openai("m")
        .base_url("http://127.0.0.1:9/v1")
        .build()
        .unwrap();
    let picture = Message::tool("c1", vec![ContentPart::image_url("http://x/a.png")]);
    let error = model
        .generate(ChatRequest::new(vec![picture]))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &ModelErrorKind::InvalidRequest);
    assert!(error.to_string().contains("not text"), "{error}");
    assert!(Model::openai(" ").build().is_err());
}

fn embeddings(places: impl IntoIterator<Item = u16>) -> Answer {
    let data = places.into_iter().map(|index| {
        let vector = [f32::from(index) + 1.0, 0.5];
        json!({"object": "embedding", "index": index, "embedding": vector})
    });
    let data: Vec<Value> = data.collect();
    let usage = json!({"prompt_tokens": 1, "total_tokens": 1});
    let body = json!({"object": "list", "model": "test-model", "data": data, "usage": usage});
    Answer::json("200 OK", &body)
}

#[tokio::test]
async fn texts_are_embedded_some_at_a_time_and_come_back_in_their_order() {
    let server = Server::start([embeddings((0..64).rev()), embeddings(0..6)]).await;
    let embedder = server.openai().embedder(2).unwrap();
    let texts: Vec<String> = (0..70).map(|n| format!("text {n}")).collect();
    let vectors = embedder.embed(&texts).await.unwrap();
    let firsts: Vec<f32> = vectors.iter().map(|vector| vector[0]).collect();
    let expected = (1..=64_u16).chain(1..=6).map(f32::from);
    assert_eq!(firsts, expected.collect::<Vec<f32>>());
    let requests = server.requests();
    assert_eq!(requests[0]["input"], json!(texts[..64]));
    assert_eq!(requests[1]["input"], json!(texts[64..]));
}

#[tokio::test]
async fn an_embedder_that_is_refused_says_why() {
    let body = json!({"error": {"message": "no such model", "type": "invalid_request_error"}});
    let server = Server::start([Answer::json("404 Not Found", &body), embeddings([0])]).await;
    let store = StoreOptions::default().embedder(server.openai().embedder(2).unwrap());
    let store = MemoryStore::with(store);
    let error = store.put(["a"], "k", "text").await.unwrap_err().to_string();
    assert!(error.starts_with("the embedder failed: "), "{error}");
    assert!(error.contains("no such model"), "{error}");

    let embedder = server.openai().embedder(2).unwrap();
    let texts = ["one".to_owned(), "two".to_owned()];
    let error = embedder.embed(&texts).await.unwrap_err().to_string();
    assert_eq!(error, "the provider gave 1 vectors for 2 texts");
}
