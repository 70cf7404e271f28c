//! Reads outputs.
//!
//! What `serde` would derive is compiled for each type of updates. Here everything around the updates
//! is compiled once: a value stands for each update, and a function that the caller gives reads it.

use std::fmt;
use std::marker::PhantomData;

use langgraph_topology::NodeName;
use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, IgnoredAny, MapAccess};
use serde::de::{SeqAccess, VariantAccess, Visitor};

use super::{JumpWire, OutputWire, RoutesWire, TargetWire, WriteWire};
use crate::{Encoded, FormatError, Formats, ReadValue};

/// Reads an update from a deserializer of any format.
pub type ReadUpdate<'a, U> =
    dyn Fn(&mut dyn erased_serde::Deserializer<'_>) -> Result<U, erased_serde::Error> + 'a;

impl<U> OutputWire<U> {
    /// Decodes an output, whose updates `read` reads.
    ///
    /// # Errors
    ///
    /// As [`Formats::decode`], and those of `read`.
    pub fn decode(
        encoded: &Encoded,
        formats: &Formats,
        read: &ReadUpdate<'_, U>,
    ) -> Result<Self, FormatError> {
        let mut updates = Vec::new();
        let wire = output(encoded, formats, &mut |from| {
            updates.push(Some(read(from)?));
            Ok(())
        })?;
        wire.try_map(&mut |Place(place)| {
            let update = updates.get_mut(place).and_then(Option::take);
            update.ok_or_else(|| FormatError::new("an update was read twice"))
        })
    }
}

/// Where an update stands among those that were read.
struct Place(usize);

fn output(
    encoded: &Encoded,
    formats: &Formats,
    read: &mut ReadValue<'_>,
) -> Result<OutputWire<Place>, FormatError> {
    let mut wire = None;
    formats.read(encoded, &mut |from| {
        let updates = &mut Updates { read, count: 0 };
        wire = Some(Seed::new(updates).deserialize(from)?);
        Ok(())
    })?;
    wire.ok_or_else(|| FormatError::new(format!("`{}` read nothing", encoded.format)))
}

/// Reads updates, and counts them.
struct Updates<'u, 'r> {
    read: &'u mut ReadValue<'r>,
    count: usize,
}

/// A part of an output.
trait Part: Sized {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error>;
}

/// Reads a part.
struct Seed<'s, 'u, 'r, P> {
    updates: &'s mut Updates<'u, 'r>,
    part: PhantomData<P>,
}

impl<'s, 'u, 'r, P> Seed<'s, 'u, 'r, P> {
    fn new(updates: &'s mut Updates<'u, 'r>) -> Self {
        Self {
            updates,
            part: PhantomData,
        }
    }
}

impl<'de, P: Part> DeserializeSeed<'de> for Seed<'_, '_, '_, P> {
    type Value = P;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<P, D::Error> {
        P::read(from, self.updates)
    }
}

impl Part for Place {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        let mut from = <dyn erased_serde::Deserializer<'_>>::erase(from);
        (updates.read)(&mut from).map_err(de::Error::custom)?;
        updates.count += 1;
        Ok(Self(updates.count - 1))
    }
}

impl<P: Part> Part for Vec<P> {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        from.deserialize_seq(Seed::<Self>::new(updates))
    }
}

impl<'de, P: Part> Visitor<'de> for Seed<'_, '_, '_, Vec<P>> {
    type Value = Vec<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Vec<P>, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = from.next_element_seed(Seed::new(self.updates))? {
            parts.push(part);
        }
        Ok(parts)
    }
}

/// The fields of an output. Newer ones are skipped.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum OutputField {
    Writes,
    Jump,
    Routes,
    Cached,
    #[serde(other)]
    Unknown,
}

impl Part for OutputWire<Place> {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        const FIELDS: &[&str] = &["writes", "jump", "routes", "cached"];
        from.deserialize_struct("OutputWire", FIELDS, Seed::<Self>::new(updates))
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, OutputWire<Place>> {
    type Value = OutputWire<Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct OutputWire")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let mut wire = OutputWire::writes(Vec::new());
        while let Some(field) = from.next_key()? {
            match field {
                OutputField::Writes => {
                    wire.writes = from.next_value_seed(Seed::new(self.updates))?;
                }
                OutputField::Jump => wire.jump = from.next_value_seed(Seed::new(self.updates))?,
                OutputField::Routes => {
                    wire.routes = from.next_value_seed(Seed::new(self.updates))?;
                }
                OutputField::Cached => wire.cached = from.next_value()?,
                OutputField::Unknown => {
                    from.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(wire)
    }
}

impl<P: Part> Part for Option<P> {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        from.deserialize_option(Seed::<Self>::new(updates))
    }
}

impl<'de, P: Part> Visitor<'de> for Seed<'_, '_, '_, Option<P>> {
    type Value = Option<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("option")
    }

    fn visit_none<E>(self) -> Result<Option<P>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<P>, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Option<P>, D::Error> {
        P::read(from, self.updates).map(Some)
    }
}

#[derive(Deserialize)]
#[serde(variant_identifier, rename_all = "snake_case")]
enum WriteVariant {
    Update,
    Overwrite,
    State,
}

