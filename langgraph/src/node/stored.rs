//! The stored form of outputs.

use std::sync::Arc;

use super::command::{Jump, JumpTo, ParentCommand};
use super::output::Output;
use super::send::{Argument, Send, StoredItem};
use super::target::Target;
use crate::error::FormatError;
use crate::state::decoded::{Decoded, Updates};
use crate::state::wire::{JumpWire, LentUpdate, OutputWire, TargetWire, UpdateIndex, WriteWire};
use crate::state::{State, StateCodec, Write, Writes};
use langgraph_topology::NodeName;

impl<S: State> Write<S> {
    pub(crate) fn to_wire(&self, codec: StateCodec<S>) -> WriteWire<LentUpdate<'_>> {
        match self {
            Self::Update(update) => WriteWire::Update(codec.lend(update)),
            Self::Overwrite(update) => WriteWire::Overwrite(codec.lend(update)),
            Self::State(state) => WriteWire::State(codec.give(whole(&**state))),
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
pub(crate) fn whole<S: State>(state: &S) -> S::Update {
    state.clone().into()
}

/// Returns the state that an update of all its fields sets.
pub(crate) fn state<S: State>(update: S::Update, initial: &S) -> S {
    let mut state = initial.clone();
    state.overwrite(update);
    state
}

impl<S: State> Output<S> {
    pub(crate) fn to_wire(
        &self,
        codec: StateCodec<S>,
    ) -> Result<OutputWire<LentUpdate<'_>>, FormatError> {
        let mut writes = Vec::with_capacity(self.writes().len());
        for write in self.writes() {
            writes.push(write.to_wire(codec));
        }
        Ok(OutputWire {
            jump: self.jump.to_wire(codec)?,
            ..OutputWire::writes(writes)
        })
    }

    pub(crate) fn from_wire(
        decoded: Decoded<S>,
        initial: &S,
        rename: &dyn Fn(NodeName) -> NodeName,
    ) -> Result<Self, FormatError> {
        let Decoded { wire, mut updates } = decoded;
        let mut writes = Vec::with_capacity(wire.writes.len());
        for wire in updates.writes(wire.writes)? {
            writes.push(Write::from_wire(wire, initial));
        }
        Ok(Self {
            writes: Writes::from(writes),
            jump: Jump::from_wire(wire.jump, &mut updates, initial, rename)?,
        })
    }
}

impl<S: State> Jump<S> {
    fn to_wire(
        &self,
        codec: StateCodec<S>,
    ) -> Result<Option<JumpWire<LentUpdate<'_>>>, FormatError> {
        Ok(match self {
            Self::Edges => None,
            Self::End => Some(JumpWire::End),
            Self::To(to) => Some(JumpWire::To {
                targets: Target::all_to_wire(&to.targets, codec)?,
                edges: to.edges,
            }),
            Self::Parent(parent) => Some(JumpWire::Parent {
                state: parent.state_name().to_owned(),
                command: parent.to_text()?,
            }),
        })
    }

    fn from_wire(
        wire: Option<JumpWire<UpdateIndex>>,
        updates: &mut Updates<S>,
        initial: &S,
        rename: &dyn Fn(NodeName) -> NodeName,
    ) -> Result<Self, FormatError> {
        Ok(match wire {
            None => Self::Edges,
            Some(JumpWire::End) => Self::End,
            Some(JumpWire::To { targets, edges }) => Self::To(Box::new(JumpTo {
                targets: Target::all_from_wire(targets, updates, initial, rename)?,
                edges,
            })),
            Some(JumpWire::Parent { state, command }) => {
                Self::Parent(Box::new(ParentCommand::stored(state, command)))
            }
        })
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
        codec: StateCodec<S>,
    ) -> Result<Vec<TargetWire<LentUpdate<'_>>>, FormatError> {
        let mut wire = Vec::with_capacity(targets.len());
        for target in targets {
            wire.push(target.to_wire(codec)?);
        }
        Ok(wire)
    }

    fn to_wire(&self, codec: StateCodec<S>) -> Result<TargetWire<LentUpdate<'_>>, FormatError> {
        Ok(match self {
            Self::Node(node) => TargetWire::Node(Arc::clone(node)),
            Self::Send(Send { node, argument }) => match argument {
                Argument::Item(item) => TargetWire::Send {
                    node: Arc::clone(node),
                    item: item.to_text()?,
                },
                Argument::State(state) => TargetWire::SendState {
                    node: Arc::clone(node),
                    state: codec.give(whole(&**state)),
                },
            },
        })
    }

    pub(crate) fn all_from_wire(
        wires: Vec<TargetWire<UpdateIndex>>,
        updates: &mut Updates<S>,
        initial: &S,
        rename: &dyn Fn(NodeName) -> NodeName,
    ) -> Result<Vec<Self>, FormatError> {
        let mut targets = Vec::with_capacity(wires.len());
        for wire in wires {
            targets.push(Self::from_wire(wire, updates, initial, rename)?);
        }
        Ok(targets)
    }

    fn from_wire(
        wire: TargetWire<UpdateIndex>,
        updates: &mut Updates<S>,
        initial: &S,
        rename: &dyn Fn(NodeName) -> NodeName,
    ) -> Result<Self, FormatError> {
        Ok(match wire {
            TargetWire::Node(node) => Self::Node(rename(node)),
            TargetWire::Send { node, item } => Self::Send(Send {
                node: rename(node),
                argument: Argument::Item(Arc::new(StoredItem(item))),
            }),
            TargetWire::SendState { node, state: at } => Self::Send(Send {
                node: rename(node),
                argument: Argument::State(Arc::new(state(updates.take(at)?, initial))),
            }),
        })
    }
}
