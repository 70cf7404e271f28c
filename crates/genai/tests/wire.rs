//! Requests in the form that each provider documents, read by a stand-in server.
#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

mod support;

use std::time::{Duration, Instant, SystemTime};

use langgraph::message::{Content, ContentPart, Media, Message, ToolCall, ToolResult};
use langgraph_agent::{
    ChatModel, ChatModelExt, ChatRequest, MessagesStateUpdate, ModelError, ModelErrorKind,
    ModelRetry, ToolDefinition, react_agent,
};
use langgraph_genai::{GenaiModel, Model};
use langgraph_testing::TestContext;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use support::{Answer, Server};

const PNG: &str = "iVBORw0KGgo=";
const PDF: &str = "JVBERi0xLjQ=";
const PICTURE: &str = "https://example.org/receipt.png";

/// A model at the server.
type At = fn(&Server) -> Model;
type Case<'a> = (At, &'a dyn Fn(&str) -> Value, &'a str);

/// The request that a provider gets.
async fn sent(model: impl Fn(&Server) -> Model, request: ChatRequest) -> Value {
    let server = Server::start([Answer::json("400 Bad Request", &json!({}))]).await;
    let model = model(&server).build().unwrap();
    model.generate(request).await.unwrap_err();
    server.requests().remove(0)
}

/// The parts of the user's message that a provider gets.
async fn parts(model: impl Fn(&Server) -> Model, parts: Vec<ContentPart>) -> Vec<Value> {
    let sent = sent(model, ChatRequest::new(vec![Message::user(parts)])).await;
    let content = &sent["messages"][0]["content"];
    let content = content
        .as_array()
        .or(sent["contents"][0]["parts"].as_array());
    content.unwrap().clone()
}

fn pdf() -> ContentPart {
    ContentPart::File(Media::base64("application/pdf", PDF))
}

#[tokio::test]
async fn k5_pictures_and_files_reach_openai() {
    let wav = ContentPart::Audio(Media::base64("audio/wav", "UklGRg=="));
    let picture = ContentPart::image_base64("image/png", PNG);
    let given = vec![ContentPart::image_url(PICTURE), picture, pdf(), wav];
    let parts = parts(Server::openai, given).await;
    assert_eq!(
        parts,
        [
            json!({"type": "image_url", "image_url": {"url": PICTURE}}),
            json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PNG}")}}),
            // A file without a name is refused.
            json!({"type": "file", "file": {
                "filename": "file.pdf",
                "file_data": format!("data:application/pdf;base64,{PDF}"),
            }}),
            json!({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}),
        ]
    );
}

#[tokio::test]
async fn k5_pictures_and_files_reach_anthropic() {
    let picture = ContentPart::image_base64("image/png", PNG);
    let report = ContentPart::File(Media::url("https://example.org/report.pdf"));
    let given = vec![ContentPart::image_url(PICTURE), picture, pdf(), report];
    let parts = parts(Server::anthropic, given).await;
    let base64 = |kind: &str, mime: &str, data: &str| json!({"type": kind, "source": {"type": "base64", "media_type": mime, "data": data}});
    assert_eq!(
        parts,
        [
            json!({"type": "image", "source": {"type": "url", "url": PICTURE}}),
            base64("image", "image/png", PNG),
            base64("document", "application/pdf", PDF),
            json!({"type": "document", "source": {"type": "url", "url": "https://example.org/report.pdf"}}),
        ]
    );
}

#[tokio::test]
async fn k5_pictures_and_files_reach_gemini() {
    let picture = ContentPart::image_base64("image/png", PNG);
    let given = vec![ContentPart::image_url(PICTURE), picture, pdf()];
    let parts = parts(Server::gemini, given).await;
    assert_eq!(
        parts,
        [
            json!({"file_data": {"mime_type": "image/png", "file_uri": PICTURE}}),
            json!({"inline_data": {"mime_type": "image/png", "data": PNG}}),
            json!({"inline_data": {"mime_type": "application/pdf", "data": PDF}}),
        ]
    );
}

