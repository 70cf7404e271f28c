//! Flows of agents with a route of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{FinishReason, Role, ToolCall, Usage};
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentState, FnTool, MessagesState, MessagesStateUpdate, ModelErrorKind, ScriptedModel,
    ToolDecision, Turn, check_answered,
};

use serde_json::json;

use super::support::{asks_the_time, clock, shown};

#[derive(State, Clone, Debug, Default, PartialEq)]
pub(crate) struct Chat {
    #[reducer(add_messages)]
    pub(crate) messages: Vec<Message>,
    /// Which nodes ran.
    #[reducer(append)]
    pub(crate) trail: Vec<String>,
}

impl AgentState for Chat {}

enum Intent {
    Translate,
    Search,
    Chat,
}

fn route_message(state: &Chat) -> Intent {
    let last = state.messages.last().map(Message::text).unwrap_or_default();
    if last.contains("翻译") {
        Intent::Translate
    } else if last.contains("搜索") {
        Intent::Search
    } else {
        Intent::Chat
    }
}

fn visited(name: &str) -> ChatUpdate {
    ChatUpdate::default().trail(vec![name.to_owned()])
}

#[node]
async fn router(_: &Chat) {}

#[node]
async fn translate_node(_: &Chat) -> ChatUpdate {
    visited("translate")
}

#[node]
async fn search_node(_: &Chat) -> ChatUpdate {
    visited("search")
}

#[node]
async fn chat_node(_: &Chat) -> ChatUpdate {
    visited("chat")
}

#[tokio::test]
async fn g12_a_router_sends_messages_where_they_belong() {
    let agent = graph! {
        type State = Chat;
        START => router => match route_message {
            Intent::Translate => translate_node => END,
            Intent::Search => search_node => END,
            Intent::Chat => chat_node => END,
        };
    }
    .compile()
    .unwrap();
    for (text, node) in [
        ("请翻译这句话", "translate"),
        ("帮我搜索新闻", "search"),
        ("你好", "chat"),
    ] {
        let input = ChatUpdate::default().messages(vec![Message::user(text)]);
        assert_eq!(agent.invoke(input).await.unwrap().trail, [node]);
    }
}

#[node]
async fn preprocess(state: &Chat) -> ChatUpdate {
    let last = state.messages.last().unwrap();
    let tidy = Message::user(last.text().trim()).with_id(last.id.clone().unwrap());
    visited("preprocess").messages(vec![tidy])
}

#[node]
async fn chat(state: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    let model = cx.resource::<dyn ChatModel>()?;
    let reply = model.invoke(&state.messages, cx).await?;
    Ok(visited("chat").messages(vec![reply]))
}

#[node]
async fn postprocess(state: &Chat) -> ChatUpdate {
    let last = state.messages.last().unwrap();
    let signed = format!("{} —— AI", last.text());
    let signed = Message::assistant(signed).with_id(last.id.clone().unwrap());
    visited("postprocess").messages(vec![signed])
}

#[tokio::test]
async fn g13_preprocess_chat_postprocess() {
    let model = ScriptedModel::new(["你好！"]);
    let agent = graph! {
        type State = Chat;
        START => preprocess => chat => postprocess => END;
    }
    .compile()
    .unwrap();
    let shared: Arc<dyn ChatModel> = Arc::new(model.clone());
    let input = ChatUpdate::default().messages(vec![Message::user("  你好  ")]);
    let state = agent.run(input).resource(shared).await.unwrap();
    let state = state.finished().unwrap();
    assert_eq!(state.trail, ["preprocess", "chat", "postprocess"]);
    assert_eq!(model.requests()[0].messages[0].text(), "你好");
    assert_eq!(
        shown(&state.messages),
        [
            (Role::User, "你好".to_owned()),
            (Role::Assistant, "你好！ —— AI".to_owned()),
        ]
    );
}

