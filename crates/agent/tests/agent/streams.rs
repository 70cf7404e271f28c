//! What agents say while they say it.

use std::sync::Arc;

use langgraph::message::{FinishReason, MessageChunk, ToolCall};
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    MessagesState, MessagesStateUpdate, ModelErrorKind, ResponseFormat, ScriptedModel, Turn,
};
use serde_json::json;
use tokio::sync::Notify;

use super::flows::{Chat, ChatUpdate};

#[node]
async fn slow_chat(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
    let model = cx.resource::<dyn ChatModel>()?;
    let reply = model.invoke(&state.messages, cx).await?;
    // Ends only when the reader has seen the tokens.
    cx.resource::<Notify>()?.notified().await;
    Ok(MessagesStateUpdate::default().messages(vec![reply]))
}

#[tokio::test]
async fn f6_tokens_arrive_before_the_node_ends_also_from_a_subgraph() {
    let direct = graph! {
        type State = MessagesState;
        START => slow_chat => END;
    };
    let nested = graph! {
        type State = MessagesState;
        let inner = direct.compile().unwrap();
        START => inner => END;
    };
    for (graph, path) in [(direct, vec![]), (nested, vec!["inner"])] {
        let seen = Arc::new(Notify::new());
        let model: Arc<dyn ChatModel> =
            Arc::new(ScriptedModel::new([Turn::chunks(["He", "ll", "o"])]));
        let mut events = graph
            .compile()
            .unwrap()
            .run(MessagesStateUpdate::user("hi"))
            .resource(model)
            .resource(Arc::clone(&seen))
            .stream(StreamOptions::new(StreamMode::Messages).subgraphs());
        let mut text = String::new();
        let mut ids = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            match event.kind {
                EventKind::MessageChunk { node, chunk } => {
                    assert_eq!(&*node, "slow_chat");
                    assert_eq!(event.namespace.to_vec(), path_of(&path));
                    text.push_str(&chunk.text);
                    ids.push(chunk.id.unwrap());
                    if text == "Hello" {
                        seen.notify_one();
                    }
                }
                EventKind::Message { message, .. } => {
                    // The input is the only message that was not streamed.
                    panic!("seen already: {message:?}");
                }
                _ => {}
            }
        }
        assert_eq!(text, "Hello");
        ids.dedup();
        let state = events.finish().await.unwrap().finished().unwrap();
        assert_eq!(ids, [state.messages[1].id.clone().unwrap()]);
    }
}

fn path_of(names: &[&str]) -> Vec<langgraph::graph::NodeName> {
    names.iter().map(|name| (*name).into()).collect()
}

#[tokio::test]
async fn a_model_that_cannot_stream_is_one_piece() {
    struct Whole;
    #[async_trait]
    impl ChatModel for Whole {
        async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
            let calls = [ToolCall::new("c1", "t", json!({"a": 1}))];
            let message = Message::assistant_with_tool_calls("wait", calls);
            Ok(ChatResponse::new(message))
        }
    }
    let graph = graph! {
        type State = MessagesState;
        let chat = ModelNode::new(Whole);
        START => chat => END;
    };
    let mut events = graph
        .compile()
        .unwrap()
        .run(MessagesStateUpdate::user("hi"))
        .stream(StreamMode::Messages);
    let mut chunks = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
            chunks.push(chunk);
        }
    }
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].finish_reason, Some(FinishReason::ToolCalls));
    let state = events.finish().await.unwrap().finished().unwrap();
    assert_eq!(state.messages[1].tool_calls()[0].arguments, json!({"a": 1}));
    assert_eq!(state.messages[1].text(), "wait");
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_an_error() {
    let graph = graph! {
        type State = MessagesState;
        let chat = ModelNode::of_the_run();
        START => chat => END;
    };
    let graph = graph.compile().unwrap();
    let cut = || Turn::pieces([MessageChunk::text("Hel")]);
    let broken = || {
        let error = ModelError::new(ModelErrorKind::Transport, "the connection broke");
        Turn::chunks(["Hel", "lo"]).then_error(error)
    };
    for (turn, kind) in [
        (cut as fn() -> Turn, ModelErrorKind::Incomplete),
        (broken as fn() -> Turn, ModelErrorKind::Transport),
    ] {
        let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([turn(), turn()]));
        let run = || {
            let input = MessagesStateUpdate::user("hi");
            graph.run(input).resource(Arc::clone(&model))
        };
        let errors = [
            run().await.unwrap_err(),
            run()
                .stream(StreamMode::Messages)
                .finish()
                .await
                .unwrap_err(),
        ];
        for error in errors {
            let error = error.node_error().unwrap();
            assert_eq!(error.downcast_ref::<ModelError>().unwrap().kind(), &kind);
            assert!(ModelError::retries(2).accepts(error));
        }
    }
}