#[tokio::test]
async fn k5_what_a_provider_does_not_take_is_an_error_and_not_left_out() {
    let picture = vec![
        ContentPart::text("hm?"),
        ContentPart::image_base64("image/png", PNG),
    ];
    let seen = sent(
        Server::ollama,
        ChatRequest::new(vec![Message::user(picture)]),
    )
    .await;
    assert_eq!(seen["messages"][0]["images"], json!([PNG]));

    let sound = ContentPart::Audio(Media::base64("audio/wav", "UklGRg=="));
    let report = ContentPart::File(Media::url("https://example.org/report.pdf"));
    let cases: [(At, ContentPart, &str); 4] = [
        (
            Server::ollama,
            ContentPart::image_url(PICTURE),
            "a picture by its address, to Ollama",
        ),
        (Server::ollama, pdf(), "a file, to Ollama"),
        (Server::anthropic, sound, "a sound, to Anthropic"),
        (Server::openai, report, "a file by its address, to OpenAI"),
    ];
    for (model, part, said) in cases {
        let server = Server::start([]).await;
        let model = model(&server).build().unwrap();
        let request = ChatRequest::new(vec![Message::user(vec![part])]);
        let error = model.generate(request).await.unwrap_err();
        assert_eq!(error.kind(), &ModelErrorKind::InvalidRequest);
        assert!(error.to_string().contains(said), "{error}");
    }
}

/// A turn in which the model thought, and then called a tool.
fn thought() -> ChatRequest {
    let reasoning = ContentPart::reasoning("A receipt.", Some("c2ln".to_owned()));
    let said = Content::Parts(vec![reasoning, ContentPart::text("I look it up.")]);
    let call = ToolCall::new("c1", "find_order", json!({"number": 7}));
    let result = ToolResult::new("c1", "a teapot").with_name("find_order");
    ChatRequest::new(vec![
        Message::user("What is this?"),
        Message::assistant_with_tool_calls(said, vec![call]),
        result.into(),
    ])
}

#[tokio::test]
async fn k5_reasoning_goes_back_apart_from_the_answer() {
    let seen = sent(Server::openai, thought()).await;
    let said = &seen["messages"][1];
    assert_eq!(said["content"], "I look it up.");
    assert_eq!(said["reasoning_content"], "A receipt.");

    let seen = sent(Server::anthropic, thought()).await;
    assert_eq!(
        seen["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "A receipt.", "signature": "c2ln"},
            {"type": "text", "text": "I look it up."},
            {"type": "tool_use", "id": "c1", "name": "find_order", "input": {"number": 7}},
        ])
    );

    // Gemini wants the signature on the call, and no thoughts.
    let seen = sent(Server::gemini, thought()).await;
    let parts = &seen["contents"][1]["parts"];
    assert_eq!(parts[0], json!({"text": "I look it up."}));
    assert_eq!(parts[1]["functionCall"]["name"], "find_order");
    assert_eq!(parts[1]["thoughtSignature"], "c2ln");
}

/// A chat whose instructions and last results are marked.
fn marked() -> ChatRequest {
    let part = |text: &str, mark: Value| -> ContentPart {
        serde_json::from_value(json!({"type": "text", "text": text, "cache_control": mark}))
            .unwrap()
    };
    let calls = ["c1", "c2"].map(|id| ToolCall::new(id, "look", json!({})));
    let hour = part("Be brief.", json!({"type": "ephemeral", "ttl": "1h"}));
    let last = vec![part("two", json!({"type": "ephemeral"}))];
    ChatRequest::new(vec![
        Message::from(langgraph::message::MessageKind::SystemParts(vec![hour])),
        Message::user("Look!"),
        Message::assistant_with_tool_calls("", calls),
        Message::tool("c1", "one"),
        Message::from(ToolResult::new("c2", Content::Parts(last))),
    ])
}

#[tokio::test]
async fn marks_of_prompts_to_keep_reach_anthropic_and_no_other() {
    let seen = sent(Server::anthropic, marked()).await;
    let hour = json!({"type": "ephemeral", "ttl": "1h"});
    assert_eq!(seen["system"][0]["cache_control"], hour, "{seen}");
    let messages = seen["messages"].as_array().unwrap();
    let results = messages.last().unwrap()["content"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1]["cache_control"]["type"], "ephemeral", "{seen}");
    assert_eq!(seen.to_string().matches("cache_control").count(), 2);
    for other in [Server::openai, Server::gemini] {
        let seen = sent(other, marked()).await.to_string();
        assert!(!seen.contains("cache"), "{seen}");
        assert!(seen.contains("Be brief."), "{seen}");
    }
}

