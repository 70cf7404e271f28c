//! A list of to-dos.

use langgraph_agent::{ScriptedModel, Turn, react_agent};
use langgraph_middleware::{TODOS, TodoList, TodoStatus};
use serde_json::json;

use super::support::{ask, call, texts};

#[tokio::test]
async fn the_model_keeps_a_list_and_replaces_it() {
    let list = |status: &str| {
        let todos = json!({"todos": [
            {"content": "read", "status": status},
            {"content": "write", "status": "pending"},
        ]});
        call("c1", "write_todos", todos)
    };
    let model = ScriptedModel::new([
        Turn::tool_calls([list("in_progress")]),
        Turn::tool_calls([list("completed")]),
        Turn::text("done"),
    ]);
    let agent = react_agent(model.clone(), ()).prompt("Be brief.");
    let state = ask(agent, TodoList::prompt("Plan!"), "?").await;
    let todos = TODOS.read(&state.middleware).unwrap();
    let shown: Vec<_> = todos
        .iter()
        .map(|one| (&*one.content, one.status))
        .collect();
    assert_eq!(
        shown,
        [
            ("read", TodoStatus::Completed),
            ("write", TodoStatus::Pending)
        ]
    );
    assert_eq!(texts(&state.messages)[4], "1 of 2 to-dos are done");
    let instructions = model.requests()[0].messages[0].text().into_owned();
    assert_eq!(instructions, "Be brief.\n\nPlan!");
}

#[tokio::test]
async fn two_lists_at_once_are_refused() {
    let two = ["c1", "c2"].map(|id| call(id, "write_todos", json!({"todos": []})));
    let model = ScriptedModel::new([Turn::tool_calls(two), Turn::text("done")]);
    let state = ask(react_agent(model, ()), TodoList::new(), "?").await;
    for message in &state.messages[2..4] {
        assert!(message.text().contains("call it once at a time"));
    }
    assert!(TODOS.read(&state.middleware).unwrap().is_empty());
}
