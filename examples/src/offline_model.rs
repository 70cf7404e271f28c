//! The question reader as a chat model: it needs no key and no network.

use crate::reader::{CALCULATE, FIND_FILES, GET_CURRENT_TIME, PlannedCall, ToolResult, next, plan};
use crate::unknown_tools;
use langgraph::message::{Message, ToolCall};
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ToolDefinition, async_trait,
};
use serde_json::Value;

/// The tools that the rules know.
const KNOWN: &[&str] = &[CALCULATE, FIND_FILES, GET_CURRENT_TIME];

/// The question reader as a [`ChatModel`].
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineModel;

#[async_trait]
impl ChatModel for OfflineModel {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        Ok(ChatResponse::new(reply_with(
            &request.messages,
            &request.tools,
        )))
    }
}

/// What the assistant says next: the tool calls that the last question of the user needs, or the
/// answer from their results.
///
/// ```
/// use langgraph::message::Message;
/// use langgraph_examples::offline_model::reply;
/// use langgraph_examples::reader::CALCULATE;
///
/// let mut messages = vec![Message::user("What is 6 times 7?")];
/// messages.push(reply(&messages, &[CALCULATE]));
/// let call = &messages[1].tool_calls()[0];
/// assert_eq!(call.arguments["expression"], "6 * 7");
///
/// messages.push(Message::tool(&call.id, "42"));
/// assert_eq!(reply(&messages, &[CALCULATE]).text(), "6 * 7 = 42.");
/// ```
pub fn reply(messages: &[Message], tools: &[&str]) -> Message {
    let any = |name: &&str| ToolDefinition::new(*name, "", Value::Null);
    reply_with(messages, &tools.iter().map(any).collect::<Vec<_>>())
}

/// As [`reply`], for tools with schemas. A call follows the schema of its tool: a tool whose required
/// arguments the question does not give is not called. What no rule knows, a tool may know whose name
/// and description fit.
pub fn reply_with(messages: &[Message], tools: &[ToolDefinition]) -> Message {
    let asked = messages.iter().rposition(Message::is_user);
    let turn = messages.get(asked.unwrap_or(0)..).unwrap_or_default();
    let question = match asked {
        Some(_) => turn.first().map(Message::text).unwrap_or_default(),
        None => "".into(),
    };
    let mut results = results(turn);
    let (names, adapted) = usable(&question, tools);
    for result in &mut results {
        for adapted in &adapted {
            adapted.undo(result);
        }
    }
    let plan = next(&question, &names, &results);
    let mut calls = plan.calls;
    for call in &mut calls {
        for adapted in &adapted {
            adapted.apply(call);
        }
    }
    if calls.is_empty() && results.is_empty() {
        let others = tools.iter().filter(|tool| !names.contains(&&*tool.name));
        let found = unknown_tools::choose(&question, &others.collect::<Vec<_>>());
        calls.extend(found.map(|(tool, arguments)| PlannedCall {
            tool: tool.name.clone(),
            arguments,
        }));
    }
    if calls.is_empty() {
        let other = results.last().filter(|last| !KNOWN.contains(&&*last.tool));
        return Message::assistant(match other {
            Some(failed) if failed.is_error => format!("That did not work: {}", failed.content),
            Some(other) => other.content.clone(),
            None => plan.reply.unwrap_or_default(),
        });
    }
    // Ids are unique in the whole conversation, so that an answer can not be taken for another.
    let made: usize = messages
        .iter()
        .map(|message| message.tool_calls().len())
        .sum();
    let calls = calls.into_iter().enumerate().map(|(index, call)| {
        let id = format!("call_{}", made + index + 1);
        ToolCall::new(id, call.tool, call.arguments)
    });
    Message::assistant_with_tool_calls("", calls)
}

/// A call of the rules in the form that the schema of its tool asks for.
struct Adapted {
    planned: PlannedCall,
    arguments: Value,
}

impl Adapted {
    fn apply(&self, call: &mut PlannedCall) {
        if *call == self.planned {
            call.arguments = self.arguments.clone();
        }
    }

    /// Gives the result of the call to the rules as that of theirs.
    fn undo(&self, result: &mut ToolResult) {
        if result.tool != self.planned.tool || result.arguments != self.arguments {
            return;
        }
        result.arguments = self.planned.arguments.clone();
        let time: Value = serde_json::from_str(&result.content).unwrap_or_default();
        if let (Some(time), Some(zone)) = (time["datetime"].as_str(), time["timezone"].as_str()) {
            result.content = format!("{time} in {zone}");
        }
    }
}