#[tokio::test]
async fn k5_reasoning_that_comes_is_kept_apart_from_the_answer() {
    let openai = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "42.", "reasoning_content": "6 times 7."}}]});
    let anthropic = json!({"id": "m", "type": "message", "role": "assistant", "model": "m",
        "content": [
            {"type": "thinking", "thinking": "6 times 7.", "signature": "c2ln"},
            {"type": "text", "text": "42."}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 1}});
    let gemini = json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
        {"text": "6 times 7.", "thought": true},
        {"text": "42.", "thoughtSignature": "c2ln"}]}}]});
    let cases: [(At, Value); 3] = [
        (Server::openai, openai),
        (Server::anthropic, anthropic),
        (Server::gemini, gemini),
    ];
    for (model, answer) in cases {
        let server = Server::start([Answer::json("200 OK", &answer)]).await;
        let model = model(&server).build().unwrap();
        let response = model.generate(ChatRequest::new(vec![Message::user("6 * 7?")]));
        let message = response.await.unwrap().message;
        assert_eq!(message.text(), "42.", "{answer}");
        let reasoning = message.parts().iter().find_map(|part| match part {
            ContentPart::Reasoning { reasoning, .. } => Some(reasoning.as_str()),
            _ => None,
        });
        assert_eq!(reasoning, Some("6 times 7."), "{answer}");
    }
}