impl Part for WriteWire<Place> {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        const VARIANTS: &[&str] = &["update", "overwrite", "state"];
        from.deserialize_enum("WriteWire", VARIANTS, Seed::<Self>::new(updates))
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, WriteWire<Place>> {
    type Value = WriteWire<Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum WriteWire")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Self::Value, A::Error> {
        let (variant, value) = from.variant()?;
        let place = value.newtype_variant_seed(Seed::new(self.updates))?;
        Ok(match variant {
            WriteVariant::Update => WriteWire::Update(place),
            WriteVariant::Overwrite => WriteWire::Overwrite(place),
            WriteVariant::State => WriteWire::State(place),
        })
    }
}

#[derive(Deserialize)]
#[serde(variant_identifier, rename_all = "snake_case")]
enum JumpVariant {
    End,
    To,
    Parent,
}

impl Part for JumpWire<Place> {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        const VARIANTS: &[&str] = &["end", "to", "parent"];
        from.deserialize_enum("JumpWire", VARIANTS, Seed::<Self>::new(updates))
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, JumpWire<Place>> {
    type Value = JumpWire<Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum JumpWire")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Self::Value, A::Error> {
        /// The fields of a command for the parent graph.
        #[derive(Deserialize)]
        struct Parent {
            state: String,
            command: String,
        }

        let (variant, value) = from.variant()?;
        match variant {
            JumpVariant::End => {
                value.unit_variant()?;
                Ok(JumpWire::End)
            }
            JumpVariant::To => value.struct_variant(&["targets", "edges"], To(self.updates)),
            JumpVariant::Parent => {
                let Parent { state, command } = value.newtype_variant()?;
                Ok(JumpWire::Parent { state, command })
            }
        }
    }
}

/// Reads the fields of [`JumpWire::To`].
struct To<'s, 'u, 'r>(&'s mut Updates<'u, 'r>);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum ToField {
    Targets,
    Edges,
    #[serde(other)]
    Unknown,
}

impl<'de> Visitor<'de> for To<'_, '_, '_> {
    type Value = JumpWire<Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct variant JumpWire::To")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let (mut targets, mut edges) = (None, false);
        while let Some(field) = from.next_key()? {
            match field {
                ToField::Targets => targets = Some(from.next_value_seed(Seed::new(self.0))?),
                ToField::Edges => edges = from.next_value()?,
                ToField::Unknown => {
                    from.next_value::<IgnoredAny>()?;
                }
            }
        }
        let targets = targets.ok_or_else(|| de::Error::missing_field("targets"))?;
        Ok(JumpWire::To { targets, edges })
    }
}

#[derive(Deserialize)]
#[serde(variant_identifier, rename_all = "snake_case")]
enum RoutesVariant {
    Targets,
    Several,
}

impl Part for RoutesWire<Place> {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        const VARIANTS: &[&str] = &["targets", "several"];
        from.deserialize_enum("RoutesWire", VARIANTS, Seed::<Self>::new(updates))
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, RoutesWire<Place>> {
    type Value = RoutesWire<Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum RoutesWire")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Self::Value, A::Error> {
        let (variant, value) = from.variant()?;
        Ok(match variant {
            RoutesVariant::Targets => {
                RoutesWire::Targets(value.newtype_variant_seed(Seed::new(self.updates))?)
            }
            RoutesVariant::Several => {
                RoutesWire::Several(value.newtype_variant_seed(Seed::new(self.updates))?)
            }
        })
    }
}

#[derive(Deserialize)]
#[serde(variant_identifier, rename_all = "snake_case")]
enum TargetVariant {
    Node,
    Send,
    SendState,
}

impl Part for TargetWire<Place> {
    fn read<'de, D: Deserializer<'de>>(
        from: D,
        updates: &mut Updates<'_, '_>,
    ) -> Result<Self, D::Error> {
        const VARIANTS: &[&str] = &["node", "send", "send_state"];
        from.deserialize_enum("TargetWire", VARIANTS, Seed::<Self>::new(updates))
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_, '_, TargetWire<Place>> {
    type Value = TargetWire<Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum TargetWire")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Self::Value, A::Error> {
        /// The fields of a task of a worker.
        #[derive(Deserialize)]
        struct Send {
            node: NodeName,
            item: String,
        }

        let (variant, value) = from.variant()?;
        match variant {
            TargetVariant::Node => value.newtype_variant().map(TargetWire::Node),
            TargetVariant::Send => {
                let Send { node, item } = value.newtype_variant()?;
                Ok(TargetWire::Send { node, item })
            }
            TargetVariant::SendState => {
                value.struct_variant(&["node", "state"], SendState(self.updates))
            }
        }
    }
}

/// Reads the fields of [`TargetWire::SendState`].
struct SendState<'s, 'u, 'r>(&'s mut Updates<'u, 'r>);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum SendStateField {
    Node,
    State,
    #[serde(other)]
    Unknown,
}

impl<'de> Visitor<'de> for SendState<'_, '_, '_> {
    type Value = TargetWire<Place>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct variant TargetWire::SendState")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let (mut node, mut state) = (None, None);
        while let Some(field) = from.next_key()? {
            match field {
                SendStateField::Node => node = Some(from.next_value()?),
                SendStateField::State => state = Some(from.next_value_seed(Seed::new(self.0))?),
                SendStateField::Unknown => {
                    from.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(TargetWire::SendState {
            node: node.ok_or_else(|| de::Error::missing_field("node"))?,
            state: state.ok_or_else(|| de::Error::missing_field("state"))?,
        })
    }
}
