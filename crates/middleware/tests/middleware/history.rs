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

#[tokio::test]
async fn an_answer_counts_for_the_latest_call_with_its_id() {
    let asks = || Message::assistant_with_tool_calls("", [call("c1", "search", json!({}))]);
    let answer = || Message::tool("c1", "found");
    for (answered, expected) in [(0, ["found", CLOSED]), (1, [CLOSED, "found"])] {
        let mut chat = Vec::new();
        for turn in 0..2 {
            chat.push(asks());
            chat.extend((turn == answered).then(answer));
            chat.push(Message::user("Next."));
        }
        let agent = search(ScriptedModel::new(["ok"])).with(PatchToolCalls);
        let input = MessagesStateUpdate::default().messages(chat);
        let state = agent.compile().unwrap().invoke(input).await.unwrap();
        let results = texts(&state.messages);
        assert_eq!([&*results[1], &*results[4]], expected);
    }
}

/// The answer to a call that was left open.
const CLOSED: &str = "not answered: the user wrote something else first";
