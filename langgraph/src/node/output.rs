//! What a node answers with.

use std::fmt;

use serde::Serialize;

use super::command::Jump;
use super::{Command, Next, NodeError};
use crate::state::State;

/// One write to the state.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
#[serde(bound(serialize = "S: Serialize, S::Update: Serialize"))]
#[non_exhaustive]
pub enum Write<S: State> {
    /// Fields to merge, each by its reducer.
    Update(S::Update),
    /// Fields to set, without their reducers.
    Overwrite(S::Update),
    /// Every field, set.
    State(Box<S>),
}

impl<S: State> Clone for Write<S> {
    fn clone(&self) -> Self {
        match self {
            Self::Update(update) => Self::Update(update.clone()),
            Self::Overwrite(update) => Self::Overwrite(update.clone()),
            Self::State(state) => Self::State(state.clone()),
        }
    }
}

impl<S: State<Update: fmt::Debug> + fmt::Debug> fmt::Debug for Write<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Update(update) => f.debug_tuple("Update").field(update).finish(),
            Self::Overwrite(update) => f.debug_tuple("Overwrite").field(update).finish(),
            Self::State(state) => f.debug_tuple("State").field(state).finish(),
        }
    }
}

impl<S: State> Write<S> {
    /// The fields that are merged or set; `None` when it is every field.
    pub fn update(&self) -> Option<&S::Update> {
        match self {
            Self::Update(update) | Self::Overwrite(update) => Some(update),
            Self::State(_) => None,
        }
    }
}

/// The writes of one answer; most nodes have at most one.
pub(crate) enum Writes<S: State> {
    None,
    One(Write<S>),
    Many(Vec<Write<S>>),
}

impl<S: State> Clone for Writes<S> {
    fn clone(&self) -> Self {
        match self {
            Self::None => Self::None,
            Self::One(write) => Self::One(write.clone()),
            Self::Many(writes) => Self::Many(writes.clone()),
        }
    }
}

impl<S: State> Writes<S> {
    pub(crate) fn as_slice(&self) -> &[Write<S>] {
        match self {
            Self::None => &[],
            Self::One(write) => std::slice::from_ref(write),
            Self::Many(writes) => writes,
        }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Write<S>] {
        match self {
            Self::None => &mut [],
            Self::One(write) => std::slice::from_mut(write),
            Self::Many(writes) => writes,
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Write<S>> {
        match self {
            Self::None => Vec::new(),
            Self::One(write) => vec![write],
            Self::Many(writes) => writes,
        }
    }

    pub(crate) fn push(&mut self, write: Write<S>) {
        *self = match std::mem::replace(self, Self::None) {
            Self::None => Self::One(write),
            Self::One(first) => Self::Many(vec![first, write]),
            Self::Many(mut writes) => {
                writes.push(write);
                Self::Many(writes)
            }
        };
    }

    pub(crate) fn extend(&mut self, more: Self) {
        for write in more.into_vec() {
            self.push(write);
        }
    }
}

impl<S: State> From<Vec<Write<S>>> for Writes<S> {
    fn from(mut writes: Vec<Write<S>>) -> Self {
        match writes.len() {
            0 => Self::None,
            1 => writes.pop().map_or(Self::None, Self::One),
            _ => Self::Many(writes),
        }
    }
}

/// What a node answers with: its writes, and where to go if it says so.
///
/// Nodes rarely name this type: [`IntoOutput`] makes it of what they return.
pub struct Output<S: State> {
    pub(crate) writes: Writes<S>,
    pub(crate) jump: Jump<S>,
}

impl<S: State> Output<S> {
    /// No write; the node's edges are followed.
    pub const fn none() -> Self {
        Self {
            writes: Writes::None,
            jump: Jump::Edges,
        }
    }

    /// Fields to merge.
    pub const fn update(update: S::Update) -> Self {
        Self {
            writes: Writes::One(Write::Update(update)),
            jump: Jump::Edges,
        }
    }

    /// A whole state: every field is set.
    pub fn state(state: S) -> Self {
        Self {
            writes: Writes::One(Write::State(Box::new(state))),
            jump: Jump::Edges,
        }
    }

    /// The writes, in order.
    pub fn writes(&self) -> &[Write<S>] {
        self.writes.as_slice()
    }
}

impl<S: State> Clone for Output<S> {
    fn clone(&self) -> Self {
        Self {
            writes: self.writes.clone(),
            jump: self.jump.clone(),
        }
    }
}

impl<S: State> fmt::Debug for Output<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("writes", &self.writes().len())
            .field("jump", &self.jump)
            .finish()
    }
}

/// What a node may return.
///
/// The state `S` (every field is set), `S::Update`, `()`, `(S, Next)`, `(S::Update, Next)`,
/// [`Next`], [`Command<S>`](Command), a list of commands; each also in a `Result` whose error
/// turns into a [`NodeError`].
///
/// A node that is generic over the state answers with `S::Update` as any other.
#[diagnostic::on_unimplemented(
    message = "a node of a graph over `{S}` cannot return this",
    label = "not an answer of a node over `{S}`",
    note = "a node returns the state's update, `(update, Next)`, `Command<{S}>`, `{S}` itself or `()`, each also in a `Result`"
)]
pub trait IntoOutput<S: State> {
    /// True when the answer can name the next node.
    const MAY_GOTO: bool = false;

    /// The answer in the runtime's form.
    ///
    /// # Errors
    ///
    /// The node's own error, when the answer is a `Result`.
    fn into_output(self) -> Result<Output<S>, NodeError>;
}

impl<S: State> IntoOutput<S> for Output<S> {
    const MAY_GOTO: bool = true;

    #[inline]
    fn into_output(self) -> Result<Output<S>, NodeError> {
        Ok(self)
    }
}

impl<S: State> IntoOutput<S> for S {
    fn into_output(self) -> Result<Output<S>, NodeError> {
        Ok(Output::state(self))
    }
}

impl<S: State> IntoOutput<S> for () {
    fn into_output(self) -> Result<Output<S>, NodeError> {
        Ok(Output::none())
    }
}

impl<S: State> IntoOutput<S> for Next {
    const MAY_GOTO: bool = true;

    fn into_output(self) -> Result<Output<S>, NodeError> {
        Ok(Output {
            writes: Writes::None,
            jump: self.into_jump(),
        })
    }
}

impl<S: State> IntoOutput<S> for Command<S> {
    const MAY_GOTO: bool = true;

    fn into_output(self) -> Result<Output<S>, NodeError> {
        Ok(self.into_parts())
    }
}

impl<S: State> IntoOutput<S> for Vec<Command<S>> {
    const MAY_GOTO: bool = true;

    fn into_output(self) -> Result<Output<S>, NodeError> {
        let mut all = Output::none();
        for command in self {
            let one = command.into_parts();
            all.writes.extend(one.writes);
            all.jump = all.jump.and(one.jump);
        }
        Ok(all)
    }
}

impl<S: State, T: IntoOutput<S>> IntoOutput<S> for (T, Next) {
    const MAY_GOTO: bool = true;

    fn into_output(self) -> Result<Output<S>, NodeError> {
        let mut output = self.0.into_output()?;
        output.jump = self.1.into_jump();
        Ok(output)
    }
}

impl<S: State, T: IntoOutput<S>, E: Into<NodeError>> IntoOutput<S> for Result<T, E> {
    const MAY_GOTO: bool = T::MAY_GOTO;

    fn into_output(self) -> Result<Output<S>, NodeError> {
        self.map_err(Into::into)?.into_output()
    }
}