#[tokio::test]
async fn g15_the_scripted_model_says_its_turns_and_keeps_the_requests() {
    let model = ScriptedModel::new([
        Turn::chunks(["He", "llo"]).with_usage(Usage::new(3, 2)),
        Turn::error(ModelError::new(ModelErrorKind::Timeout, "too slow")),
    ]);
    let ask = || model.generate(langgraph_agent::ChatRequest::new(vec![Message::user("hi")]));
    let response = ask().await.unwrap();
    assert_eq!(response.message.text(), "Hello");
    assert_eq!(response.usage, Some(Usage::new(3, 2)));
    assert_eq!(response.finish_reason, Some(FinishReason::Stop));
    assert!(ask().await.unwrap_err().is_retryable());
    let error = ask().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the scripted model has no turn left: it had 2, and this is request 3"
    );
    assert_eq!(model.requests().len(), 3);
    assert_eq!(model.remaining(), 0);
}

#[tokio::test]
async fn g17_chat_then_tool() {
    let tools = Tools::new().with(clock());
    let model = ScriptedModel::new([asks_the_time("c1")]);
    let agent = graph! {
        type State = MessagesState;
        let chat = ModelNode::new(model).tools(&tools);
        let tool = ToolNode::new(tools);
        START => chat => tool => END;
    };
    let input = MessagesStateUpdate::user("time?");
    let state = agent.compile().unwrap().invoke(input).await.unwrap();
    assert_eq!(state.messages[2].text(), "2024-01-01 12:00:00");
}

#[tokio::test]
async fn g18_an_echo_agent_repeats_what_it_hears() {
    struct Echo;

    impl Agent for Echo {
        type State = MessagesState;

        fn name(&self) -> &'static str {
            "echo"
        }

        async fn run(&self, mut state: MessagesState) -> Result<MessagesState, AgentError> {
            let heard = state.messages.last().map(Message::text).unwrap_or_default();
            let reply = Message::assistant(heard.into_owned());
            state.messages.push(reply);
            Ok(state)
        }
    }

    let agent = graph! {
        type State = MessagesState;
        let echo = Echo;
        START => echo => END;
    };
    let input = MessagesStateUpdate::user("hello");
    let state = agent.compile().unwrap().invoke(input).await.unwrap();
    assert_eq!(state.messages[1].text(), "hello");
    let alone = Echo
        .run(
            MessagesState::default()
                .merge(MessagesStateUpdate::user("hello"))
                .unwrap(),
        )
        .await;
    assert_eq!(shown(&alone.unwrap().messages), shown(&state.messages));
}

async fn asks(_: &Chat, cx: &Context) -> Result<(), NodeError> {
    let _: bool = cx.interrupt("sure", "?")?;
    Ok(())
}

#[tokio::test]
async fn a_goto_from_outside_runs_each_call_that_its_update_brings() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    let count = move || {
        let counted = Arc::clone(&counted);
        async move { counted.fetch_add(1, Ordering::Relaxed) }
    };
    let tools = (FnTool::new("count", "Counts.", count), clock());
    let node = ToolNode::new(tools).approve("get_current_time");
    let mut graph = StateGraph::<Chat>::new();
    graph.add_node("asks", asks).add_edge(START, "asks");
    graph.add_node("tools", node).add_edge("tools", END);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));

    let calls = ["count", "get_current_time"].map(|name| ToolCall::new(name, name, json!({})));
    let message = Message::assistant_with_tool_calls("", calls);
    let command =
        || Command::update(ChatUpdate::default().messages(vec![message.clone()])).and_goto("tools");
    for (name, expected) in [("at once", 1), ("from an older checkpoint", 2)] {
        let thread = graph.thread(name);
        thread.run(()).await.unwrap();
        let mut from = thread.clone();
        if expected == 2 {
            from = thread.at(thread.state().await.unwrap().unwrap().id);
            thread.resume("sure", true).await.unwrap();
        }
        let paused = from.resume("sure", true).command(command()).await.unwrap();
        assert_eq!(paused.interrupts().len(), 1);
        // The other one has run, and does not run again.
        assert_eq!(runs.load(Ordering::Relaxed), expected);
        let done = thread.answer(ToolDecision::Approve).await.unwrap();
        assert!(check_answered(&done.state().messages).is_ok());
        assert_eq!(runs.load(Ordering::Relaxed), expected);
    }
}
