//! Runs of a chat, whose messages are added, edited and removed.

use super::Savers;
use crate::case::{Problem, holds, same};
use langgraph::message::Message;
use langgraph::{END, START, State, StateGraph};
use serde::{Deserialize, Serialize};

crate::case::cases! {
    Savers:
    a_chat_is_read_as_it_was_written,
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    turn: usize,
}

/// Adds, repeats, edits and removes messages, in all orders.
fn talk(chat: &Chat) -> ChatUpdate {
    let id = |back: usize| {
        let place = chat.messages.len().checked_sub(back)?;
        chat.messages.get(place)?.id.clone()
    };
    let said = Message::user(format!("turn {}", chat.turn));
    let mut messages = vec![said.clone()];
    match (chat.turn % 7, id(2)) {
        (1, Some(id)) => messages.push(Message::assistant("edited").with_id(id)),
        (2, Some(id)) => messages.insert(0, Message::remove(id)),
        // A message with the former id of another, and two with the same id.
        (3, _) => {
            messages = vec![
                said.clone().with_id("given"),
                Message::user("again").with_id("given"),
            ];
        }
        (4, _) => messages.push(Message::remove("given")),
        (5, _) => messages.extend(chat.messages.last().cloned()),
        _ => {}
    }
    ChatUpdate::default().messages(messages).turn(chat.turn + 1)
}

async fn a_chat_is_read_as_it_was_written(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut graph = StateGraph::<Chat>::new();
    graph
        .add_node("talk", talk)
        .add_edge(START, "talk")
        .add_conditional_edges(
            "talk",
            |chat: &Chat| {
                if chat.turn.is_multiple_of(30) {
                    "enough"
                } else {
                    "on"
                }
            },
            [("on", "talk"), ("enough", END)],
        );
    let graph = graph.compile();
    let graph = graph.map_err(|errors| Problem::Wrong(format!("a graph: {errors}")))?;
    let graph = graph.checkpointer(saver);
    let mut states = Vec::new();
    let mut events = graph
        .run(())
        .thread("t")
        .stream(langgraph::stream::StreamMode::Values);
    while let Some(event) = events.next().await {
        if let langgraph::stream::EventKind::Values(state) = event?.kind {
            states.push(state);
        }
    }
    drop(events);
    let history = graph.thread("t").history().await?;
    let read: Vec<_> = history
        .into_iter()
        .rev()
        .map(|snapshot| snapshot.values)
        .collect();
    for state in states {
        holds(
            "a state that was seen is in the history",
            read.contains(&state),
        )?;
    }
    let oldest = graph.thread("t").history().await?.into_iter().rev().nth(12);
    let oldest = oldest
        .ok_or_else(|| Problem::Wrong("a short history".to_owned()))?
        .id;
    let again = graph.thread("t").proceed().at(oldest).await?;
    let found = graph
        .thread("t")
        .state()
        .await?
        .map(|snapshot| snapshot.values);
    same("the other branch", found.as_ref(), Some(again.state()))
}