/// Anthropic checks each block of reasoning against its signature.
#[tokio::test]
async fn k10_an_answer_names_its_model_and_its_id() {
    let body = json!({"id": "msg_7", "type": "message", "role": "assistant",
        "model": "claude-test-20260101", "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let server = Server::start([Answer::json("200 OK", &body)]).await;
    let model = Server::anthropic(&server).build().unwrap();
    let hi = ChatRequest::new(vec![Message::user("hi")]);
    let answer = model.generate(hi).await.unwrap();
    assert_eq!(
        answer.metadata.model.as_deref(),
        Some("claude-test-20260101")
    );
    assert_eq!(answer.metadata.id.as_deref(), Some("msg_7"));
}

#[tokio::test]
async fn k5_several_blocks_of_reasoning_keep_their_signatures() {
    let thinking = |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
    let call = json!({"type": "tool_use", "id": "c1", "name": "look", "input": {}});
    let said = json!([thinking("first", "s1"), thinking("second", "s2"), call]);
    let answer = json!({"id": "m", "type": "message", "role": "assistant", "model": "m",
        "content": said, "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 1}});
    let refusal = Answer::json("400 Bad Request", &json!({}));
    let server = Server::start([Answer::json("200 OK", &answer), refusal]).await;
    let model = server.anthropic().build().unwrap();
    let mut chat = vec![Message::user("Look!")];
    let response = model.generate(ChatRequest::new(chat.clone())).await;
    chat.push(response.unwrap().message);
    chat.push(Message::tool("c1", "a cat"));
    model.generate(ChatRequest::new(chat)).await.unwrap_err();
    assert_eq!(server.requests()[1]["messages"][1]["content"], said);
}

/// After a fallback, the history holds reasoning that only the first provider can check.
#[tokio::test]
async fn k5_reasoning_goes_to_its_own_provider_alone() {
    let answer = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [
        {"type": "thinking", "thinking": "6 times 7.", "signature": "c2ln"},
        {"type": "tool_use", "id": "c1", "name": "multiply", "input": {}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 1}});
    let server = Server::start([Answer::json("200 OK", &answer)]).await;
    let model = server.anthropic().build().unwrap();
    let asked = Message::user("6 * 7?");
    let response = model.generate(ChatRequest::new(vec![asked.clone()])).await;
    let said = response.unwrap().message;
    let chat = || ChatRequest::new(vec![asked.clone(), said.clone(), Message::tool("c1", "42")]);

    let own = sent(Server::anthropic, chat()).await;
    assert_eq!(
        own["messages"][1]["content"][0],
        json!({"type": "thinking", "thinking": "6 times 7.", "signature": "c2ln"})
    );
    let gemini = sent(Server::gemini, chat()).await;
    assert!(gemini["contents"][1]["parts"][0]["functionCall"]["name"] == "multiply");
    for elsewhere in [gemini, sent(Server::openai, chat()).await] {
        let text = elsewhere.to_string();
        assert!(
            !text.contains("6 times 7.") && !text.contains("c2ln"),
            "{text}"
        );
    }
}

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct City {
    name: String,
    people: u64,
}

#[tokio::test]
async fn k5_a_type_is_asked_for_in_each_providers_words_and_repaired() {
    let openai = |text: &str| json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}], "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}});
    let anthropic = |text: &str| json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "usage": {"input_tokens": 10, "output_tokens": 2}});
    let gemini = |text: &str| json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [{"text": text}]}}], "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}});
    let cases: [Case<'_>; 3] = [
        (
            Server::openai,
            &openai,
            "/response_format/json_schema/schema",
        ),
        (
            Server::anthropic,
            &anthropic,
            "/output_config/format/schema",
        ),
        (
            Server::gemini,
            &gemini,
            "/generationConfig/responseJsonSchema",
        ),
    ];
    for (model, answer, schema) in cases {
        let answers = [
            r#"{"name": "Paris", "people": "many"}"#,
            r#"{"name": "Paris", "people": 2100000}"#,
        ];
        let answers = answers.map(|text| Answer::json("200 OK", &answer(text)));
        let server = Server::start(answers).await;
        let model = model(&server).build().unwrap();
        let request = ChatRequest::new(vec![Message::user("Which city?")]);
        let cx = TestContext::new();
        let city = model.structured::<City>(request).send(&cx).await.unwrap();
        assert_eq!(
            city.value,
            City {
                name: "Paris".to_owned(),
                people: 2_100_000
            }
        );
        assert_eq!(
            (
                city.repairs,
                city.usage.input_tokens,
                city.usage.output_tokens
            ),
            (1, 20, 4)
        );

        let [first, second] = &server.requests()[..] else {
            panic!("two requests");
        };
        for request in [first, second] {
            let schema = request.pointer(schema);
            assert!(
                schema.is_some_and(|schema| schema["properties"]["people"].is_object()),
                "{request:#}"
            );
        }
        // The model gets back what it said, and why it is wrong.
        let second = second.to_string();
        assert!(
            second.contains("many") && second.contains("people: invalid type"),
            "{second}"
        );
    }
}

fn order() -> ChatRequest {
    let schema = json!({"type": "object", "properties": {"number": {"type": "integer"}}});
    let tools = vec![ToolDefinition::new("find_order", "Finds it.", schema)];
    thought().system("You are the refund desk.").tools(tools)
}

async fn count(model: Model, request: &ChatRequest) -> Result<(u64, bool), ModelError> {
    let count = model.build()?.count_tokens(request).await?;
    Ok((count.tokens, count.estimated))
}

#[tokio::test]
async fn k5_anthropic_counts_tokens_before_a_call() {
    let server = Server::start([Answer::json("200 OK", &json!({"input_tokens": 123}))]).await;
    let counted = count(server.anthropic().exact_counts(), &order()).await;
    assert_eq!(counted.unwrap(), (123, false));
    let head = &server.heads()[0];
    assert!(
        head.starts_with("POST /v1/messages/count_tokens "),
        "{head}"
    );
    assert!(
        head.contains("x-api-key: k") && head.contains("anthropic-version: "),
        "{head}"
    );
    assert_eq!(
        server.requests()[0],
        json!({
            "model": "claude-test",
            "system": "You are the refund desk.",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "What is this?"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look it up."},
                    {"type": "tool_use", "id": "c1", "name": "find_order", "input": {"number": 7}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "a teapot"},
                ]},
            ],
            "tools": [{"name": "find_order", "description": "Finds it.",
                "input_schema": {"type": "object", "properties": {"number": {"type": "integer"}}}}],
        })
    );
}

