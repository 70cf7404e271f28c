//! Messages and values of LangChain's clients: what they send is what they read.

use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph::message::{ContentPart, Media, Message};
use langgraph::{State, node};
use langgraph_server::Server;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(append)]
    steps: Vec<String>,
    title: String,
    model: Option<String>,
    count: u32,
}

/// Says which pictures it has got, as a model would see them.
#[node]
fn look(state: &Chat) -> ChatUpdate {
    let parts = state.messages.iter().flat_map(Message::parts);
    let pictures = parts.filter_map(|part| match part {
        ContentPart::Image(Media::Base64 {
            base64, mime_type, ..
        }) => Some(format!("{mime_type} {base64}")),
        ContentPart::Image(Media::Url { url, .. }) => Some(url.clone()),
        _ => None,
    });
    let seen: Vec<String> = pictures.collect();
    ChatUpdate::default().messages(vec![Message::assistant(seen.join(", "))])
}

async fn api() -> Api {
    let mut graph = StateGraph::<Chat>::new();
    graph.add_node("look", look).add_sequence(&["look"]);
    Api::serve(Server::new().graph("chat", graph.compile().unwrap())).await
}

async fn run(api: &Api, thread: &str, input: Value) -> Value {
    let body = json!({"assistant_id": "chat", "input": input});
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await
}

#[tokio::test]
async fn an_uploaded_picture_reaches_the_model() {
    let api = api().await;
    for picture in [
        // Agent Chat UI.
        json!({"type": "image", "mimeType": "image/png", "data": "AA", "metadata": {"name": "a.png"}}),
        json!({"type": "image", "source_type": "base64", "mime_type": "image/png", "data": "AA"}),
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "low"}}),
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}),
    ] {
        let thread = api.thread().await;
        let sent = json!([{"type": "text", "text": "look"}, picture]);
        let message = json!({"type": "human", "content": sent});
        let values = run(&api, &thread, json!({"messages": [message]})).await;
        assert_eq!(
            values["messages"][1]["content"], "image/png AA",
            "{picture}"
        );
        let state = api.get(&format!("/threads/{thread}/state")).await;
        for values in [&values, &state["values"]] {
            assert_eq!(values["messages"][0]["content"], sent, "{picture}");
        }
    }
}

#[tokio::test]
async fn what_a_message_is_sent_with_is_given_back() {
    let api = api().await;
    let thread = api.thread().await;
    let sent = json!({
        "type": "human", "id": "1", "content": [{"type": "smell", "of": "roses"}, "hi"],
        "name": "ada", "additional_kwargs": {"a": 1}, "response_metadata": {"b": [2]},
    });
    run(&api, &thread, json!({"messages": [sent]})).await;
    // A second run reads what the first has stored.
    let values = run(&api, &thread, json!({"messages": []})).await;
    let message = &values["messages"][0];
    for (key, value) in sent.as_object().unwrap() {
        assert_eq!(message[key], *value, "{key}");
    }
}

#[tokio::test]
async fn blocks_of_every_kind_are_given_back() {
    let api = api().await;
    let cached = json!({"type": "ephemeral"});
    for block in [
        json!({"type": "text", "text": "hi", "cache_control": cached}),
        json!({"type": "image", "file_id": "f1", "detail": "low"}),
        json!({"type": "image", "url": "https://example.com/a.png"}),
        json!({"type": "file", "mimeType": "application/pdf", "data": "JVBERi0=", "filename": "a.pdf"}),
        json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"}}),
        json!({"type": "audio", "source_type": "base64", "mime_type": "audio/wav", "data": "AA"}),
        json!({"type": "input_audio", "input_audio": {"data": "AA", "format": "mp3"}}),
        json!({"type": "video", "url": "https://example.com/a.mp4", "mime_type": "video/mp4"}),
        json!({"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}}),
        json!({"type": "thinking", "thinking": "hm", "signature": "s"}),
        json!({"type": "reasoning", "reasoning": "hm"}),
        json!({"type": "citation", "of": ["unknown", 1, null]}),
    ] {
        let content = json!(["before", block]);
        for kind in ["human", "ai"] {
            let thread = api.thread().await;
            let sent = json!({"type": kind, "id": "1", "content": content});
            let values = run(&api, &thread, json!({"messages": [sent]})).await;
            let state = api.get(&format!("/threads/{thread}/state")).await;
            for values in [&values, &state["values"]] {
                assert_eq!(
                    values["messages"][0]["content"], content,
                    "{kind}: {values}"
                );
            }
        }
    }
    let thread = api.thread().await;
    let result = json!({
        "type": "tool", "id": "2", "tool_call_id": "c1", "name": "f", "content": "done",
        "artifact": {"rows": [1, 2]}, "status": "success",
    });
    let values = run(&api, &thread, json!({"messages": [result]})).await;
    assert_eq!(
        values["messages"][0]["artifact"], result["artifact"],
        "{values}"
    );
}

#[tokio::test]
async fn short_forms_of_messages_are_read() {
    let api = api().await;
    let constructed = json!({
        "lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "HumanMessage"],
        "kwargs": {"content": "hi", "additional_kwargs": {}},
    });
    for (sent, kind) in [
        (json!("hi"), "human"),
        (json!(["hi"]), "human"),
        (json!([["user", "hi"]]), "human"),
        (json!([["ai", "hi"]]), "ai"),
        (json!({"role": "user", "content": "hi"}), "human"),
        (json!({"type": "ai", "content": "hi"}), "ai"),
        (constructed.clone(), "human"),
        (json!([constructed]), "human"),
    ] {
        let thread = api.thread().await;
        let values = run(&api, &thread, json!({"messages": sent})).await;
        let message = &values["messages"][0];
        assert_eq!(message["type"], kind, "{sent}: {values}");
        assert_eq!(message["content"], "hi", "{sent}: {values}");
    }
    // Other lists stay lists.
    let thread = api.thread().await;
    let values = run(&api, &thread, json!({"steps": "one"})).await;
    let error = values["__error__"]["message"].as_str().unwrap();
    assert!(error.contains("expected a sequence"), "{values}");
}

#[tokio::test]
async fn fields_that_were_not_written_are_absent() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "chat", "input": {"messages": "hi"}, "stream_mode": ["values", "tasks"],
    });
    let events = api.stream(&thread, body).await;
    let values: Vec<&Value> = events
        .iter()
        .filter(|(name, _)| name == "values")
        .map(|(_, values)| values)
        .collect();
    let state = api.get(&format!("/threads/{thread}/state")).await;
    for values in values.into_iter().chain([&state["values"]]) {
        let fields = values.as_object().unwrap();
        assert!(!fields.contains_key("title"), "{values}");
        assert!(!fields.contains_key("model"), "{values}");
        // A field with a reducer has a value from the start.
        assert_eq!(values["steps"], json!([]));
        assert!(!fields.contains_key("count"), "{values}");
    }
    let values = run(&api, &thread, json!({"model": "m", "title": "t"})).await;
    assert_eq!(
        (&values["model"], &values["title"]),
        (&json!("m"), &json!("t"))
    );
}
