//! States with a chat history.

use super::State;
use crate::message::Message;

/// A state with a chat history. The ready-made nodes for models and tools work on it.
///
/// `#[derive(State)]` implements it for a struct with exactly one `add_messages` field. An
/// implementation by hand says where the messages are:
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
    /// Returns the chat so far.
    fn messages(&self) -> &[Message];

    /// Returns the update that adds these messages to the chat.
    fn update_from_messages(messages: Vec<Message>) -> Self::Update;
}
