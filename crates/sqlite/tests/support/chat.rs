//! A chat that grows by a message of 1 KiB in each superstep.

use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph::graph::CompilationErrors;
use langgraph::message::Message;
use langgraph::prelude::*;
use langgraph_agent::{MessagesState, MessagesStateUpdate};

/// A graph that talks until there are so many messages, and shows `watch` how many there are before
/// each.
pub(crate) fn chat(
    messages: usize,
    saver: Arc<dyn Checkpointer>,
    watch: impl Fn(usize) + Send + Sync + 'static,
) -> Result<CompiledStateGraph<MessagesState>, CompilationErrors> {
    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("talk", move |chat: &MessagesState| {
            watch(chat.messages.len());
            let said = Message::assistant(text(chat.messages.len()));
            MessagesStateUpdate::default().messages(vec![said])
        })
        .add_edge(START, "talk")
        .add_conditional_edges(
            "talk",
            move |chat: &MessagesState| {
                if chat.messages.len() < messages {
                    "on"
                } else {
                    "enough"
                }
            },
            [("on", "talk"), ("enough", END)],
        );
    Ok(graph.compile()?.checkpointer(saver))
}

/// 1 KiB of words.
fn text(number: usize) -> String {
    let mut text = format!("Message {number}:");
    for word in [
        "the", "log", "holds", "what", "changed", "and", "nothing", "else",
    ]
    .iter()
    .cycle()
    .skip(number)
    {
        text.push(' ');
        text.push_str(word);
        if text.len() >= 1024 {
            break;
        }
    }
    text.truncate(1024);
    text
}
