//! Writes to a state.

use std::fmt;
use std::ops::Deref;

use serde::{Serialize, Serializer};

use super::State;

/// One write to the state.
#[derive(Clone, Debug, Serialize)]
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

impl<S: State> Write<S> {
    /// Returns the update that is merged or set; `None` for a whole state.
    pub fn update(&self) -> Option<&S::Update> {
        match self {
            Self::Update(update) | Self::Overwrite(update) => Some(update),
            Self::State(_) => None,
        }
    }
}

/// The writes of a task in order: a slice of [`Write`]s, of which most tasks have at most one.
///
/// # Examples
///
/// ```
/// use langgraph::state::Write;
/// use langgraph::prelude::*;
/// use langgraph::stream::EventKind;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<i64>::new();
/// graph.add_node("double", |n: &i64| n * 2).add_sequence(&["double"]);
///
/// let mut events = graph.compile()?.run(21).stream(StreamMode::Updates);
/// let Some(event) = events.next().await else { return Ok(()) };
/// let EventKind::Update { update, .. } = event?.kind else { return Ok(()) };
/// assert!(matches!(&update[..], [Write::State(state)] if **state == 42));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Writes<S: State> {
    /// None.
    #[default]
    None,
    /// A single one.
    One(Write<S>),
    /// Several.
    Many(Vec<Write<S>>),
}

impl<S: State> Deref for Writes<S> {
    type Target = [Write<S>];

    fn deref(&self) -> &[Write<S>] {
        match self {
            Self::None => &[],
            Self::One(write) => std::slice::from_ref(write),
            Self::Many(writes) => writes,
        }
    }
}

impl<S: State + Serialize> Serialize for Writes<S>
where
    S::Update: Serialize,
{
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        (**self).serialize(serializer)
    }
}

impl<S: State> fmt::Debug for Writes<S>
where
    Write<S>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&**self).finish()
    }
}

impl<S: State> Writes<S> {
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
