//! The ready-made agents, and the flows that agents are made of.
#![allow(clippy::unwrap_used)] // clippy does not know that nodes of tests are tests

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use langgraph::agent::{
    FnTool, MessagesState, MessagesStateUpdate, ModelError, ModelErrorKind, ModelNode, NextAction,
    ReactState, ScriptedModel, SimpleAgent, SimpleAgentState, ToolAgent, ToolAgentState, ToolNode,
    ToolRoute, Tools, Turn, WhatNext, act, check_answered, observe, react_agent, think,
    tools_condition, what_next,
};
use langgraph::message::{FinishReason, MessageChunk, Role, ToolCall, ToolStatus, Usage};
use langgraph::prelude::*;
use langgraph::run::StreamOptions;
use serde_json::{Value, json};
use tokio::sync::Notify;

fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

fn clock() -> FnTool {
    FnTool::new("get_current_time", "The current time.", || async {
        "2024-01-01 12:00:00"
    })
}

fn shown(messages: &[Message]) -> Vec<(Role, String)> {
    messages
        .iter()
        .map(|message| (message.role(), message.text().into_owned()))
        .collect()
}

fn asks_the_time(id: &str) -> Turn {
    Turn::tool_calls([call(id, "get_current_time", json!({}))])
}

// SimpleAgent

#[tokio::test]
async fn g4_simple_agent_answers_hello() {
    let model = ScriptedModel::new(["你好！我是..."]);
    let agent = SimpleAgent::new(model.clone());
    let start = SimpleAgentState::user("你好");
    assert_eq!(start.next_action.to_string(), "");

    let state = agent.run(start).await.unwrap();

    let expected = [
        (Role::User, "你好".to_owned()),
        (Role::Assistant, "你好！我是...".to_owned()),
    ];
    assert_eq!(shown(&state.messages), expected);
    assert_eq!(state.next_action.to_string(), "end");
    assert_eq!(state.reply().unwrap().text(), "你好！我是...");
    assert!(state.messages.iter().all(|message| message.id.is_some()));
    // One call, which saw the chat and nothing else.
    let requests = model.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(shown(&requests[0].messages), expected[..1]);
    assert!(requests[0].tools.is_empty());
    let names: Vec<_> = agent
        .graph()
        .topology()
        .nodes
        .iter()
        .map(|node| node.name.to_string())
        .collect();
    assert_eq!(names, ["chat"]);
}

#[tokio::test]
async fn g5_the_system_prompt_is_in_the_request_only() {
    let model = ScriptedModel::new(["hello", "again"]);
    let agent = SimpleAgent::new(model.clone()).prompt("You are kind.");

    let state = agent.run(SimpleAgentState::user("hi")).await.unwrap();
    let state = agent.run(state).await.unwrap();

    for request in model.requests() {
        let systems: Vec<_> = request.messages.iter().map(Message::is_system).collect();
        assert!(systems[0]);
        assert!(!systems[1..].contains(&true));
        assert_eq!(request.messages[0].text(), "You are kind.");
    }
    assert!(!state.messages.iter().any(Message::is_system));
    assert_eq!(state.messages.len(), 3);
}

#[tokio::test]
async fn c16_agents_that_merge_and_agents_that_do_not_end_alike() {
    let agent = |reply: &str| SimpleAgent::new(ScriptedModel::new([reply]));
    let start = SimpleAgentState::user("hi");

    let whole = agent("hello").run(start.clone()).await.unwrap();
    let partial = agent("hello").run_partial(&start).await.unwrap();
    assert_eq!(partial.messages.as_ref().map(Vec::len), Some(1));
    let merged = start.clone().merge(partial);
    let graph = agent("hello").graph().compile().unwrap();
    let by_graph = graph.invoke(start).await.unwrap();

    assert_eq!(shown(&whole.messages), shown(&merged.messages));
    assert_eq!(shown(&whole.messages), shown(&by_graph.messages));
    assert_eq!(whole.next_action, merged.next_action);
}

