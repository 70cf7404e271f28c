//! What `deep_agent` puts together.

use langgraph_agent::{
    AgentBuildError, FnTool, HumanInTheLoop, MessagesStateUpdate, ScriptedModel, react_agent,
};
use langgraph_deep::{StoreFiles, deep_agent};
use langgraph_middleware::TODOS;
use serde_json::json;

use super::support::{call, compiled, model, results, says};

#[tokio::test]
async fn an_agent_has_to_dos_files_and_a_general_purpose_agent() {
    let scripted = ScriptedModel::new(["hi"]);
    let tick = FnTool::new("tick", "Ticks.", || async { "tock" });
    let agent = deep_agent(scripted.clone()).tools((tick,)).name("writer");
    let agent = agent.compile().unwrap();
    assert_eq!(&*agent.topology().name, "writer");
    agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let request = &scripted.requests()[0];
    let tools: Vec<_> = request.tools.iter().map(|tool| &*tool.name).collect();
    let wanted = [
        "tick",
        "write_todos",
        "ls",
        "read_file",
        "write_file",
        "edit_file",
        "glob",
        "grep",
        "task",
    ];
    assert_eq!(tools, wanted);
    let task = request.tools.last().unwrap();
    assert!(task.description.contains("`general-purpose`"));
    assert_eq!(
        task.parameters["properties"]["agent"]["enum"],
        json!(["general-purpose"])
    );

    let alone = ScriptedModel::new(["hi"]);
    let agent = deep_agent(alone.clone()).no_general_purpose().compile();
    agent
        .unwrap()
        .invoke(MessagesStateUpdate::user("?"))
        .await
        .unwrap();
    let tools = &alone.requests()[0].tools;
    assert!(!tools.iter().any(|tool| tool.name == "task"));
}

#[tokio::test]
async fn a_long_chat_is_summarised() {
    let scripted = ScriptedModel::new(["They spoke of tea.", "Yes."]);
    let agent = deep_agent(scripted)
        .summarise_above(2_000)
        .compile()
        .unwrap();
    let talk =
        (0..300).map(|n| langgraph::message::Message::user(format!("I like tea number {n}.")));
    let input = MessagesStateUpdate::default().messages(talk.collect());
    let state = agent.invoke(input).await.unwrap();
    assert!(state.messages[0].text().ends_with("They spoke of tea."));
    assert!(state.messages.len() < 300);
}

#[tokio::test]
async fn plans_are_state() {
    let todos = json!({"todos": [{"content": "read", "status": "pending"}]});
    let agent = compiled(deep_agent(model([
        call("c", "write_todos", todos),
        says("planned"),
    ])));
    let outcome = agent
        .thread("t")
        .run(MessagesStateUpdate::user("?"))
        .await
        .unwrap();
    let state = outcome.finished().unwrap();
    assert_eq!(TODOS.read(&state.middleware).unwrap().len(), 1);
    assert_eq!(results(&state), ["0 of 1 to-dos are done"]);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let hi = || model([says("hi")]);
    let two = deep_agent(hi())
        .subagent("a", "", deep_agent(hi()))
        .subagent("a", "", deep_agent(hi()));
    let error = two.compile().unwrap_err().to_string();
    assert!(error.contains("two sub-agents are named `a`"), "{error}");

    let unknown = react_agent(hi(), ()).with(HumanInTheLoop::new("wipe"));
    let error = deep_agent(hi())
        .subagent("b", "", unknown)
        .compile()
        .unwrap_err();
    assert!(matches!(error, AgentBuildError::Unfit { .. }), "{error}");

    let ls = FnTool::new("ls", "Another one.", || async { "" });
    let error = deep_agent(hi()).tools((ls,)).compile().unwrap_err();
    assert!(matches!(error, AgentBuildError::TwoTools { .. }), "{error}");
}

#[tokio::test]
async fn files_in_a_store_need_one() {
    let turns = [call("c", "ls", json!({})), says("done")];
    let agent = deep_agent(model(turns))
        .files(StoreFiles::new(["f"]))
        .compile()
        .unwrap();
    let error = agent
        .invoke(MessagesStateUpdate::user("?"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("there is no store"), "{error}");
}
