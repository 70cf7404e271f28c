//! Reads outputs.
//!
//! What `serde` would derive is compiled for each type of updates. Here everything around the updates
//! is compiled once: it holds their places, and a function that the caller gives reads them.

use langgraph_topology::NodeName;
use serde::de::DeserializeSeed;

use super::shape;
use super::tree::{ShapeReader, Tree, UpdateReader};
use super::{JumpWire, OutputWire, RoutesWire, TargetWire, WriteWire};
use langgraph_core::checkpoint::{Encoded, Formats, ReadValue};
use langgraph_core::error::FormatError;

/// The place of an update among those that were read, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UpdateIndex(pub usize);

impl OutputWire<UpdateIndex> {
    /// Decodes an output. `read` reads its updates, one after the other.
    ///
    /// # Errors
    ///
    /// As [`Formats::decode`], and those of `read`.
    pub(crate) fn decode(
        encoded: &Encoded,
        formats: &Formats,
        read: &mut ReadValue<'_>,
    ) -> Result<Self, FormatError> {
        let mut tree = Tree::Nothing;
        formats.read(encoded, &mut |from| {
            let reader = ShapeReader {
                shape: &shape::OUTPUT,
                updates: &mut UpdateReader { read, count: 0 },
            };
            tree = reader.deserialize(from)?;
            Ok(())
        })?;
        let Tree::Fields(mut fields) = tree else {
            let nothing = format!("`{}` read nothing", encoded.format);
            return Err(FormatError::new(nothing));
        };
        Ok(Self {
            writes: list(fields.take("writes"), write)?,
            jump: match fields.take("jump") {
                Tree::Nothing => None,
                tree => Some(jump(tree)?),
            },
            routes: list(fields.take("routes"), routes)?,
            cached: flag(&fields.take("cached")),
            only_written: flag(&fields.take("only_written")),
        })
    }
}

fn write(tree: Tree) -> Result<WriteWire<UpdateIndex>, FormatError> {
    let (variant, value) = variant(tree)?;
    let update = update(&value)?;
    Ok(match variant {
        "update" => WriteWire::Update(update),
        "overwrite" => WriteWire::Overwrite(update),
        _ => WriteWire::State(update),
    })
}

fn jump(tree: Tree) -> Result<JumpWire<UpdateIndex>, FormatError> {
    Ok(match variant(tree)? {
        ("to", Tree::Fields(mut fields)) => JumpWire::To {
            targets: list(fields.take("targets"), target)?,
            edges: flag(&fields.take("edges")),
        },
        ("parent", Tree::Fields(mut fields)) => JumpWire::Parent {
            state: text(fields.take("state"))?,
            command: text(fields.take("command"))?,
        },
        ("end", _) => JumpWire::End,
        _ => return Err(FormatError::new("expected a jump")),
    })
}

fn routes(tree: Tree) -> Result<RoutesWire<UpdateIndex>, FormatError> {
    Ok(match variant(tree)? {
        ("targets", targets) => RoutesWire::Targets(list(targets, target)?),
        (_, several) => RoutesWire::Several(list(several, routes)?),
    })
}

fn target(tree: Tree) -> Result<TargetWire<UpdateIndex>, FormatError> {
    let name = |tree| Ok::<_, FormatError>(NodeName::from(text(tree)?));
    Ok(match variant(tree)? {
        ("send", Tree::Fields(mut fields)) => TargetWire::Send {
            node: name(fields.take("node"))?,
            item: text(fields.take("item"))?,
        },
        ("send_state", Tree::Fields(mut fields)) => TargetWire::SendState {
            node: name(fields.take("node"))?,
            state: update(&fields.take("state"))?,
        },
        (_, node) => TargetWire::Node(name(node)?),
    })
}

/// The parts of a list. None if it was not there.
fn list<T>(tree: Tree, read: fn(Tree) -> Result<T, FormatError>) -> Result<Vec<T>, FormatError> {
    let parts = match tree {
        Tree::List(parts) => parts,
        _ => Vec::new(),
    };
    let mut list = Vec::with_capacity(parts.len());
    for part in parts {
        list.push(read(part)?);
    }
    Ok(list)
}

fn flag(tree: &Tree) -> bool {
    matches!(tree, Tree::Flag(true))
}

fn variant(tree: Tree) -> Result<(&'static str, Tree), FormatError> {
    match tree {
        Tree::Variant(name, value) => Ok((name, *value)),
        _ => Err(FormatError::new("expected a variant")),
    }
}

fn text(tree: Tree) -> Result<String, FormatError> {
    match tree {
        Tree::Text(text) => Ok(text),
        _ => Err(FormatError::new("expected a string")),
    }
}

fn update(tree: &Tree) -> Result<UpdateIndex, FormatError> {
    match tree {
        Tree::Update(place) => Ok(UpdateIndex(*place)),
        _ => Err(FormatError::new("expected an update")),
    }
}
