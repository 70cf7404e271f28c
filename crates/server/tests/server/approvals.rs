//! Approvals on the server: who decides is who sends the answer.

#![allow(clippy::unwrap_used, clippy::expect_used)] // in what the tests share

use std::time::Duration;

use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph::message::{Message, ToolCall};
use langgraph_agent::{Approval, MessagesState, MessagesStateUpdate, ToolDecision, ToolNode, tool};
use langgraph_server::{BearerTokens, Server, User};
use serde_json::{Value, json};

/// Pays an amount.
#[tool]
async fn pay(amount: u64) -> String {
    format!("paid {amount}")
}

/// Two users of one team, who share their threads; one of them decides.
async fn team() -> (Api, Api) {
    let ask = |_: &MessagesState| {
        let call = ToolCall::new("c1", "pay", json!({"amount": 400}));
        let message = Message::assistant_with_tool_calls("", [call]);
        MessagesStateUpdate::default().messages(vec![message])
    };
    let approval = Approval::all().approvers(|person: &str, _: &ToolCall| person == "ada");
    let tools = ToolNode::new((pay,)).approve(approval);
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", ask).add_node("tools", tools);
    graph.add_sequence(&["ask", "tools"]);
    let tokens = BearerTokens::new()
        .token("token-of-ada", User::new("ada").owner("team"))
        .token("token-of-mallory", User::new("mallory").owner("team"));
    let server = Server::new().graph("desk", graph.compile().unwrap());
    let api = Api::serve(server.authenticate(tokens)).await;
    (
        api.with_token("token-of-ada"),
        api.with_token("token-of-mallory"),
    )
}

/// A desk whose approvals expire after a second.
async fn hurried() -> Api {
    let ask = |_: &MessagesState| {
        let call = ToolCall::new("c1", "pay", json!({"amount": 400}));
        let message = Message::assistant_with_tool_calls("", [call]);
        MessagesStateUpdate::default().messages(vec![message])
    };
    let approval = Approval::all()
        .approvers(|person: &str, _: &ToolCall| person == "ada")
        .expires_in(Duration::from_secs(1), ToolDecision::reject("too late"));
    let tools = ToolNode::new((pay,)).approve(approval);
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", ask).add_node("tools", tools);
    graph.add_sequence(&["ask", "tools"]);
    let tokens = BearerTokens::new().token("token-of-mallory", User::new("mallory"));
    let server = Server::new().graph("desk", graph.compile().unwrap());
    let api = Api::serve(server.authenticate(tokens)).await;
    api.with_token("token-of-mallory")
}

#[tokio::test]
async fn an_approval_expires_by_itself() {
    let api = hurried().await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "desk", "input": {"messages": []}});
    let paused = api
        .post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    assert!(paused["__interrupt__"].is_array(), "{paused}");
    for _ in 0..200 {
        let row = api.get(&format!("/threads/{thread}")).await;
        if row["status"] == "idle" {
            let text = row["values"]["messages"][1]["content"].to_string();
            assert!(text.contains("too late"), "{row}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let row = api.get(&format!("/threads/{thread}")).await;
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    unreachable!("the approval is open: {row} {runs}");
}

async fn answer(api: &Api, thread: &str, answer: Value) -> Value {
    let body = json!({"assistant_id": "desk", "command": {"resume": answer}});
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await
}

#[tokio::test]
async fn no_user_decides_in_the_name_of_another() {
    let (ada, mallory) = team().await;
    let thread = ada.thread().await;
    let body = json!({"assistant_id": "desk", "input": {"messages": []}});
    let paused = ada
        .post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    assert!(paused["__interrupt__"].is_array(), "{paused}");

    for given in [
        json!({"type": "approve", "by": "ada"}),
        json!({"type": "approve"}),
        json!({"decisions": [{"type": "approve", "by": "ada"}]}),
        json!([{"type": "accept", "args": null}]),
    ] {
        let refused = answer(&mallory, &thread, given.clone()).await;
        assert!(refused["__error__"].is_object(), "{given}: {refused}");
        // Inboxes search for threads that wait.
        let row = ada.get(&format!("/threads/{thread}")).await;
        assert_eq!(row["status"], "interrupted", "{given}: {row}");
    }
    // Front ends that know no `by` approve in the name of their user.
    let given = json!({"decisions": [{"type": "approve"}]});
    let done = answer(&ada, &thread, given).await;
    assert_eq!(done["messages"][1]["content"], "paid 400", "{done}");
}
