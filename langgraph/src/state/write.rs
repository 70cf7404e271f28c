//! Writes to a state.

use serde::Serialize;

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

/// The writes of one output; most nodes have at most one.
#[derive(Clone, Default)]
pub(crate) enum Writes<S: State> {
    #[default]
    None,
    One(Write<S>),
    Many(Vec<Write<S>>),
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