#[tokio::test]
async fn a_failing_model_fails_the_chat_node() {
    let error = || ModelError::new(ModelErrorKind::Auth, "no key");
    let model = ScriptedModel::new([error(), error()]);
    let agent = SimpleAgent::new(model);
    let start = SimpleAgentState::user("hi");
    for result in [
        agent.run_partial(&start).await.map(drop),
        agent.run(start.clone()).await.map(drop),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.to_string(), "node `chat` failed: no key");
        let model = error.node_error().unwrap().downcast_ref::<ModelError>();
        assert_eq!(model.unwrap().kind(), &ModelErrorKind::Auth);
    }
}

// ToolAgent

#[tokio::test]
async fn g6_tool_agent_tells_the_time() {
    let model = ScriptedModel::new([
        asks_the_time("call_1"),
        Turn::text("现在是 2024-01-01 12:00:00"),
    ]);
    let agent = ToolAgent::new(model.clone(), (clock(),));

    let graph = agent.graph().compile().unwrap();
    let mut events = graph
        .run(ToolAgentState::user("现在几点了？"))
        .stream(Mode::Values);
    let mut steps = Vec::new();
    while let Some(event) = events.next().await {
        let state = event.unwrap().values().unwrap().clone();
        steps.push((
            state.messages.len(),
            state.next_action.as_str(),
            state.iterations,
        ));
    }
    assert_eq!(
        steps,
        [(1, "", 0), (2, "tool", 1), (3, "agent", 1), (4, "end", 2)]
    );

    let state = events.finish().await.unwrap().into_state();
    assert_eq!(
        shown(&state.messages),
        [
            (Role::User, "现在几点了？".to_owned()),
            (Role::Assistant, String::new()),
            (Role::Tool, "2024-01-01 12:00:00".to_owned()),
            (Role::Assistant, "现在是 2024-01-01 12:00:00".to_owned()),
        ]
    );
    assert_eq!(state.messages[1].tool_calls()[0].id, "call_1");
    assert_eq!(state.messages[2].tool_result().unwrap().call_id, "call_1");
    // The second request shows the model what its tool said.
    assert_eq!(
        shown(&model.requests()[1].messages),
        shown(&state.messages[..3])
    );
    assert!(!state.reached_limit());
}

#[tokio::test]
async fn g7_tools_are_sent_only_when_there_are_some() {
    let model = ScriptedModel::new(["hi", "hi"]);
    for tools in [Tools::new(), Tools::new().with(clock())] {
        let agent = ToolAgent::new(model.clone(), tools);
        agent.run(ToolAgentState::user("hi")).await.unwrap();
    }
    let requests = model.requests();
    assert!(requests[0].tools.is_empty());
    assert_eq!(requests[1].tools[0].name, "get_current_time");
    assert_eq!(requests[1].tools[0].description, "The current time.");
    assert_eq!(
        requests[1].tools[0].parameters,
        json!({"type": "object", "properties": {}})
    );
}

#[tokio::test]
async fn g8_a_tool_error_is_told_to_the_model_and_the_run_goes_on() {
    #[derive(Debug)]
    struct NoClock;
    impl std::fmt::Display for NoClock {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("the clock is broken")
        }
    }
    impl std::error::Error for NoClock {}

    let broken = FnTool::new("get_current_time", "", || async {
        Err::<String, _>(NoClock)
    });
    let model = ScriptedModel::new([asks_the_time("c7"), Turn::text("I do not know.")]);
    let agent = ToolAgent::new(model.clone(), (broken,));

    let state = agent.run(ToolAgentState::user("time?")).await.unwrap();

    let result = state.messages[2].tool_result().unwrap();
    assert_eq!(result.call_id, "c7");
    assert_eq!(result.status, ToolStatus::Error);
    assert_eq!(
        result.content.text(),
        "Error: the clock is broken\n Please fix your mistakes."
    );
    assert_eq!(state.reply().unwrap().text(), "I do not know.");
    assert!(
        model.requests()[1].messages[2]
            .text()
            .contains("clock is broken")
    );
}

