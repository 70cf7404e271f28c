//! Tools whose schema is known only when the program runs, as those of other programs are.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::Calls;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Approval, HumanInTheLoop, MessagesState, MessagesStateUpdate, ScriptedModel, ToolDecision,
    ToolDefinition, ToolOutput, Turn, react_agent,
};
use serde_json::{Value, json};

use super::answers;

/// Repeats its arguments.
struct Made {
    definition: ToolDefinition,
}

#[async_trait]
impl Tool for Made {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, arguments: Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(arguments.to_string()))
    }

    fn inner_calls(&self) -> Calls {
        Calls { model: 2, tool: 0 }
    }
}

/// A booking with guests, who are people, and a table that may be missing.
fn made(name: &str) -> Made {
    let schema = json!({
        "type": "object",
        "properties": {
            "guests": {"type": "array", "items": {"$ref": "#/$defs/Person"}},
            "table": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["guests"],
        "$defs": {
            "Person": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "knows": {"$ref": "#/$defs/Person"},
                },
                "required": ["name"],
            },
        },
    });
    Made {
        definition: ToolDefinition::new(name, "Books.", schema),
    }
}

fn agent(tools: Vec<Made>, approval: Approval) -> CompiledStateGraph<MessagesState> {
    let call = ToolCall::new("c", "book", json!({"guests": [{"name": "Ann"}]}));
    let model = ScriptedModel::new([Turn::tool_calls([call]), Turn::text("Done.")]);
    let tools: Vec<Arc<dyn Tool>> = tools.into_iter().map(|tool| Arc::new(tool) as _).collect();
    let agent = react_agent(model, tools).with(HumanInTheLoop::new(approval));
    agent.compile().unwrap()
}

#[tokio::test]
async fn edited_arguments_are_checked_at_every_depth() {
    let agent = agent(vec![made("book")], Approval::of(["book"]));
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    thread.run(MessagesStateUpdate::user("?")).await.unwrap();
    for (guests, table, why) in [
        (
            json!([{"name": "Ann"}, {"age": 7}]),
            json!(1),
            "guests: [1]: missing field `name`",
        ),
        (
            json!([{"name": "Ann", "knows": {"name": 7}}]),
            json!(1),
            "knows: name: expected string",
        ),
        (json!([]), json!("window"), "table: expected integer"),
        (json!([]), json!(1.5), "table: expected integer"),
    ] {
        let edit = ToolDecision::edit([("guests", guests), ("table", table)]);
        let error = thread.resume("c", edit).await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let fits = [
        ("guests", json!([{"name": "Bob", "knows": {"name": "Ann"}}])),
        ("table", Value::Null),
    ];
    let done = thread.resume("c", ToolDecision::edit(fits)).await.unwrap();
    let text = answers(&done.finished().unwrap()).remove(0).2;
    assert!(text.contains("Bob"), "{text}");
}

#[tokio::test]
async fn a_call_whose_tool_is_gone_when_it_is_approved_is_answered() {
    let saver = Arc::new(MemorySaver::new());
    let any = || Approval::when(|_| true);
    let before = agent(vec![made("book")], any()).checkpointer(Arc::clone(&saver));
    let paused = before.thread("t").run(MessagesStateUpdate::user("?"));
    assert_eq!(paused.await.unwrap().interrupts().len(), 1);
    let call = agent(vec![made("rent")], any())
        .checkpointer(saver)
        .thread("t");
    let outcome = call.resume("c", ToolDecision::Approve).await.unwrap();
    let (_, is_error, text) = answers(&outcome.finished().unwrap()).remove(0);
    assert!(is_error && text.contains("book"), "{text}");
}

#[tokio::test]
async fn a_call_is_answered_when_no_tool_is_left() {
    let saver = Arc::new(MemorySaver::new());
    let any = || Approval::when(|_| true);
    let thread = |tools| {
        let agent = agent(tools, any()).checkpointer(Arc::clone(&saver));
        agent.thread("t")
    };
    let paused = thread(vec![made("book")]).run(MessagesStateUpdate::user("?"));
    assert_eq!(paused.await.unwrap().interrupts().len(), 1);
    let outcome = thread(Vec::new()).resume("c", ToolDecision::Approve).await;
    let state = outcome.unwrap().finished().unwrap();
    // The first call was stored, and the model requests the other one without being offered any tool.
    let answers = answers(&state);
    assert_eq!(answers.len(), 2);
    for (_, is_error, text) in answers {
        assert!(is_error && text.contains("book"), "{text}");
    }
    assert_eq!(state.messages.last().unwrap().text(), "Done.");
}

#[test]
fn what_a_tool_calls_inside_counts_for_the_bounds_of_its_agent() {
    let one = agent(vec![made("book")], Approval::of(["book"])).bounds();
    let none = agent(Vec::new(), Approval::when(|_| true)).bounds();
    assert_ne!(format!("{one:?}"), format!("{none:?}"));
}
