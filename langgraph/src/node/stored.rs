//! The stored form of outputs.

use std::borrow::Cow;
use std::sync::Arc;

use super::command::{Jump, JumpTo, ParentCommand, Target};
use super::output::Output;
use super::send::{Argument, Send, StoredItem};
use crate::checkpoint::{FormatError, JumpWire, OutputWire, TargetWire, WriteWire};
use crate::state::State;
use crate::state::write::{Write, Writes};
use langgraph_topology::NodeName;

/// Updates: borrowed if possible, created for a whole state.
pub(crate) type Lent<'a, S> = Cow<'a, <S as State>::Update>;

impl<S: State> Write<S> {
    pub(crate) fn to_wire(&self) -> WriteWire<Lent<'_, S>> {
        match self {
            Self::Update(update) => WriteWire::Update(Cow::Borrowed(update)),
            Self::Overwrite(update) => WriteWire::Overwrite(Cow::Borrowed(update)),
            Self::State(state) => WriteWire::State(whole(&**state)),
        }
    }

    /// Fields that were not stored have their values of `initial`.
    pub(crate) fn from_wire(wire: WriteWire<S::Update>, initial: &S) -> Self {
        match wire {
            WriteWire::Update(update) => Self::Update(update),
            WriteWire::Overwrite(update) => Self::Overwrite(update),
            WriteWire::State(update) => Self::State(Box::new(state(update, initial))),
        }
    }
}

/// Returns a state as an update of all its fields.
pub(crate) fn whole<S: State>(state: &S) -> Lent<'_, S> {
    Cow::Owned(state.clone().into())
}

/// Returns the state that an update of all its fields sets.
pub(crate) fn state<S: State>(update: S::Update, initial: &S) -> S {
    let mut state = initial.clone();
    state.overwrite(update);
    state
}

impl<S: State> Output<S> {
    pub(crate) fn to_wire(&self) -> Result<OutputWire<Lent<'_, S>>, FormatError> {
        let writes = self.writes().iter().map(Write::to_wire);
        Ok(OutputWire {
            jump: self.jump.to_wire()?,
            ..OutputWire::writes(writes.collect())
        })
    }

    pub(crate) fn from_wire(
        writes: Vec<WriteWire<S::Update>>,
        jump: Option<JumpWire<S::Update>>,
        initial: &S,
        rename: &dyn Fn(NodeName) -> NodeName,
    ) -> Self {
        let mut read = Vec::with_capacity(writes.len());
        for wire in writes {
            read.push(Write::from_wire(wire, initial));
        }
        Self {
            writes: Writes::from(read),
            jump: Jump::from_wire(jump, initial, rename),
        }
    }
}

impl<S: State> Jump<S> {
    fn to_wire(&self) -> Result<Option<JumpWire<Lent<'_, S>>>, FormatError> {
        Ok(match self {
            Self::Edges => None,
            Self::End => Some(JumpWire::End),
            Self::To(to) => Some(JumpWire::To {
                targets: Target::all_to_wire(&to.targets)?,
                edges: to.edges,
            }),
            Self::Parent(parent) => Some(JumpWire::Parent {
                state: parent.state_name().to_owned(),
                command: parent.to_text()?,
            }),
        })
    }

    fn from_wire(
        wire: Option<JumpWire<S::Update>>,
        initial: &S,
        rename: &dyn Fn(NodeName) -> NodeName,
    ) -> Self {
        match wire {
            None => Self::Edges,
            Some(JumpWire::End) => Self::End,
            Some(JumpWire::To { targets, edges }) => {
                let targets = targets
                    .into_iter()
                    .map(|target| Target::from_wire(target, initial, rename));
                Self::To(Box::new(JumpTo {
                    targets: targets.collect(),
                    edges,
                }))
            }
            Some(JumpWire::Parent { state, command }) => {
                Self::Parent(Box::new(ParentCommand::stored(state, command)))
            }
        }
    }
}

impl<S: State> Jump<S> {
    /// Renames the nodes of its targets.
    pub(crate) fn rename(&mut self, rename: &dyn Fn(&mut NodeName)) {
        if let Self::To(to) = self {
            to.targets
                .iter_mut()
                .for_each(|target| target.rename(rename));
        }
    }
}

impl<S: State> Target<S> {
    /// Renames the node.
    pub(crate) fn rename(&mut self, rename: &dyn Fn(&mut NodeName)) {
        let (Self::Node(name) | Self::Send(Send { node: name, .. })) = self;
        rename(name);
    }

    pub(crate) fn all_to_wire(
        targets: &[Self],
    ) -> Result<Vec<TargetWire<Lent<'_, S>>>, FormatError> {
        let mut wire = Vec::with_capacity(targets.len());
        for target in targets {
            wire.push(target.to_wire()?);
        }
        Ok(wire)
    }

    fn to_wire(&self) -> Result<TargetWire<Lent<'_, S>>, FormatError> {
        Ok(match self {
            Self::Node(node) => TargetWire::Node(Arc::clone(node)),
            Self::Send(Send { node, argument }) => match argument {
                Argument::Item(item) => TargetWire::Send {
                    node: Arc::clone(node),
                    item: item.to_text()?,
                },
                Argument::State(state) => TargetWire::SendState {
                    node: Arc::clone(node),
                    state: whole(&**state),
                },
            },
        })
    }

    pub(crate) fn from_wire(
        wire: TargetWire<S::Update>,
        initial: &S,
        rename: &dyn Fn(NodeName) -> NodeName,
    ) -> Self {
        match wire {
            TargetWire::Node(node) => Self::Node(rename(node)),
            TargetWire::Send { node, item } => Self::Send(Send {
                node: rename(node),
                argument: Argument::Item(Arc::new(StoredItem(item))),
            }),
            TargetWire::SendState {
                node,
                state: update,
            } => Self::Send(Send {
                node: rename(node),
                argument: Argument::State(Arc::new(state(update, initial))),
            }),
        }
    }
}
