//! Tools: every form of tool, and what models send them.

use langgraph::__private::{schemars, serde};
use langgraph::agent::{
    FnTool, IntoTools, Json, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolMeta,
    ToolOutput, ToolRun,
};
use serde_json::{Value, json};

/// What `#[tool]` writes for a function with a context.
mod expanded {
    use super::*;

    pub(crate) fn repeat<'a>(
        word: String,
        times: u8,
        cx: &'a ToolContext<'_>,
    ) -> ToolFuture<'a, Result<String, ToolError>, __tool_repeat> {
        ToolFuture::new(async move {
            if times == 0 {
                return Err(ToolError::model(format!("{}: zero times", cx.call_id())));
            }
            Ok(word.repeat(times.into()))
        })
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph::__private::serde")]
    #[schemars(crate = "::langgraph::__private::schemars")]
    pub(crate) struct Arguments {
        /// What to repeat.
        word: String,
        times: u8,
    }

    #[allow(non_camel_case_types)]
    pub(crate) enum __tool_repeat {}

    impl ToolMeta for __tool_repeat {
        const NAME: &'static str = "repeat";
        const DESCRIPTION: &'static str = "Repeats a word.";
        type Arguments = Arguments;

        fn call<'a>(arguments: Arguments, cx: &'a ToolContext<'a>) -> ToolRun<'a> {
            repeat(arguments.word, arguments.times, cx).into_run()
        }
    }

    pub(crate) fn now() -> ToolFuture<'static, &'static str, __tool_now> {
        ToolFuture::new(async move { "12:00" })
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph::__private::serde")]
    #[schemars(crate = "::langgraph::__private::schemars")]
    pub(crate) struct NoArguments {}

    #[allow(non_camel_case_types)]
    pub(crate) enum __tool_now {}

    impl ToolMeta for __tool_now {
        const NAME: &'static str = "now";
        const DESCRIPTION: &'static str = "The time.";
        type Arguments = NoArguments;

        fn call<'a>(_: NoArguments, _: &'a ToolContext<'a>) -> ToolRun<'a> {
            now().into_run()
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "::langgraph::__private::serde")]
#[schemars(crate = "::langgraph::__private::schemars")]
struct Add {
    a: i64,
    b: i64,
}

async fn add(arguments: Add, cx: &ToolContext<'_>) -> Json<Value> {
    Json(json!({"sum": arguments.a + arguments.b, "call": cx.call_id()}))
}

#[test]
fn every_form_of_tool_goes_into_one_list() {
    let struct_tool = FnTool::new("struct", "", |Add { a, b }: Add| async move { a - b });
    let tools = (
        expanded::repeat,
        expanded::now,
        FnTool::new("add", "Adds.", add),
        FnTool::new("nothing", "", || async {}),
        std::sync::Arc::new(struct_tool) as std::sync::Arc<dyn Tool>,
    )
        .into_tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names, ["repeat", "now", "add", "nothing", "struct"]);
    assert_eq!(
        tools.definitions()[0],
        ToolDefinition::new(
            "repeat",
            "Repeats a word.",
            json!({
                "type": "object",
                "properties": {
                    "word": {"type": "string", "description": "What to repeat."},
                    "times": {"type": "integer", "minimum": 0, "maximum": 255},
                },
                "required": ["word", "times"],
            })
        )
    );
    assert_eq!(
        tools.definitions()[1].parameters,
        json!({"type": "object", "properties": {}})
    );
    let _ = ToolOutput::text("");
}
