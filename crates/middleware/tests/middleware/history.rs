//! Long histories and open calls.

use langgraph::message::Message;
use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, check_answered};
use langgraph_middleware::{ContextEditing, PatchToolCalls};
use serde_json::json;

use super::support::{ask, call, calls, search, texts};

#[tokio::test]
async fn results_of_older_calls_are_cleared_in_the_request_only() {
    let model = ScriptedModel::new([
        calls(&[("c1", "search"), ("c2", "read")]),
        calls(&[("c3", "search")]),
        Turn::text("done"),
    ]);
    let lean = ContextEditing::above(0).keep(1).except(["read"]);
    let state = ask(search(model.clone()), lean, "?").await;
    let requests = model.requests();
    assert_eq!(
        texts(&requests[2].messages)[2..],
        ["[cleared]", "read", "", "search"]
    );
    assert_eq!(texts(&requests[1].messages)[2..], ["search", "read"]);
    assert_eq!(texts(&state.messages)[2], "search");

    let model = ScriptedModel::new([Turn::text("done")]);
    let short = ContextEditing::above(1_000).keep(0);
    ask(search(model.clone()), short, "?").await;
    assert_eq!(texts(&model.requests()[0].messages), ["?"]);
}

#[tokio::test]
async fn open_calls_are_answered_where_they_stand() {
    let open = [
        call("c1", "search", json!({})),
        call("c2", "read", json!({})),
    ];
    let chat = vec![
        Message::assistant_with_tool_calls("", open),
        Message::tool("c1", "found"),
        Message::user("Never mind."),
    ];
    let agent = search(ScriptedModel::new(["ok"])).with(PatchToolCalls);
    let agent = agent.compile().unwrap();
    let state = agent
        .invoke(MessagesStateUpdate::default().messages(chat))
        .await
        .unwrap();
    check_answered(&state.messages).unwrap();
    let ids = state.messages.iter().filter_map(Message::tool_result);
    let ids: Vec<_> = ids.map(|result| &*result.call_id).collect();
    assert_eq!(ids, ["c2", "c1"]);
    assert_eq!(texts(&state.messages)[3..], ["Never mind.", "ok"]);
}
