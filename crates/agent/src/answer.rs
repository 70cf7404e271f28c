//! The answer of an agent.

use langgraph::message::Message;

/// Returns the answer of an agent that has ended with this chat: the text of its last reply, or of the tools that
/// [return directly](crate::Tool::returns_directly), if the chat ends with their results.
///
/// # Examples
///
/// ```
/// use langgraph::message::Message;
/// use langgraph_agent::final_answer;
///
/// // The message that calls the tool is left out.
/// let mut chat = vec![Message::user("How much?"), Message::tool("c1", "42")];
/// assert_eq!(final_answer(&chat), "42");
///
/// chat.push(Message::assistant("It costs 42."));
/// assert_eq!(final_answer(&chat), "It costs 42.");
/// ```
pub fn final_answer(messages: &[Message]) -> String {
    let results = messages.iter().rev().take_while(|last| last.is_tool());
    match results.count() {
        0 => {
            let reply = messages.iter().rfind(|message| message.is_assistant());
            reply
                .map(|reply| reply.text().into_owned())
                .unwrap_or_default()
        }
        count => {
            let results = messages.iter().skip(messages.len() - count);
            let texts: Vec<_> = results.map(Message::text).collect();
            texts.join("\n")
        }
    }
}