#[tokio::test]
async fn g11_max_iterations_is_checked_before_the_tools() {
    for limit in [1, 2, 5] {
        let ran = Arc::new(Mutex::new(0));
        let count = Arc::clone(&ran);
        let tool = FnTool::new("get_current_time", "", move || {
            *count.lock().unwrap() += 1;
            async { "noon" }
        });
        let turns = (0..limit + 3).map(|n| asks_the_time(&format!("c{n}")));
        let model = ScriptedModel::new(turns);
        let agent = ToolAgent::new(model.clone(), (tool,)).max_iterations(limit);

        let state = agent.run(ToolAgentState::user("time?")).await.unwrap();

        assert_eq!(state.iterations, limit);
        assert_eq!(model.requests().len(), limit);
        assert_eq!(*ran.lock().unwrap(), limit - 1);
        assert!(state.reached_limit());
        assert_eq!(state.next_action, NextAction::MaxIterations);
        check_answered(&state.messages).unwrap();
        assert_eq!(
            state.reply().unwrap().text(),
            "Sorry, need more steps to process this request."
        );
    }
}

#[tokio::test]
async fn a_new_question_in_the_same_chat_counts_its_own_iterations() {
    let model = ScriptedModel::new([
        asks_the_time("c1"),
        Turn::text("noon"),
        asks_the_time("c2"),
        Turn::text("still noon"),
    ]);
    let agent = ToolAgent::new(model, (clock(),)).max_iterations(2);
    let mut state = agent.run(ToolAgentState::user("time?")).await.unwrap();
    assert!(!state.reached_limit());
    state.messages.push(Message::user("and now?"));
    let state = agent.run(state).await.unwrap();
    assert_eq!((state.iterations, state.messages.len()), (2, 8));
    assert_eq!(state.reply().unwrap().text(), "still noon");
}

// The flows of document 003

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    /// Which nodes ran.
    #[reducer(append)]
    trail: Vec<String>,
}

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
    let state = state.into_state();
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

/// Where sessions are remembered.
#[derive(Default)]
struct Sessions(Mutex<BTreeMap<String, BTreeMap<String, Value>>>);

#[derive(State, Clone, Debug, Default, PartialEq)]
struct MemoryAgent {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    memory: BTreeMap<String, Value>,
    session_id: String,
}

#[node]
async fn load_memory(state: &MemoryAgent, cx: &Context) -> Result<MemoryAgentUpdate, NodeError> {
    let sessions = cx.resource::<Sessions>()?.0.lock().unwrap();
    let memory = sessions.get(&state.session_id).cloned();
    Ok(MemoryAgentUpdate::default().memory(memory.unwrap_or_default()))
}

#[node]
async fn answer_from_memory(
    state: &MemoryAgent,
    cx: &Context,
) -> Result<MemoryAgentUpdate, NodeError> {
    let known = serde_json::to_string(&state.memory)?;
    let request = langgraph::agent::ChatRequest::new(state.messages.clone())
        .system(format!("You know: {known}"));
    let reply = cx
        .resource::<dyn ChatModel>()?
        .respond(request, cx)
        .await?
        .message;
    Ok(MemoryAgentUpdate::default().messages(vec![reply]))
}

#[node]
async fn save_memory(state: &MemoryAgent, cx: &Context) -> Result<(), NodeError> {
    let mut memory = state.memory.clone();
    let said = state.messages.iter().find(|message| message.is_user());
    memory.insert("last".to_owned(), json!(said.map(Message::text)));
    let mut sessions = cx.resource::<Sessions>()?.0.lock().unwrap();
    sessions.insert(state.session_id.clone(), memory);
    Ok(())
}

