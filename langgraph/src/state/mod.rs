//! State: what flows through a graph, and how updates change it.
//!
//! A state is a plain struct with `#[derive(State)]`. Nodes never change it: they return an
//! *update*, a struct with one `Option` per field, and the runtime merges the updates of a
//! superstep in a fixed order, each field by its [`Reducer`].

use crate::message::Message;
use crate::node::IntoOutput;

mod add_messages;
mod codec;
mod field;
mod has_messages;
mod plain;
mod reducer;
mod standard;
pub(crate) mod write;

#[doc(inline)]
pub use langgraph_macros::State;

pub use add_messages::{AddMessages, AddMessagesStrict, add_messages_strict};
pub use codec::{Migrate, StateCodec, StateVersion};
pub use field::{Field, FieldSet};
pub use has_messages::HasMessages;
pub use plain::{Plain, PlainUpdate};
pub use reducer::{Reducer, ReducerError, ReducerFn};
pub use standard::*;

/// What flows through a graph.
///
/// Derive it on a struct with named fields; the derive writes the update type and everything
/// below. Implement it by hand for a state whose fields are only known at run time: every method
/// takes the value, so that a schema can live inside it.
///
/// # Examples
///
/// A JSON object whose keys are fields:
///
/// ```
/// use langgraph::node::{IntoOutput, NodeError, Output};
/// use langgraph::state::{Field, FieldSet, ReducerError, State};
/// use serde_json::{Map, Value};
///
/// #[derive(Clone)]
/// struct Dynamic {
///     fields: Vec<Field>,
///     values: Map<String, Value>,
/// }
///
/// #[derive(Clone, Default)]
/// struct DynamicUpdate(Map<String, Value>);
///
/// impl From<Dynamic> for DynamicUpdate {
///     fn from(state: Dynamic) -> Self {
///         Self(state.values)
///     }
/// }
///
/// // A node may return the update.
/// impl IntoOutput<Dynamic> for DynamicUpdate {
///     fn into_output(self) -> Result<Output<Dynamic>, NodeError> {
///         Ok(Output::update(self))
///     }
/// }
///
/// impl State for Dynamic {
///     type Update = DynamicUpdate;
///
///     fn fields(&self) -> &[Field] {
///         &self.fields
///     }
///     fn written(&self, update: &DynamicUpdate) -> FieldSet {
///         let written = |field: &Field| update.0.contains_key(field.name());
///         (0..self.fields.len()).filter(|i| written(&self.fields[*i])).collect()
///     }
///     fn try_merge(&mut self, update: DynamicUpdate) -> Result<(), ReducerError> {
///         self.overwrite(update);
///         Ok(())
///     }
///     fn overwrite(&mut self, update: DynamicUpdate) {
///         self.values.extend(update.0);
///     }
///     fn discard(&self, update: &mut DynamicUpdate, fields: &FieldSet) {
///         for index in fields.iter() {
///             update.0.remove(self.fields[index].name());
///         }
///     }
///     fn reset(&mut self, fields: &FieldSet) {
///         for index in fields.iter() {
///             self.values.remove(self.fields[index].name());
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "this type is not a `State`",
    note = "put `#[derive(State)]` on the struct, or wrap a value that is replaced whole in `Plain<_>`"
)]
pub trait State: Clone + Send + Sync + 'static {
    /// What a node returns: the fields it changes. Never the state's own type.
    type Update: Clone + Default + From<Self> + IntoOutput<Self> + Send + Sync + 'static;

    /// The fields, in order. The order stays the same for the life of a run.
    fn fields(&self) -> &[Field];

    /// The fields that `update` writes.
    fn written(&self, update: &Self::Update) -> FieldSet;

    /// Merges `update` into the state, each field by its reducer.
    ///
    /// # Errors
    ///
    /// [`ReducerError`] when a reducer refuses its field's update.
    fn try_merge(&mut self, update: Self::Update) -> Result<(), ReducerError>;

    /// Sets the fields that `update` holds, without their reducers.
    fn overwrite(&mut self, update: Self::Update);

    /// Takes `fields` out of `update`.
    fn discard(&self, update: &mut Self::Update, fields: &FieldSet);

    /// Puts `fields` back to their defaults.
    fn reset(&mut self, fields: &FieldSet);

    /// Fixes whatever is random in `update` (a missing message id), once, when it enters the graph.
    fn prepare(&self, update: &mut Self::Update) {
        let _ = update;
    }

    /// Fixes whatever is random in a whole state that a node answers with, once, when it enters the
    /// graph: a missing message id. What has one keeps it.
    fn prepare_whole(&mut self) {}

    /// Shows `see` every chat message that `update` holds, for the `messages` stream.
    fn messages(update: &Self::Update, see: &mut dyn FnMut(&Message)) {
        let _ = (update, see);
    }

    /// How updates become bytes, for threads that are stored; `None` when they cannot.
    ///
    /// The derive answers for types whose fields can be serialized. Where a saver that keeps bytes
    /// is attached to a graph, the compiler asks for it; this is for the graphs inside.
    fn codec() -> Option<StateCodec<Self>> {
        None
    }

    /// Which version of the type this is, and how what older ones have stored is read.
    fn version() -> StateVersion {
        StateVersion::default()
    }

    /// The state with `update` merged into it, as a run would do it: the update is
    /// [prepared](Self::prepare) first.
    ///
    /// # Errors
    ///
    /// [`ReducerError`] when a reducer refuses its field's update.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Chat {
    ///     #[reducer(add_messages_strict)]
    ///     messages: Vec<Message>,
    /// }
    ///
    /// let chat = Chat::default().merge(ChatUpdate::default().messages(vec![Message::user("hi")]))?;
    /// assert_eq!(chat.messages.len(), 1);
    ///
    /// let unknown = ChatUpdate::default().messages(vec![Message::remove("9")]);
    /// let refused = chat.merge(unknown).err().map(|error| error.to_string());
    /// assert_eq!(
    ///     refused.as_deref(),
    ///     Some("field `messages`: there is no message `9` to remove")
    /// );
    /// # Ok::<(), langgraph::state::ReducerError>(())
    /// ```
    fn merge(mut self, mut update: Self::Update) -> Result<Self, ReducerError> {
        self.prepare(&mut update);
        self.try_merge(update)?;
        Ok(self)
    }
}