#[node]
async fn stream_by_id(_: &Chat, cx: &Context) -> ChatUpdate {
    // As a model that is streamed by hand: each step writes the message so far.
    let text = ["你", "你好", "你好！", "你好！我", "你好！我是"][cx.step() - 1];
    ChatUpdate::default().messages(vec![Message::assistant(text).with_id("reply")])
}

fn is_whole(state: &Chat) -> bool {
    state
        .messages
        .last()
        .is_some_and(|message| message.text() == "你好！我是")
}

#[tokio::test]
async fn c17_five_chunks_with_one_id_leave_one_message() {
    let graph = graph! {
        type State = Chat;
        START => stream_by_id => if is_whole { END } else { stream_by_id };
    };
    let input = ChatUpdate::default().messages(vec![Message::user("你好")]);
    let mut events = graph
        .compile()
        .unwrap()
        .run(input)
        .stream(StreamMode::Values);
    let mut lengths = Vec::new();
    while let Some(event) = events.next().await {
        lengths.push(event.unwrap().values().unwrap().messages.len());
    }
    assert_eq!(lengths, [1, 2, 2, 2, 2, 2]);
    let state = events.finish().await.unwrap().finished().unwrap();
    assert_eq!(state.messages[1].text(), "你好！我是");
}

/// Asks with the request of the run.
#[node]
async fn ask(_: &MessagesState, cx: &Context) -> Result<(), NodeError> {
    let request = cx.resource::<ChatRequest>()?.clone();
    let model = cx.resource::<dyn ChatModel>()?;
    model.respond(request, cx).await?;
    Ok(())
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct City {
    name: String,
}

#[node]
async fn ask_structured(_: &MessagesState, cx: &Context) -> Result<(), NodeError> {
    let model = cx.resource::<dyn ChatModel>()?;
    let city: City = model.invoke_structured(&[], cx).await?;
    assert_eq!(city.name, "Paris");
    Ok(())
}

/// A city.
const JSON: &str = r#"{"name": "Paris"}"#;

#[tokio::test]
async fn structured_output_is_not_streamed_unless_asked() {
    let text = graph! { type State = MessagesState; START => ask => END };
    let structured = graph! { type State = MessagesState; START => ask_structured => END };
    let format = ResponseFormat::of::<City>();
    let plain = ChatRequest::new(Vec::new());
    let formed = plain.clone().response_format(format);
    for (graph, request, streamed) in [
        (&text, plain.clone(), JSON),
        (&text, plain.clone().streamed(false), ""),
        (&text, formed.clone(), ""),
        (&text, formed.streamed(true), JSON),
        (&structured, plain, ""),
    ] {
        let chunks = [&JSON[..5], &JSON[5..]];
        let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([Turn::chunks(chunks)]));
        let run = graph.compile().unwrap().run(());
        let run = run.resource(model).resource(Arc::new(request));
        let mut events = run.stream(StreamMode::Messages);
        let mut seen = String::new();
        while let Some(event) = events.next().await {
            if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
                seen.push_str(&chunk.text);
            }
        }
        assert_eq!(seen, streamed);
    }
}