#[tokio::test]
async fn g14_a_memory_agent_recalls_its_session_and_no_other() {
    let model = ScriptedModel::new(["ok", "ok", "ok"]);
    let mut agent = graph! {
        type State = MemoryAgent;
        START => load_memory => answer_from_memory => save_memory => END;
    };
    agent
        .resource(Arc::new(Sessions::default()))
        .resource::<dyn ChatModel>(Arc::new(model.clone()));
    let agent = agent.compile().unwrap();
    for (session, text) in [("a", "我叫小明"), ("a", "我叫什么？"), ("b", "hi")] {
        let input = MemoryAgentUpdate::default()
            .session_id(session.to_owned())
            .messages(vec![Message::user(text)]);
        agent.invoke(input).await.unwrap();
    }
    let told: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.messages[0].text().into_owned())
        .collect();
    assert_eq!(
        told,
        [
            "You know: {}",
            r#"You know: {"last":"我叫小明"}"#,
            "You know: {}"
        ]
    );
}

#[tokio::test]
async fn g15_the_scripted_model_says_its_turns_and_keeps_the_requests() {
    let model = ScriptedModel::new([
        Turn::chunks(["He", "llo"]).with_usage(Usage::new(3, 2)),
        Turn::error(ModelError::new(ModelErrorKind::Timeout, "too slow")),
    ]);
    let ask = || {
        model.generate(langgraph::agent::ChatRequest::new(vec![Message::user(
            "hi",
        )]))
    };
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
async fn g16_react_in_one_line_and_in_a_loop() {
    let tools = Tools::new().with(clock());
    let model = || {
        let turns = [asks_the_time("c1"), asks_the_time("c2"), Turn::text("noon")];
        ModelNode::new(ScriptedModel::new(turns)).tools(&tools)
    };
    let linear = graph! {
        type State = ReactState;
        let think = think(model());
        let act = act(&tools);
        START => think => act => observe => END;
    };
    let state = linear
        .compile()
        .unwrap()
        .invoke(ReactState::user("time?"))
        .await
        .unwrap();
    let roles: Vec<_> = state.messages.iter().map(Message::role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
    assert_eq!(state.turns, 1);

    let looping = graph! {
        type State = ReactState;
        let think = think(model());
        let act = act(&tools);
        START => think => act => observe => match what_next {
            WhatNext::Think => think,
            WhatNext::Stop => END,
        };
    };
    let looping = looping.compile().unwrap();
    let mut events = looping.run(ReactState::user("time?")).stream(Mode::Updates);
    let mut trail = Vec::new();
    while let Some(event) = events.next().await {
        trail.extend(event.unwrap().node().map(str::to_owned));
    }
    let round = ["think", "act", "observe"];
    assert_eq!(trail, [round, round, round].concat());
    let state = events.finish().await.unwrap().into_state();
    assert_eq!(state.messages.len(), 6);
    assert_eq!(state.messages[5].text(), "noon");
    assert!(state.tool_calls.is_empty() && state.tool_results.is_empty());
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
        .run(MessagesState::default().merge(MessagesStateUpdate::user("hello")))
        .await;
    assert_eq!(shown(&alone.unwrap().messages), shown(&state.messages));
}

// The loop of a model and its tools

#[tokio::test]
async fn react_agent_loops_until_the_model_answers() {
    let model = ScriptedModel::new([
        asks_the_time("c1"),
        asks_the_time("c2"),
        Turn::text("noon, twice"),
    ]);
    let agent = react_agent(model.clone(), (clock(),))
        .prompt("You have a clock.")
        .name("clockwork")
        .compile()
        .unwrap();
    assert_eq!(agent.topology().name, "clockwork");
    let state = agent
        .invoke(MessagesStateUpdate::user("time?"))
        .await
        .unwrap();
    assert_eq!(state.messages.len(), 6);
    assert_eq!(state.messages[5].text(), "noon, twice");
    assert!(model.requests()[2].messages[0].is_system());
    assert!(!state.messages.iter().any(Message::is_system));
}

#[tokio::test]
async fn react_agent_says_so_when_no_steps_are_left_for_its_tools() {
    // The model speaks in the steps 1, 3, 5, …: a limit of n leaves room for (n + 1) / 2 answers.
    for limit in 1..8 {
        let turns = (0..10).map(|n| asks_the_time(&format!("c{n}")));
        let model = ScriptedModel::new(turns);
        let agent = react_agent(model.clone(), (clock(),)).compile().unwrap();
        let run = agent.run(MessagesStateUpdate::user("time?")).limit(limit);
        let state = run.await.unwrap().into_state();
        assert_eq!(model.requests().len(), limit.div_ceil(2), "limit {limit}");
        let last = state.messages.last().unwrap();
        assert_eq!(
            last.text(),
            "Sorry, need more steps to process this request."
        );
        check_answered(&state.messages).unwrap();
    }
}

#[tokio::test]
async fn react_agent_stops_at_the_answer_of_a_tool_that_answers_for_it() {
    let model = ScriptedModel::new([asks_the_time("c1")]);
    let agent = react_agent(model, (clock().return_directly(),));
    let state = agent
        .compile()
        .unwrap()
        .invoke(MessagesStateUpdate::user("time?"))
        .await
        .unwrap();
    assert_eq!(state.messages.last().unwrap().text(), "2024-01-01 12:00:00");
}

#[tokio::test]
async fn a_chat_with_unanswered_tool_calls_is_refused() {
    let agent = react_agent(ScriptedModel::new(["never"]), (clock(),));
    let calls = [call("c1", "get_current_time", json!({}))];
    let input = MessagesStateUpdate::default().messages(vec![
        Message::user("time?"),
        Message::assistant_with_tool_calls("", calls),
        Message::user("well?"),
    ]);
    let error = agent.compile().unwrap().invoke(input).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `agent` failed: the chat asks for tools that nobody answered: `get_current_time` (call `c1`); \
         add a tool message for each call, or remove the message that asks"
    );
}

#[test]
fn tools_condition_looks_at_the_last_message() {
    let state = |message| MessagesState {
        messages: vec![message],
    };
    let calls = [call("c1", "t", json!({}))];
    let asking = state(Message::assistant_with_tool_calls("", calls));
    assert_eq!(tools_condition(&asking), Ok(ToolRoute::Tools));
    assert_eq!(
        tools_condition(&state(Message::assistant("done"))),
        Ok(ToolRoute::End)
    );
    let error = tools_condition(&MessagesState::default()).unwrap_err();
    assert!(error.to_string().starts_with("no message found"));
}

// Streams

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
            .stream(StreamOptions::new(Mode::Messages).subgraphs());
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
        let state = events.finish().await.unwrap().into_state();
        assert_eq!(ids, [state.messages[1].id.clone().unwrap()]);
    }
}

