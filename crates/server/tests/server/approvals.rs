//! Approvals on the server: who decides is who sends the answer.

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

/// A desk that asks whether 400 may be paid; only Ada decides.
fn desk(approval: Approval) -> Server {
    let ask = |_: &MessagesState| {
        let call = ToolCall::new("c1", "pay", json!({"amount": 400}));
        let message = Message::assistant_with_tool_calls("", [call]);
        MessagesStateUpdate::default().messages(vec![message])
    };
    let approval = approval.approvers(|person: &str, _: &ToolCall| person == "ada");
    let tools = ToolNode::new((pay,)).approve(approval);
    let mut graph = StateGraph::<MessagesState>::new();
    graph.add_node("ask", ask).add_node("tools", tools);
    graph.add_sequence(&["ask", "tools"]);
    Server::new().graph("desk", graph.compile().unwrap())
}

/// Two users of one team, who share their threads; one of them decides.
async fn team() -> (Api, Api) {
    let tokens = BearerTokens::new()
        .token("token-of-ada", User::new("ada").owner("team"))
        .token("token-of-mallory", User::new("mallory").owner("team"));
    let api = Api::serve(desk(Approval::all()).authenticate(tokens)).await;
    (
        api.with_token("token-of-ada"),
        api.with_token("token-of-mallory"),
    )
}

fn expiring(wait: Duration) -> Approval {
    Approval::all().expires_in(wait, ToolDecision::reject("too late"))
}

/// Runs up to the approval, and returns the paused values.
async fn asked(api: &Api, thread: &str) -> Value {
    let body = json!({"assistant_id": "desk", "input": {"messages": []}});
    let paused = api
        .post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    assert!(paused["__interrupt__"].is_array(), "{paused}");
    paused
}

#[tokio::test]
async fn an_approval_expires_by_itself() {
    let tokens = BearerTokens::new().token("token-of-mallory", User::new("mallory"));
    let hurried = desk(expiring(Duration::from_secs(1)));
    let api = Api::serve(hurried.authenticate(tokens)).await;
    let api = api.with_token("token-of-mallory");
    let thread = api.thread().await;
    asked(&api, &thread).await;
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
    asked(&ada, &thread).await;

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

#[tokio::test]
async fn without_authentication_an_answer_names_who_decides() {
    let api = Api::serve(desk(expiring(Duration::from_secs(3_600)))).await;
    let thread = api.thread().await;
    let paused = asked(&api, &thread).await;
    let interrupt = &paused["__interrupt__"][0];
    // What a form shows: until when, and what happens then.
    assert!(interrupt["value"]["expires_at"].is_u64(), "{interrupt}");
    assert_eq!(interrupt["value"]["default"]["type"], "reject");

    let id = interrupt["id"].as_str().unwrap();
    let given = |by: Value| json!({id: {"type": "approve", "by": by}});
    for by in [Value::Null, json!("mallory")] {
        let refused = answer(&api, &thread, given(by)).await;
        assert!(refused["__error__"].is_object(), "{refused}");
    }
    let done = answer(&api, &thread, given(json!("ada"))).await;
    assert_eq!(done["messages"][1]["content"], "paid 400", "{done}");
}
