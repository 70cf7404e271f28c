//! Long histories, shortened.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::message::Message;
use langgraph::node::{Context, Node, NodeRun};
use langgraph::state::HasMessages;
use langgraph_agent::{ChatModel, ChatModelExt as _, ChatRequest, TokenCount};

/// Returns the end of a history with at most so many tokens, as an estimate; and the instructions at its
/// start, always.
///
/// It cuts only where providers allow it: a tool's result stays with its call, and the first message
/// after the instructions is the user's if one is left. The last message stays however long it is.
///
/// # Examples
///
/// ```
/// use langgraph::message::{Message, ToolCall};
/// use langgraph_patterns::trim;
/// use serde_json::json;
///
/// let chat = [
///     Message::system("Be brief."),
///     Message::user("What time is it?"),
///     Message::assistant_with_tool_calls("", [ToolCall::new("c1", "now", json!({}))]),
///     Message::tool("c1", "12:00"),
///     Message::assistant("It is noon."),
///     Message::user("And now?"),
/// ];
/// // There is room for the answer of the tool, and not for the question before it.
/// let kept = trim(&chat, 30);
/// let texts: Vec<_> = kept.iter().map(|message| message.text().into_owned()).collect();
/// assert_eq!(texts, ["Be brief.", "And now?"]);
/// ```
pub fn trim(messages: &[Message], max_tokens: u64) -> Vec<Message> {
    let (instructions, chat) = split(messages);
    let used: u64 = instructions.iter().map(tokens).sum();
    let blocks = blocks(chat);
    let mut room = max_tokens.saturating_sub(used);
    let mut from = chat.len();
    for (start, end) in blocks.iter().rev().copied() {
        let block = chat.get(start..end).unwrap_or_default();
        let needs: u64 = block.iter().map(tokens).sum();
        if needs > room && from < chat.len() {
            break;
        }
        room = room.saturating_sub(needs);
        from = start;
    }
    let kept = chat.get(from..).unwrap_or_default();
    let user = kept.iter().position(Message::is_user).unwrap_or(0);
    let kept = kept.get(user..).unwrap_or_default();
    instructions.iter().chain(kept).cloned().collect()
}

/// Trims the history of a request: for
/// [`EditRequest`](langgraph_agent::EditRequest). The state keeps all of it.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{EditRequest, ScriptedModel, react_agent};
/// use langgraph_patterns::trim_request;
///
/// let agent = react_agent(ScriptedModel::new(["hi"]), ())
///     .with(EditRequest::with(|request| trim_request(request, 8_000)));
/// # let _ = agent.compile();
/// ```
#[must_use]
pub fn trim_request(mut request: ChatRequest, max_tokens: u64) -> ChatRequest {
    request.messages = trim(&request.messages, max_tokens);
    request
}

/// The instructions at the start of a history, and the rest.
fn split(messages: &[Message]) -> (&[Message], &[Message]) {
    let first = messages.iter().position(|message| !message.is_system());
    messages.split_at(first.unwrap_or(messages.len()))
}

/// The parts between which a history can be cut: a message that calls tools belongs together with their
/// results.
fn blocks(messages: &[Message]) -> Vec<(usize, usize)> {
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        match blocks.last_mut() {
            Some((_, end)) if message.is_tool() => *end = index + 1,
            _ => blocks.push((index, index + 1)),
        }
    }
    blocks
}

fn tokens(message: &Message) -> u64 {
    TokenCount::estimate(&ChatRequest::new(vec![message.clone()])).tokens
}

/// A node that replaces the older part of a long history by a summary, which a model writes.
///
/// It stands before the agent, and does nothing as long as the history is short. The state keeps the
/// instructions, the summary and the latest messages; a tool's result stays with its call. The
/// state's messages need the reducer `add_messages`.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesState, MessagesStateUpdate, ModelNode, ScriptedModel};
/// use langgraph_patterns::Summarise;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! {
///     type State = MessagesState;
///     let shorten = Summarise::new(ScriptedModel::new(["They spoke of tea."])).above(50).keep(20);
///     let agent = ModelNode::new(ScriptedModel::new(["Green tea?"]));
///     START => shorten => agent => END;
/// };
/// let talk = (0..10).map(|n| Message::user(format!("I like the tea number {n} best of all.")));
/// let input = MessagesStateUpdate::default().messages(talk.collect());
/// let state = graph.compile()?.invoke(input).await?;
/// assert!(state.messages[0].text().ends_with("They spoke of tea."));
/// assert!(state.messages.len() < 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Summarise {
    model: Arc<dyn ChatModel>,
    above: u64,
    keep: u64,
}

const SUMMARY: &str = "Summary of the conversation so far: ";

impl Summarise {
    /// Creates the node: above 8,000 tokens it keeps the last 2,000.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self {
            model: Arc::new(model),
            above: 8_000,
            keep: 2_000,
        }
    }

    /// Sets the tokens, as an estimate, above which the history is shortened.
    #[must_use]
    pub fn above(mut self, tokens: u64) -> Self {
        self.above = tokens;
        self
    }

    /// Sets the tokens, as an estimate, of the messages that stay as they are.
    #[must_use]
    pub fn keep(mut self, tokens: u64) -> Self {
        self.keep = tokens;
        self
    }

    /// Returns the shorter history, if it is too long.
    async fn shorten(
        &self,
        messages: &[Message],
        cx: &Context,
    ) -> Result<Option<Vec<Message>>, NodeError> {
        let all: u64 = messages.iter().map(tokens).sum();
        if all <= self.above {
            return Ok(None);
        }
        let (instructions, chat) = split(messages);
        // An earlier summary is summarised too.
        let is_summary = |message: &&Message| message.text().starts_with(SUMMARY);
        let (old, instructions): (Vec<_>, Vec<_>) = instructions.iter().partition(is_summary);
        let kept = trim(chat, self.keep);
        let gone = chat.get(..chat.len() - kept.len()).unwrap_or_default();
        if gone.is_empty() {
            return Ok(None);
        }
        let text: String = old.into_iter().chain(gone).map(line).collect();
        let request = ChatRequest::new(vec![Message::user(text)])
            .system("Summarise this conversation in a few sentences. Keep names, numbers, decisions and open questions.")
            .streamed(false);
        let summary = self.model.respond(request, cx).await?.message;
        let summary = Message::system(format!("{SUMMARY}{}", summary.text()));
        Ok(Some(
            instructions
                .into_iter()
                .cloned()
                .chain([summary])
                .chain(kept)
                .collect(),
        ))
    }
}

/// A message as the model that summarises reads it.
fn line(message: &Message) -> String {
    let calls = message.tool_calls().iter();
    let calls: Vec<String> = calls
        .map(|call| format!(" [calls {} with {}]", call.name, call.arguments_text()))
        .collect();
    let calls = calls.concat();
    format!("{}: {}{calls}\n", message.role(), message.text())
}

impl<S: HasMessages> Node<S> for Summarise {
    fn run<'a>(&'a self, state: &'a S, cx: &'a Context) -> NodeRun<'a, S> {
        NodeRun::future(async move {
            let shorter = self.shorten(state.messages(), cx).await?;
            let update = shorter.map(|shorter| {
                let messages = [Message::remove_all()].into_iter().chain(shorter);
                langgraph::node::Command::update(S::update_from_messages(messages.collect()))
            });
            Ok::<_, NodeError>(update.unwrap_or_default())
        })
    }
}

impl fmt::Debug for Summarise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarise")
            .field("above", &self.above)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}