fn path_of(names: &[&str]) -> Vec<langgraph::graph::NodeName> {
    names.iter().map(|name| (*name).into()).collect()
}

#[tokio::test]
async fn a_model_that_cannot_stream_is_one_piece() {
    struct Whole;
    impl ChatModel for Whole {
        fn generate(&self, _: langgraph::agent::ChatRequest) -> langgraph::agent::ModelFuture<'_> {
            Box::pin(async {
                let calls = [ToolCall::new("c1", "t", json!({"a": 1}))];
                let message = Message::assistant_with_tool_calls("wait", calls);
                Ok(langgraph::agent::ChatResponse::new(message))
            })
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
        .stream(Mode::Messages);
    let mut chunks = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
            chunks.push(chunk);
        }
    }
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].finish_reason, Some(FinishReason::ToolCalls));
    let state = events.finish().await.unwrap().into_state();
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
            run().stream(Mode::Messages).finish().await.unwrap_err(),
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
    let mut events = graph.compile().unwrap().run(input).stream(Mode::Values);
    let mut lengths = Vec::new();
    while let Some(event) = events.next().await {
        lengths.push(event.unwrap().values().unwrap().messages.len());
    }
    assert_eq!(lengths, [1, 2, 2, 2, 2, 2]);
    let state = events.finish().await.unwrap().into_state();
    assert_eq!(state.messages[1].text(), "你好！我是");
}
