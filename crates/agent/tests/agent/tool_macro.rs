//! `#[tool]`: a function that a model can ask for, and that stays a function.

use std::collections::BTreeMap;

use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph::state::HasMessages;
use langgraph_agent::prelude::*;
use langgraph_agent::{IntoTool, IntoTools, Json, ToolOutput};
use serde_json::{Value, json};

/// Adds two numbers.
///
/// The sum must fit.
#[tool]
async fn add(
    /// The first one.
    a: i64,
    /// The second one.
    b: i64,
) -> Result<i64, ToolError> {
    a.checked_add(b)
        .ok_or_else(|| ToolError::model("the sum does not fit"))
}

/// The time.
#[tool]
fn now() -> &'static str {
    "12:00"
}

/// Searches the notes.
#[tool(name = "search-notes")]
pub(crate) async fn search(
    mut query: String,
    limit: Option<u8>,
    #[tool(default = 3 + 4)] depth: u8,
    #[tool(default)] tags: Vec<String>,
    #[tool(rename = "in", description = "Where to look.")] place: String,
    #[serde(alias = "kind")] r#type: BTreeMap<String, bool>,
    cx: &ToolContext<'_>,
) -> Json<Value> {
    query.push('!');
    tokio::task::yield_now().await;
    Json(json!([
        query,
        limit,
        depth,
        tags,
        place,
        r#type,
        cx.call_id()
    ]))
}

/// Ends the conversation.
#[tool(return_directly, description = "Says goodbye.")]
async fn goodbye(cx: &ToolContext) -> ToolOutput {
    ToolOutput::text(format!("bye from {}", cx.node()))
}

#[test]
fn a_tool_describes_itself() {
    let add = add.into_tool();
    assert_eq!(add.name(), "add");
    assert_eq!(
        add.definition().description,
        "Adds two numbers.\n\nThe sum must fit."
    );
    assert_eq!(
        add.definition().parameters,
        json!({
            "type": "object",
            "properties": {
                "a": {"type": "integer", "description": "The first one."},
                "b": {"type": "integer", "description": "The second one."},
            },
            "required": ["a", "b"],
        })
    );
    assert!(!add.returns_directly());
    let goodbye = goodbye.into_tool();
    assert_eq!(goodbye.definition().description, "Says goodbye.");
    assert!(goodbye.returns_directly());
}

#[test]
fn options_of_arguments_reach_the_schema() {
    let search = search.into_tool();
    assert_eq!(search.name(), "search-notes");
    let schema = &search.definition().parameters;
    assert_eq!(schema["required"], json!(["query", "in", "type"]));
    assert_eq!(schema["properties"]["depth"]["default"], json!(7));
    assert_eq!(
        schema["properties"]["in"]["description"],
        json!("Where to look.")
    );
    assert_eq!(
        schema["properties"].as_object().unwrap().len(),
        6,
        "the context is hidden"
    );
}

#[tokio::test]
async fn a_tool_is_called_like_any_function() {
    assert_eq!(add(1, 2).await.unwrap(), 3);
    assert_eq!(now().await, "12:00");
}

/// What a model is answered when it calls `tool`.
#[allow(clippy::unwrap_used, clippy::expect_used)] // a helper of tests
async fn answer(tool: impl Tool, arguments: Value) -> Result<String, String> {
    let mut graph = StateGraph::<Plain<(Option<Result<String, String>>,)>>::new();
    let tool = std::sync::Arc::new(tool);
    graph
        .add_node(
            "caller",
            move |_: Plain<(Option<Result<String, String>>,)>, cx: &Context| {
                let (tool, arguments) = (tool.clone(), arguments.clone());
                // The context is borrowed for the call only.
                let call = ToolCall::new("call-1", tool.name(), arguments.clone());
                let answer = futures_util::FutureExt::now_or_never(async {
                    let cx = ToolContext::new(cx, &call);
                    let output = tool.call(arguments, &cx).await;
                    output
                        .map(|output| format!("{output:?}"))
                        .map_err(|error| error.to_string())
                });
                Plain((answer,))
            },
        )
        .add_sequence(&["caller"]);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Plain((None,)))
        .await
        .unwrap();
    state.0.0.expect("the tool answers at once")
}

#[tokio::test]
async fn a_model_calls_a_tool() {
    let text = answer(add.into_tool(), json!({"a": 1, "b": 2}))
        .await
        .unwrap();
    assert!(text.contains("\"3\""), "{text}");
    let text = answer(goodbye.into_tool(), json!({})).await.unwrap();
    assert!(text.contains("bye from caller"), "{text}");
    let error = answer(add.into_tool(), json!({"a": i64::MAX, "b": 2}))
        .await
        .unwrap_err();
    assert_eq!(error, "the sum does not fit");
    let error = answer(add.into_tool(), json!({"a": "one", "b": 2}))
        .await
        .unwrap_err();
    assert!(error.starts_with("a: invalid type"), "{error}");
}

#[test]
fn tools_are_listed_together() {
    let tools = (add, now, search, goodbye).into_tools();
    let names: Vec<_> = tools.iter().map(AsRef::as_ref).map(Tool::name).collect();
    assert_eq!(names, ["add", "now", "search-notes", "goodbye"]);
}

#[derive(State, Clone, Default)]
struct Chat {
    #[reducer(add_messages)]
    history: Vec<Message>,
}

#[test]
fn a_state_with_one_chat_history_says_where_it_is() {
    let update = Chat::update_from_messages(vec![Message::user("hi")]);
    let chat = Chat::default().merge(update).unwrap();
    assert_eq!(HasMessages::messages(&chat).len(), 1);
    assert_eq!(chat.history[0].text(), "hi");
}
