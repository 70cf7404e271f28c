//! The question reader as a chat model: it needs no key and no network.

use crate::reader::{ToolResult, next};
use langgraph::message::{Message, ToolCall};
use langgraph_agent::{ChatModel, ChatRequest, ChatResponse, ModelError, async_trait};

/// The question reader as a [`ChatModel`].
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineModel;

#[async_trait]
impl ChatModel for OfflineModel {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let tools: Vec<&str> = request.tools.iter().map(|tool| &*tool.name).collect();
        Ok(ChatResponse::new(reply(&request.messages, &tools)))
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
    let asked = messages.iter().rposition(Message::is_user);
    let turn = messages.get(asked.unwrap_or(0)..).unwrap_or_default();
    let question = match asked {
        Some(_) => turn.first().map(Message::text).unwrap_or_default(),
        None => "".into(),
    };
    let plan = next(&question, tools, &results(turn));
    if let Some(reply) = plan.reply {
        return Message::assistant(reply);
    }
    // Ids are unique in the whole conversation, so that an answer can not be taken for another.
    let made: usize = messages
        .iter()
        .map(|message| message.tool_calls().len())
        .sum();
    let calls: Vec<ToolCall> = plan
        .calls
        .into_iter()
        .enumerate()
        .map(|(index, call)| {
            ToolCall::new(
                format!("call_{}", made + index + 1),
                call.tool,
                call.arguments,
            )
        })
        .collect();
    Message::assistant_with_tool_calls("", calls)
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
    use super::*;
    use crate::reader::{CALCULATE, FIND_FILES, GET_CURRENT_TIME};

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
    fn a_conversation_without_a_question_gets_a_reply_too() {
        assert_eq!(reply(&[], TOOLS).tool_calls(), []);
        assert!(
            !reply(&[Message::system("Be brief.")], TOOLS)
                .text()
                .is_empty()
        );
    }
}
