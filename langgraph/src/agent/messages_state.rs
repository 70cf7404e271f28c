//! A chat history as a state, and states that hold one.

use crate::message::{AddMessages, Message};
use crate::node::{IntoOutput, NodeError, Output};
use crate::state::{Field, FieldSet, Reducer, ReducerError, State};

/// A state that is a chat history and nothing else.
///
/// # Examples
///
/// ```
/// use langgraph::agent::{MessagesState, MessagesStateUpdate};
/// use langgraph::prelude::*;
///
/// let state = MessagesState::default();
/// let state = state.merge(MessagesStateUpdate::default().messages(vec![Message::user("hi")]));
/// assert_eq!(state.messages.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesState {
    /// The chat so far; updates are merged by [`add_messages`](crate::message::add_messages).
    pub messages: Vec<Message>,
}

/// What a node of a graph over [`MessagesState`] returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesStateUpdate {
    /// Messages that are new, changed, or to be removed.
    pub messages: Option<Vec<Message>>,
}

impl MessagesStateUpdate {
    /// Writes `messages`.
    #[must_use]
    pub fn messages(mut self, messages: Vec<Message>) -> Self {
        self.messages = Some(messages);
        self
    }
}

impl From<MessagesState> for MessagesStateUpdate {
    fn from(state: MessagesState) -> Self {
        Self::default().messages(state.messages)
    }
}

impl State for MessagesState {
    type Update = MessagesStateUpdate;

    fn fields(&self) -> &[Field] {
        const FIELDS: &[Field] = &[Field::plain("messages").reduced()];
        FIELDS
    }

    fn written(&self, update: &MessagesStateUpdate) -> FieldSet {
        FieldSet::first(usize::from(update.messages.is_some()))
    }

    fn try_merge(&mut self, update: MessagesStateUpdate) -> Result<(), ReducerError> {
        match update.messages {
            Some(messages) => AddMessages.try_merge(&mut self.messages, messages),
            None => Ok(()),
        }
    }

    fn overwrite(&mut self, update: MessagesStateUpdate) {
        if let Some(messages) = update.messages {
            self.messages = messages;
        }
    }

    fn discard(&self, update: &mut MessagesStateUpdate, fields: &FieldSet) {
        if fields.contains(0) {
            update.messages = None;
        }
    }

    fn reset(&mut self, fields: &FieldSet) {
        if fields.contains(0) {
            self.messages.clear();
        }
    }

    fn prepare(&self, update: &mut MessagesStateUpdate) {
        if let Some(messages) = &mut update.messages {
            AddMessages.prepare(messages);
        }
    }

    fn messages(update: &MessagesStateUpdate, see: &mut dyn FnMut(&Message)) {
        update.messages.iter().flatten().for_each(see);
    }
}

impl IntoOutput<MessagesState> for MessagesStateUpdate {
    fn into_output(self) -> Result<Output<MessagesState>, NodeError> {
        Ok(Output::update(self))
    }
}

/// A state that holds a chat history: what [`ToolNode`](super::ToolNode) and the ready-made nodes
/// work on.
///
/// # Examples
///
/// ```
/// # use langgraph::agent::{HasMessages, MessagesState as Chat, MessagesStateUpdate as ChatUpdate};
/// # use langgraph::prelude::*;
/// # #[derive(Clone, Default)] struct MyState { messages: Vec<Message> }
/// # #[derive(Clone, Default)] struct MyStateUpdate { messages: Vec<Message> }
/// # impl MyStateUpdate { fn messages(mut self, messages: Vec<Message>) -> Self { self.messages = messages; self } }
/// # impl From<MyState> for MyStateUpdate { fn from(s: MyState) -> Self { Self { messages: s.messages } } }
/// # impl State for MyState {
/// #     type Update = MyStateUpdate;
/// #     fn fields(&self) -> &[langgraph::state::Field] { &[] }
/// #     fn written(&self, _: &MyStateUpdate) -> langgraph::state::FieldSet { langgraph::state::FieldSet::new() }
/// #     fn try_merge(&mut self, _: MyStateUpdate) -> Result<(), langgraph::state::ReducerError> { Ok(()) }
/// #     fn overwrite(&mut self, _: MyStateUpdate) {}
/// #     fn discard(&self, _: &mut MyStateUpdate, _: &langgraph::state::FieldSet) {}
/// #     fn reset(&mut self, _: &langgraph::state::FieldSet) {}
/// # }
/// impl HasMessages for MyState {
///     fn messages(&self) -> &[Message] {
///         &self.messages
///     }
///
///     fn update_from_messages(messages: Vec<Message>) -> MyStateUpdate {
///         MyStateUpdate::default().messages(messages)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say where its messages are",
    label = "no `HasMessages` for this state",
    note = "implement `HasMessages` for it, or show the node the field: `ToolNode::new(tools).on(|state| &state.messages, |messages| Update::default().messages(messages))`"
)]
pub trait HasMessages: State {
    /// The chat so far.
    fn messages(&self) -> &[Message];

    /// The update that adds these messages to the chat.
    fn update_from_messages(messages: Vec<Message>) -> Self::Update;
}

impl HasMessages for MessagesState {
    fn messages(&self) -> &[Message] {
        &self.messages
    }

    fn update_from_messages(messages: Vec<Message>) -> MessagesStateUpdate {
        MessagesStateUpdate::default().messages(messages)
    }
}
