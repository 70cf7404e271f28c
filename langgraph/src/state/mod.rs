//! States, and how updates change them.
//!
//! A state is a plain struct with `#[derive(State)]`. Nodes never change it: they return an
//! *update*, a struct with one `Option` per field, or a list of what is written if there are
//! [more than 32 fields](macro@State#many-fields). The runtime merges the updates of a superstep in
//! a fixed order, each field by its [`Reducer`].

use crate::error::ReducerError;
use crate::message::Message;
use crate::node::IntoOutput;

pub(crate) mod codec;
pub(crate) mod decoded;
mod has_messages;
mod name;
pub(crate) mod plain;
mod stored_field;
mod tracked_state;
pub(crate) mod wire;
mod write;
mod written_fields;

#[doc(inline)]
pub use langgraph_core::state::{
    Add, AddMessages, AddMessagesStrict, And, Append, Field, FieldSet, FieldWrite, KeepFirst, Max,
    MergeMap, Min, Or, Reducer, ReducerFn, Replace, Union, add_messages_strict,
};
#[doc(inline)]
pub use langgraph_macros::State;

pub use codec::{Migrate, StateCodec, StateVersion};
pub use has_messages::HasMessages;
pub use name::short_name;
pub use plain::{Plain, PlainUpdate};
#[doc(hidden)]
pub use stored_field::StoredField;
pub use tracked_state::TrackedState;
pub use write::{Write, Writes};
pub(crate) use written_fields::WrittenFields;

/// The state of a graph.
///
/// Derive it on a struct with named fields; the derive generates the update type and the methods
/// below. Implement it by hand for a state whose fields are only known at run time: every method
/// takes the value, so a schema can live inside it.
///
/// # Examples
///
/// A JSON object whose keys are fields:
///
/// ```
/// use langgraph::node::{IntoOutput, Output};
/// use langgraph::error::{NodeError, ReducerError};
/// use langgraph::state::{Field, FieldSet, State};
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
    /// The update type of nodes: the fields that they change. It is never the state's own type.
    type Update: Clone + Default + From<Self> + IntoOutput<Self> + Send + Sync + 'static;

    /// Returns the fields. Their order stays the same during a run.
    fn fields(&self) -> &[Field];

    /// Returns the fields that `update` writes.
    fn written(&self, update: &Self::Update) -> FieldSet;

    /// Merges `update` into the state, each field by its reducer.
    ///
    /// # Errors
    ///
    /// [`ReducerError`] if a reducer refuses its field's update.
    fn try_merge(&mut self, update: Self::Update) -> Result<(), ReducerError>;

    /// Sets the fields of `update`, without their reducers.
    fn overwrite(&mut self, update: Self::Update);

    /// Removes `fields` from `update`.
    fn discard(&self, update: &mut Self::Update, fields: &FieldSet);

    /// Resets `fields` to their defaults.
    fn reset(&mut self, fields: &FieldSet);

    /// Fixes random values of `update`, such as missing message ids, once, when it enters the
    /// graph.
    fn prepare(&self, update: &mut Self::Update) {
        let _ = update;
    }

    /// Fixes random values of a whole state that a node returns, such as missing message ids, once,
    /// when it enters the graph. Existing ids stay.
    fn prepare_whole(&mut self) {}

    /// Removes from `update` what each merge of it has to make anew, before a [cache](crate::policy::CachePolicy) keeps
    /// it: the generated ids of messages that the state does not have.
    ///
    /// An id that a node has chosen stays, and so does that of a message of the state, which the update replaces.
    fn make_reusable(&self, update: &mut Self::Update) {
        let _ = update;
    }

    /// Passes every chat message of `update` to `see`, for the `messages` stream.
    fn messages(update: &Self::Update, see: &mut dyn FnMut(&Message)) {
        let _ = (update, see);
    }

    /// The update that closes what the state leaves open, when a new input dismisses a question, or begins anew behind
    /// a run that has stopped; see [`OnOpenInterrupt::Dismiss`](crate::thread::OnOpenInterrupt::Dismiss).
    ///
    /// The derive answers for a state with messages: each tool call without a result gets one that
    /// says that it was not answered.
    fn dismiss(&self) -> Option<Self::Update> {
        None
    }

    /// Returns the codec of updates for stored threads; `None` if they cannot be stored.
    ///
    /// The derive returns one if all fields can be serialized. A saver of bytes requires it at
    /// compile time; for subgraphs it is checked at run time.
    fn codec() -> Option<StateCodec<Self>> {
        None
    }

    /// Returns the name of the type, by which a thread knows it again; see
    /// [`Owner`](crate::checkpoint::Owner). By default, the type's name without its modules.
    fn name() -> String {
        short_name::<Self>()
    }

    /// Returns the names that the type had before.
    fn former_names() -> &'static [&'static str] {
        &[]
    }

    /// Returns the version of the type, and how to read values of older versions.
    fn version() -> StateVersion {
        StateVersion::default()
    }

    /// Returns the state with `update` merged into it, as in a run: it [prepares](Self::prepare) the
    /// update first.
    ///
    /// # Errors
    ///
    /// [`ReducerError`] if a reducer refuses its field's update.
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
    /// # Ok::<(), langgraph::error::ReducerError>(())
    /// ```
    fn merge(mut self, mut update: Self::Update) -> Result<Self, ReducerError> {
        self.prepare(&mut update);
        self.try_merge(update)?;
        Ok(self)
    }
}
