//! A payment that one person approves, within an hour.

use std::error::Error;
use std::time::Duration;

use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{Approval, MessagesState, MessagesStateUpdate, ToolDecision, tool};
use langgraph_server::ServedGraph;
use serde_json::json;

/// Pays an amount.
#[tool]
async fn pay(amount: u64) -> String {
    format!("paid {amount}")
}

#[node]
async fn request(_: &MessagesState) -> MessagesStateUpdate {
    let call = ToolCall::new("payment", "pay", json!({"amount": 400}));
    MessagesStateUpdate::default().messages(vec![Message::assistant_with_tool_calls("", [call])])
}

pub(crate) fn graph() -> Result<ServedGraph, Box<dyn Error>> {
    let approval = Approval::all()
        .approvers(|person: &str, _: &ToolCall| person == "ada")
        .expires_in(Duration::from_secs(3_600), ToolDecision::reject("too late"));
    let act = ToolNode::new((pay,)).approve(approval);
    let graph = graph! {
        type State = MessagesState;
        START => request => act => END;
    }
    .compile()?;
    Ok(super::messages::chat(graph).into())
}
