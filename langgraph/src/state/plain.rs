//! States of a single value.

use std::ops::{Deref, DerefMut};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Field, FieldSet, State, StateCodec};
use crate::error::ReducerError;

/// A state of one value, which the last write replaces.
///
/// A type without a default starts from a value:
/// [`StateGraph::with_initial`](crate::StateGraph::with_initial).
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<Plain<(u32, u32)>>::new();
/// graph.add_node("swap", |state: &Plain<(u32, u32)>| Plain((state.0.1, state.0.0)));
/// graph.add_sequence(&["swap"]);
///
/// let state = graph.compile()?.invoke(Plain((1, 2))).await?;
/// assert_eq!(state.0, (2, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Plain<T>(pub T);

impl<T> Deref for Plain<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Plain<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// The update of a single-value state: the new value, or nothing.
///
/// It serializes as a list of at most one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlainUpdate<T>(pub Option<T>);

// As an option, `Some(None)` would come back as `None`.
impl<T: Serialize> Serialize for PlainUpdate<T> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for PlainUpdate<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut values = Vec::<T>::deserialize(deserializer)?;
        let value = values.pop();
        if values.is_empty() {
            Ok(Self(value))
        } else {
            let found = values.len() + 1;
            Err(D::Error::invalid_length(found, &"at most one value"))
        }
    }
}

impl<T> Default for PlainUpdate<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> From<Plain<T>> for PlainUpdate<T> {
    fn from(state: Plain<T>) -> Self {
        Self(Some(state.0))
    }
}

const VALUE: &[Field] = &[Field::plain("value")];

fn only(present: bool) -> FieldSet {
    FieldSet::first(usize::from(present))
}

/// The methods of a state that is one value, at a place in `self`.
macro_rules! one_value {
    ($value:ty, $self:ident => $place:expr) => {
        type Update = PlainUpdate<$value>;

        fn fields(&self) -> &[Field] {
            VALUE
        }

        fn written(&self, update: &PlainUpdate<$value>) -> FieldSet {
            only(update.0.is_some())
        }

        fn try_merge(&mut self, update: PlainUpdate<$value>) -> Result<(), ReducerError> {
            self.overwrite(update);
            Ok(())
        }

        fn overwrite(&mut $self, update: PlainUpdate<$value>) {
            if let Some(value) = update.0 {
                $place = value;
            }
        }

        fn discard(&self, update: &mut PlainUpdate<$value>, fields: &FieldSet) {
            if fields.contains(0) {
                update.0 = None;
            }
        }

        // Only fields that are ephemeral or untracked are put back to their defaults.
        fn reset(&mut self, _: &FieldSet) {}
    };
}

impl<T: Clone + Send + Sync + 'static> State for Plain<T> {
    one_value!(T, self => self.0);
}

macro_rules! whole {
    ($($ty:ty)*) => {$(
        impl State for $ty {
            one_value!($ty, self => *self);

            // Compiled where it is used: a program needs one or two of these types.
            #[inline]
            fn codec() -> Option<StateCodec<Self>> {
                Some(StateCodec::small())
            }

            fn name() -> String {
                stringify!($ty).to_owned()
            }
        }

        impl From<$ty> for PlainUpdate<$ty> {
            fn from(value: $ty) -> Self {
                Self(Some(value))
            }
        }
    )*};
}

/// Calls a macro with the types that are states themselves.
macro_rules! with_single_values {
    ($call:ident) => {
        $call!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char String serde_json::Value);
    };
}

pub(crate) use with_single_values;

with_single_values!(whole);
