//! What is sent.

use langgraph::message::{ContentPart, FinishReason, Message, ToolCall, Usage};
use langgraph_agent::{
    ChatModel, ChatRequest, ModelErrorKind, ResponseFormat, ToolChoice, ToolDefinition,
};
use langgraph_genai::Model;
use serde_json::json;

use super::hi;
use super::support::{Answer, Server};

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
