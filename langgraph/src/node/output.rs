//! Outputs of nodes.

use super::command::Jump;
use super::{Command, Next};
use crate::error::NodeError;
use crate::state::plain::with_single_values;
use crate::state::{Plain, PlainUpdate, State, Write, Writes};

/// The output of a node: its writes, and its targets if it names some.
///
/// Nodes rarely use this type: [`IntoOutput`] creates it from their return values.
#[derive(Clone)]
pub struct Output<S: State> {
    pub(crate) writes: Writes<S>,
    pub(crate) jump: Jump<S>,
}

impl<S: State> Output<S> {
    /// Takes the output, and leaves one without writes.
    pub(crate) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::none())
    }

    /// Creates an output without writes, which follows the node's edges.
    pub const fn none() -> Self {
        Self {
            writes: Writes::None,
            jump: Jump::Edges,
        }
    }

    /// Creates an output that merges fields.
    pub const fn update(update: S::Update) -> Self {
        Self::writing(Writes::One(Write::Update(update)))
    }

    pub(crate) const fn writing(writes: Writes<S>) -> Self {
        Self {
            writes,
            jump: Jump::Edges,
        }
    }

    /// Creates an output that sets every field.
    pub fn state(state: S) -> Self {
        Self {
            writes: Writes::One(Write::State(Box::new(state))),
            jump: Jump::Edges,
        }
    }

    /// Puts an input that was accepted earlier before this one.
    pub(crate) fn after(self, mut earlier: Self) -> Self {
        earlier.writes.extend(self.writes);
        earlier.jump = match (earlier.jump, self.jump) {
            // Each goes its own way.
            (Jump::Edges, Jump::To(mut to)) | (Jump::To(mut to), Jump::Edges) => {
                to.edges = true;
                Jump::To(to)
            }
            (first, second) => first.and(second),
        };
        earlier
    }

    /// Returns the writes in order.
    pub fn writes(&self) -> &[Write<S>] {
        &self.writes
    }
}

impl_debug!([S: State] Output<S>, |output| writes = output.writes().len(), jump = output.jump);

/// A type that a node may return.
///
/// The state `S` (every field is set), `S::Update`, `()`, `(S, Next)`, `(S::Update, Next)`,
/// [`Next`], [`Command<S>`](Command), or a list of commands. Each may be in a `Result` whose error
/// converts into a [`NodeError`].
///
/// A node that is generic over the state may return `S::Update`.
#[diagnostic::on_unimplemented(
    message = "a node of a graph over `{S}` cannot return this",
    label = "not an answer of a node over `{S}`",
    note = "a node returns the state's update, `(update, Next)`, `Command<{S}>`, `{S}` itself or `()`, each also in a `Result`"
)]
pub trait IntoOutput<S> {
    /// True if the output can name the next node.
    const MAY_GOTO: bool = false;

    /// Converts the value to the runtime's form.
    ///
    /// # Errors
    ///
    /// The node's own error, if the value is an `Err`.
    fn into_output(self) -> Result<Output<S>, NodeError>
    where
        S: State;
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

impl<T: Clone + Send + Sync + 'static> IntoOutput<Plain<T>> for PlainUpdate<T> {
    fn into_output(self) -> Result<Output<Plain<T>>, NodeError> {
        Ok(Output::update(self))
    }
}

macro_rules! single_values {
    ($($ty:ty)*) => {$(
        impl IntoOutput<$ty> for PlainUpdate<$ty> {
            fn into_output(self) -> Result<Output<$ty>, NodeError> {
                Ok(Output::update(self))
            }
        }
    )*};
}

with_single_values!(single_values);

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

impl<S, T: IntoOutput<S>> IntoOutput<S> for (T, Next) {
    const MAY_GOTO: bool = true;

    fn into_output(self) -> Result<Output<S>, NodeError>
    where
        S: State,
    {
        let mut output = self.0.into_output()?;
        output.jump = self.1.into_jump();
        Ok(output)
    }
}

impl<S, T: IntoOutput<S>, E: Into<NodeError>> IntoOutput<S> for Result<T, E> {
    const MAY_GOTO: bool = T::MAY_GOTO;

    fn into_output(self) -> Result<Output<S>, NodeError>
    where
        S: State,
    {
        self.map_err(Into::into)?.into_output()
    }
}

/// The targets of a node that names some.
#[derive(Debug)]
pub enum Targets {}

/// A return type that names targets, as a bound: [`IntoOutput::MAY_GOTO`] is true for it.
pub trait NamesTargets {
    /// [`Targets`]. As a projection, it stays unknown for a type that does not exist, which rustc reports by
    /// itself.
    type Found;
}

macro_rules! names_targets {
    ($([$($generic:tt)*] $output:ty)*) => {$(
        impl<$($generic)*> NamesTargets for $output {
            type Found = Targets;
        }
    )*};
}

names_targets! {
    [S: State] Output<S>
    [] Next
    [S: State] Command<S>
    [S: State] Vec<Command<S>>
    [T] (T, Next)
}

impl<T: NamesTargets, E> NamesTargets for Result<T, E> {
    type Found = T::Found;
}
