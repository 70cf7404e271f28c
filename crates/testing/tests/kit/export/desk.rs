//! An agent with tools and an approval.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Approval, EditRequest, FnTool, HumanInTheLoop, MessagesState, MessagesStateUpdate,
    ScriptedModel, ToolDecision, Tools, Turn, react_agent,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::change::{changed, pick};

/// What is changed, one at a time.
pub(crate) const CHANGES: [&str; 25] = [
    "prompt: another word",
    "prompt: one sentence more",
    "prompt: one sentence less",
    "prompt: a space at the end",
    "prompt: none",
    "prompt: in capitals",
    "model: another name",
    "model: temperature",
    "model: no parallel answer, a shorter history",
    "tool: another description",
    "tool: description of an argument",
    "tool: another name",
    "tool: another name of an argument",
    "tool: another type of an argument",
    "tool: one argument more",
    "tool: removed",
    "tool: added",
    "tool: another order",
    "tool: subtracts",
    "tool: is off by one",
    "tool: answers with a unit",
    "tool: fails",
    "approval: none",
    "approval: another question",
    "approval: fewer decisions",
];

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct DescribedSum {
    /// The first number.
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct RenamedSum {
    #[serde(alias = "a")]
    x: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct SumOfFloats {
    a: f64,
    b: f64,
}

#[derive(Deserialize, JsonSchema)]
struct SumOfThree {
    a: i64,
    b: i64,
    c: Option<i64>,
}

fn sum() -> FnTool {
    let (name, about) = (
        pick("tool: another name", "add", "sum"),
        pick("tool: another description", "Adds.", "Adds two numbers."),
    );
    if changed("tool: description of an argument") {
        return FnTool::new(name, about, |of: DescribedSum| async move { of.a + of.b });
    }
    if changed("tool: another name of an argument") {
        return FnTool::new(name, about, |of: RenamedSum| async move { of.x + of.b });
    }
    if changed("tool: another type of an argument") {
        return FnTool::new(name, about, |of: SumOfFloats| async move { of.a + of.b });
    }
    if changed("tool: one argument more") {
        let sum = |of: SumOfThree| async move { of.a + of.b + of.c.unwrap_or_default() };
        return FnTool::new(name, about, sum);
    }
    FnTool::new(name, about, |Sum { a, b }: Sum| async move {
        if changed("tool: fails") {
            return Err(ToolError::model("no sums today"));
        }
        let sum = if changed("tool: subtracts") {
            a - b
        } else {
            a + b
        };
        let sum = sum + pick("tool: is off by one", 1, 0);
        Ok(format!(
            "{sum}{}",
            pick("tool: answers with a unit", " euros", "")
        ))
    })
}

fn prompt() -> &'static str {
    for (name, prompt) in [
        ("prompt: another word", "You are brief. Say what it costs."),
        (
            "prompt: one sentence more",
            "You are kind. Say what it costs. Never refund.",
        ),
        ("prompt: one sentence less", "You are kind."),
        (
            "prompt: a space at the end",
            "You are kind. Say what it costs. ",
        ),
        ("prompt: in capitals", "YOU ARE KIND. SAY WHAT IT COSTS."),
    ] {
        if changed(name) {
            return prompt;
        }
    }
    "You are kind. Say what it costs."
}

fn tools() -> Tools {
    let refund = FnTool::new("refund", "Pays back.", || async { "paid back" });
    let mut tools = Tools::new();
    if changed("tool: another order") {
        return tools.with(refund).with(sum());
    }
    if !changed("tool: removed") {
        tools = tools.with(sum());
    }
    if changed("tool: added") {
        tools = tools.with(FnTool::new("wipe", "Deletes all.", || async { "gone" }));
    }
    tools.with(refund)
}

fn approval() -> Approval {
    let approval = Approval::of(["refund"]);
    if changed("approval: another question") {
        return approval.describe(|call| format!("May {} be called?", call.name));
    }
    if changed("approval: fewer decisions") {
        return approval.allow([langgraph_agent::DecisionKind::Reject]);
    }
    approval
}

/// Returns the agent as the code is at the moment.
pub(crate) fn graph(model: ScriptedModel) -> CompiledStateGraph<MessagesState> {
    let model = model.named(pick("model: another name", "small", "large"));
    let mut agent = react_agent(model, tools());
    if !changed("prompt: none") {
        agent = agent.prompt(prompt());
    }
    if changed("model: temperature") {
        agent = agent.with(EditRequest::with(|request| request.temperature(0.7)));
    }
    if changed("model: no parallel answer, a shorter history") {
        agent = agent.with(EditRequest::with(|mut request| {
            let last = request.messages.len().saturating_sub(2);
            request.messages.drain(..last);
            request
        }));
    }
    if !changed("approval: none") {
        agent = agent.with(HumanInTheLoop::new(approval()));
    }
    agent.compile().unwrap()
}

/// Returns the model that is not asked.
pub(crate) fn silent() -> ScriptedModel {
    ScriptedModel::new(Vec::<Turn>::new())
}

/// Stores a thread with two turns: a sum and an approved refund, and thanks.
pub(crate) async fn stored() -> Arc<MemorySaver> {
    let model = ScriptedModel::new([
        Turn::tool_calls([
            ToolCall::new("c1", "sum", json!({"a": 2, "b": 3})),
            ToolCall::new("c2", "refund", json!({})),
        ]),
        Turn::text("5 euros are paid back."),
        Turn::text("Bye."),
    ]);
    let saver = Arc::new(MemorySaver::new());
    let graph = graph(model).checkpointer(saver.clone());
    let thread = graph.thread("desk");
    thread
        .run(MessagesStateUpdate::user("2 + 3 back!"))
        .await
        .unwrap();
    thread.resume("c2", ToolDecision::Approve).await.unwrap();
    thread
        .run(MessagesStateUpdate::user("Thanks."))
        .await
        .unwrap();
    saver
}