#[tokio::test]
async fn k5_gemini_counts_tokens_before_a_call() {
    let server = Server::start([Answer::json("200 OK", &json!({"totalTokens": 45}))]).await;
    let counted = count(server.gemini().exact_counts(), &order()).await;
    assert_eq!(counted.unwrap(), (45, false));
    let head = &server.heads()[0];
    assert!(
        head.starts_with("POST /v1/models/gemini-test:countTokens "),
        "{head}"
    );
    assert!(head.contains("x-goog-api-key: k"), "{head}");
    let sent = &server.requests()[0]["generateContentRequest"];
    assert_eq!(sent["model"], "models/gemini-test");
    let instructions = &sent["systemInstruction"]["parts"][0]["text"];
    assert_eq!(instructions, "You are the refund desk.");
    let roles: Vec<_> = sent["contents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|turn| &turn["role"])
        .collect();
    assert_eq!(roles, ["user", "model", "user"]);
    let result = &sent["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(result["name"], "find_order");
    assert_eq!(
        sent["tools"][0]["functionDeclarations"][0]["name"],
        "find_order"
    );
}

#[tokio::test]
async fn k5_without_a_counter_the_number_says_that_it_is_an_estimate() {
    // Nothing is asked: by default, and of a provider that does not count.
    let server = Server::start([]).await;
    for model in [server.anthropic(), server.openai().exact_counts()] {
        let (tokens, estimated) = count(model, &order()).await.unwrap();
        assert!(estimated && (30..90).contains(&tokens), "{tokens}");
    }
    // A server that speaks Anthropic's protocol, but does not count.
    let server = Server::start([Answer::json("404 Not Found", &json!({}))]).await;
    assert!(
        count(server.anthropic().exact_counts(), &order())
            .await
            .unwrap()
            .1
    );
    // A key that is wrong is an error.
    let server = Server::start([Answer::json("401 Unauthorized", &json!({}))]).await;
    let error = count(server.anthropic().exact_counts(), &order())
        .await
        .unwrap_err();
    assert_eq!(error.kind(), &ModelErrorKind::Auth);
}

/// Asks an agent whose provider first refuses, and returns how long it waited.
async fn waited(refusal: Answer) -> Duration {
    let answer = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}]});
    let server = Server::start([refusal, Answer::json("200 OK", &answer)]).await;
    let model: GenaiModel = server.openai().build().unwrap();
    let retries = ModelError::retries(2).immediately();
    let agent = react_agent(model, ())
        .with(ModelRetry::policy(retries))
        .compile()
        .unwrap();
    let began = Instant::now();
    let chat = agent.invoke(MessagesStateUpdate::user("hi")).await.unwrap();
    assert_eq!(chat.messages[1].text(), "hello");
    began.elapsed()
}

#[tokio::test]
async fn k5_a_retry_comes_when_the_provider_asks_for_it() {
    let limited = || Answer::json("429 Too Many Requests", &json!({}));
    let soon = waited(limited()).await;
    assert!(soon < Duration::from_millis(300), "{soon:?}");
    let headers = "content-type: application/json\r\nretry-after-ms: 400\r\n";
    let later = waited(limited().header(headers)).await;
    assert!(later >= Duration::from_millis(400), "{later:?}");
    let headers = "content-type: application/json\r\nretry-after: 1\r\n";
    let later = waited(limited().header(headers)).await;
    assert!(later >= Duration::from_secs(1), "{later:?}");
}

#[tokio::test]
async fn k5_a_retry_may_be_asked_for_at_a_date() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(90));
    let headers = format!("content-type: application/json\r\nretry-after: {date}\r\n");
    let refusal = Answer::json("503 Service Unavailable", &json!({}));
    let server = Server::start([refusal.header(headers.leak())]).await;
    let model = server.openai().build().unwrap();
    let error = model.generate(ChatRequest::new(vec![Message::user("hi")]));
    let wait = error.await.unwrap_err().retry_after().unwrap();
    assert!((80..=90).contains(&wait.as_secs()), "{wait:?}");
}
