//! Interrupts of tools that do not run in a replay, and of budgets that count nothing there.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AtLimit, Budget, BudgetAnswer, HumanInTheLoop, IntoTool, MessagesState, MessagesStateUpdate,
    ScriptedModel, ToolDecision, ToolDefinition, ToolOutput, Turn, react_agent,
};
use langgraph_testing::replay;
use serde_json::{Value, json};

use super::only;

/// Asks a person.
#[tool]
async fn ask(cx: &ToolContext<'_>) -> Result<String, ToolError> {
    Ok(cx.interrupt("who", "Who?")?)
}

/// Doubles a number.
#[tool]
async fn double(n: i64) -> i64 {
    n * 2
}

/// Hands work to an agent whose tool needs an approval.
struct HandOver(ToolDefinition, CompiledStateGraph<MessagesState>);

#[async_trait]
impl Tool for HandOver {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, _: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let state = cx.run(&self.1, MessagesStateUpdate::user("4 + 4?")).await;
        let state = state.map_err(ToolError::fatal)?;
        Ok(ToolOutput::text(state.messages[2].text()))
    }
}

/// A model that calls a tool, and then speaks.
fn calls(tool: &str) -> ScriptedModel {
    let call = ToolCall::new("c", tool, json!({"n": 4}));
    ScriptedModel::new([Turn::tool_calls([call]), Turn::text("Done.")])
}

fn agent(tool: &str) -> CompiledStateGraph<MessagesState> {
    let schema = json!({"type": "object"});
    let inner = react_agent(calls("double"), (double,)).with(HumanInTheLoop::new("double"));
    let inner = inner.name("inner").compile().unwrap();
    let hand_over = ToolDefinition::new("hand_over", "Hands over.", schema);
    let hand_over = HandOver(hand_over, inner);
    let tools: Vec<Arc<dyn Tool>> = vec![ask.into_tool(), double.into_tool(), Arc::new(hand_over)];
    react_agent(calls(tool), tools).compile().unwrap()
}

/// Replays a thread that waits for an answer, and once more with the answer. Nothing diverges, and the node that has asked
/// is not checked.
async fn is_not_checked(tool: &str, budget: Budget, asks: &str, answer: Value) {
    let saver = Arc::new(MemorySaver::new());
    let stored = agent(tool).checkpointer(saver.clone());
    let thread = stored.resource(Arc::new(budget)).thread("t");
    let outcome = thread.run(MessagesStateUpdate::user("?")).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    for is_answered in [false, true] {
        if is_answered {
            thread.answer(answer.clone()).await.unwrap();
        }
        let report = replay(saver.clone(), &agent(tool)).await.unwrap();
        assert!(report.diverged().next().is_none(), "{report}");
        let unchecked = &report.threads[0].unchecked;
        let nodes = unchecked.iter().filter_map(|one| one.node.as_deref());
        // Where the tool has ended with its agent, its answer is the stored one.
        let expected = (tool != "hand_over" || !is_answered).then_some(asks);
        assert_eq!(
            nodes.collect::<Vec<_>>(),
            Vec::from_iter(expected),
            "{report}"
        );
    }
    if tool != "double" {
        let report = replay(saver, &agent(tool)).run_tools([tool]).await;
        let report = report.unwrap();
        assert!(report.threads[0].unchecked.is_empty(), "{report}");
        assert!(report.is_same(), "{report}");
    }
}

#[tokio::test]
async fn what_a_tool_or_a_budget_has_asked_is_not_checked() {
    let free = Budget::per_thread;
    is_not_checked("ask", free(), "tools", json!("Ann")).await;
    let approve = json!(ToolDecision::Approve);
    is_not_checked("hand_over", free(), "tools", approve).await;
    let more = json!(BudgetAnswer::more(9));
    let asks = |budget: Budget| budget.at_limit(AtLimit::Ask);
    is_not_checked("double", asks(free().tool_calls(0)), "tools", more.clone()).await;
    is_not_checked("double", asks(free().model_calls(1)), "agent", more).await;
}

#[tokio::test]
async fn a_tool_that_asked_for_an_approval_of_the_call_and_runs_without_one_diverges() {
    let saver = Arc::new(MemorySaver::new());
    let approved = react_agent(calls("ask"), (ask,)).with(HumanInTheLoop::new("ask"));
    let stored = approved.compile().unwrap().checkpointer(saver.clone());
    let thread = stored.thread("t");
    thread.run(MessagesStateUpdate::user("?")).await.unwrap();
    for answer in [json!(ToolDecision::Approve), json!("Ann")] {
        let report = replay(saver.clone(), &agent("ask")).await.unwrap();
        assert_eq!(only(&report).1.node, "tools");
        thread.answer(answer).await.unwrap();
    }
    let report = replay(saver, &agent("ask")).await.unwrap();
    assert_eq!(only(&report).1.field, "interrupt");
}