/// The tools that can be called for the question, and how.
fn usable<'a>(question: &str, tools: &'a [ToolDefinition]) -> (Vec<&'a str>, Vec<Adapted>) {
    let known = tools.iter().filter(|tool| KNOWN.contains(&&*tool.name));
    let mut names: Vec<&str> = known.map(|tool| &*tool.name).collect();
    let mut adapted = Vec::new();
    for planned in plan(question, &names.clone()).calls {
        let Some(tool) = tools.iter().find(|tool| tool.name == planned.tool) else {
            continue;
        };
        if unknown_tools::fits(&tool.parameters, &planned.arguments) {
            continue;
        }
        match unknown_tools::fill(tool, question) {
            Some(arguments) => adapted.push(Adapted { planned, arguments }),
            None => names.retain(|name| *name != tool.name),
        }
    }
    (names, adapted)
}

/// What the tools have answered in this turn.
fn results(turn: &[Message]) -> Vec<ToolResult> {
    let calls = || turn.iter().flat_map(Message::tool_calls);
    turn.iter()
        .filter_map(Message::tool_result)
        .filter_map(|result| {
            let call = calls().find(|call| call.id == result.call_id)?;
            Some(ToolResult {
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
                content: if result.is_error() {
                    reason(&result.content.text()).to_owned()
                } else {
                    result.content.text().into_owned()
                },
                is_error: result.is_error(),
            })
        })
        .collect()
}

/// Why a tool failed, without what is said around it for language models.
fn reason(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("Error: ").unwrap_or(first).trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TOOLS: &[&str] = &[CALCULATE, GET_CURRENT_TIME, FIND_FILES];

    #[test]
    fn only_the_last_question_is_answered_and_ids_stay_unique() {
        let mut messages = vec![Message::user("What is 1 + 1?")];
        messages.push(reply(&messages, TOOLS));
        messages.push(Message::tool("call_1", "2"));
        messages.push(reply(&messages, TOOLS));
        assert_eq!(messages[3].text(), "1 + 1 = 2.");

        messages.push(Message::user("What is 2 + 2, and what time is it?"));
        messages.push(reply(&messages, TOOLS));
        let ids: Vec<_> = messages[5]
            .tool_calls()
            .iter()
            .map(|call| &*call.id)
            .collect();
        assert_eq!(ids, ["call_2", "call_3"]);
        messages.push(Message::tool("call_2", "four"));
        messages.push(Message::tool_error(
            "call_3",
            "Error: the clock is broken\n Please try again.",
        ));
        assert_eq!(
            reply(&messages, TOOLS).text(),
            "2 + 2 = four. I could not find out the time: the clock is broken."
        );
    }

    #[test]
    fn a_clock_that_wants_a_time_zone_gets_the_one_of_the_place() {
        let schema = json!({
            "type": "object",
            "properties": {"timezone": {"type": "string"}},
            "required": ["timezone"],
        });
        let tools = [ToolDefinition::new(GET_CURRENT_TIME, "The time.", schema)];
        let mut messages = vec![Message::user("What time is it in Tokyo?")];
        messages.push(reply_with(&messages, &tools));
        let call = &messages[1].tool_calls()[0];
        assert_eq!(call.arguments, json!({"timezone": "Asia/Tokyo"}));
        let said = r#"{"timezone": "Asia/Tokyo", "datetime": "2026-11-23T15:30:00+09:00"}"#;
        messages.push(Message::tool(call.id.clone(), said));
        assert_eq!(
            reply_with(&messages, &tools).text(),
            "It is 2026-11-23T15:30:00+09:00 in Asia/Tokyo."
        );
        // An unknown place: the tool is not called without its argument.
        let question = [Message::user("What time is it in Atlantis?")];
        assert_eq!(
            reply_with(&question, &tools).text(),
            "I have no clock here."
        );
    }

    #[test]
    fn a_tool_that_no_rule_knows_is_called_as_its_schema_says() {
        let schema = json!({
            "type": "object",
            "properties": {"message": {"type": "string"}},
            "required": ["message"],
        });
        let tools = [ToolDefinition::new(
            "echo",
            "Echoes back the input.",
            schema,
        )];
        let mut messages = vec![Message::user("Echo hello there")];
        messages.push(reply_with(&messages, &tools));
        let call = messages[1].tool_calls()[0].clone();
        assert_eq!(
            (&*call.name, &call.arguments),
            ("echo", &json!({"message": "hello there"}))
        );
        messages.push(Message::tool(&call.id, "Echo: hello there"));
        assert_eq!(reply_with(&messages, &tools).text(), "Echo: hello there");
    }

    #[test]
    fn a_conversation_without_a_question_gets_a_reply_too() {
        assert_eq!(reply(&[], TOOLS).tool_calls(), []);
        assert!(
            !reply(&[Message::system("Be brief.")], TOOLS)
                .text()
                .is_empty()
        );
    }
}
