//! States that hold a chat.

use super::State;
use crate::message::Message;

/// A state that holds a chat history: what the ready-made nodes for models and tools work on.
///
/// `#[derive(State)]` implements it for a struct with one field that is reduced by
/// `add_messages`; by hand it says where the messages are:
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::state::HasMessages;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Support {
///     #[reducer(append)]
///     chat: Vec<Message>,
///     ticket: String,
/// }
///
/// impl HasMessages for Support {
///     fn messages(&self) -> &[Message] {
///         &self.chat
///     }
///
///     fn update_from_messages(messages: Vec<Message>) -> SupportUpdate {
///         SupportUpdate::default().chat(messages)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where its messages are",
    label = "no `HasMessages` for this state",
    note = "`#[derive(State)]` implements it when one field has `#[reducer(add_messages)]`; for any other state implement it by hand"
)]
pub trait HasMessages: State {
    /// The chat so far.
    fn messages(&self) -> &[Message];

    /// The update that adds these messages to the chat.
    fn update_from_messages(messages: Vec<Message>) -> Self::Update;
}
