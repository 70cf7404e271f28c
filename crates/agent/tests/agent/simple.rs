//! An agent that answers, and agents that merge by themselves.

use langgraph::message::Role;
use langgraph::prelude::*;
use langgraph_agent::{ModelError, ModelErrorKind, ScriptedModel, SimpleAgent, SimpleAgentState};

use super::support::shown;

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
    let merged = start.clone().merge(partial).unwrap();
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
