//! How the examples show what is going on.

use langgraph::message::{Message, ToolCall};
use serde_json::Value;

/// Results longer than this are cut when they are shown; the model sees them whole.
const MAX_CHARS: usize = 160;

/// What a message of an agent does, in a few lines.
pub fn lines(message: &Message) -> Vec<String> {
    if let Some(result) = message.tool_result() {
        let name = result.name.as_deref().unwrap_or("tool");
        let verb = if result.is_error() { "failed: " } else { "" };
        return vec![format!(
            "{name} -> {verb}{}",
            shortened(&result.content.text())
        )];
    }
    let mut lines: Vec<String> = message.tool_calls().iter().map(call).collect();
    let text = message.text();
    if !text.is_empty() {
        lines.insert(0, text.into_owned());
    }
    lines
}

/// `calls calculate(expression: "37 * 21")`.
fn call(call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        Value::Object(arguments) => arguments
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect::<Vec<_>>()
            .join(", "),
        _ => call.arguments_text().into_owned(),
    };
    format!("calls {}({arguments})", call.name)
}

fn shortened(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= MAX_CHARS {
        return flat;
    }
    let start: String = flat.chars().take(MAX_CHARS).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use langgraph::message::ToolResult;
    use serde_json::json;

    #[test]
    fn shows_calls_results_and_text() {
        let calls = vec![
            ToolCall::new("1", "calculate", json!({"expression": "37 * 21"})),
            ToolCall::new("2", "get_current_time", json!({})),
        ];
        assert_eq!(
            lines(&Message::assistant_with_tool_calls("", calls)),
            [
                "calls calculate(expression: \"37 * 21\")",
                "calls get_current_time()"
            ]
        );
        assert_eq!(
            lines(&ToolResult::new("1", "777").with_name("calculate").into()),
            ["calculate -> 777"]
        );
        assert_eq!(
            lines(
                &ToolResult::error("1", "no\nsuch file")
                    .with_name("read")
                    .into()
            ),
            ["read -> failed: no such file"]
        );
        assert_eq!(lines(&Message::assistant("done")), ["done"]);
        let long = lines(&Message::tool("1", "x".repeat(500)));
        assert_eq!(long[0].len(), "tool -> ".len() + MAX_CHARS + 3);
    }
}
