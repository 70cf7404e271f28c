//! Reads a value of any [`Shape`] with one visitor: each visitor has 28 methods behind `dyn`, and
//! what `serde` would derive for an output has 29 visitors.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, EnumAccess, IgnoredAny, MapAccess};
use serde::de::{SeqAccess, Unexpected, VariantAccess, Visitor};

use super::shape::{Enum, Need, Shape, Struct, Variant};
use langgraph_core::checkpoint::ReadValue;

/// A value that was read.
pub(super) enum Tree {
    Nothing,
    Flag(bool),
    Text(String),
    /// An update: its place among those that were read.
    Update(usize),
    List(Vec<Self>),
    /// The fields that were there.
    Fields(Fields),
    /// A variant, and what it holds.
    Variant(&'static str, Box<Self>),
}

pub(super) struct Fields(Vec<(&'static str, Tree)>);

impl Fields {
    /// Takes a field out. [`Tree::Nothing`] if it was not there.
    pub(super) fn take(&mut self, name: &str) -> Tree {
        match self.0.iter().position(|(known, _)| *known == name) {
            Some(at) => self.0.swap_remove(at).1,
            None => Tree::Nothing,
        }
    }
}

/// Reads updates, and counts them.
pub(super) struct UpdateReader<'u, 'r> {
    pub(super) read: &'u mut ReadValue<'r>,
    pub(super) count: usize,
}

impl UpdateReader<'_, '_> {
    fn next<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<Tree, D::Error> {
        let mut from = <dyn erased_serde::Deserializer<'_>>::erase(from);
        (self.read)(&mut from).map_err(de::Error::custom)?;
        self.count += 1;
        Ok(Tree::Update(self.count - 1))
    }
}

/// Reads a value of a shape.
pub(super) struct ShapeReader<'a, 'u, 'r> {
    pub(super) shape: &'a Shape,
    pub(super) updates: &'a mut UpdateReader<'u, 'r>,
}

impl<'u, 'r> ShapeReader<'_, 'u, 'r> {
    fn inside<'s>(&'s mut self, shape: &'s Shape) -> ShapeReader<'s, 'u, 'r> {
        ShapeReader {
            shape,
            updates: self.updates,
        }
    }
}

impl<'de> DeserializeSeed<'de> for ShapeReader<'_, '_, '_> {
    type Value = Tree;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Tree, D::Error> {
        match *self.shape {
            Shape::Update => self.updates.next(from),
            Shape::Text => from.deserialize_string(self),
            Shape::Flag => from.deserialize_bool(self),
            Shape::Option(_) => from.deserialize_option(self),
            Shape::List(_) => from.deserialize_seq(self),
            Shape::Struct(Struct { name, names, .. }) => from.deserialize_struct(name, names, self),
            Shape::Enum(Enum { name, names, .. }) => from.deserialize_enum(name, names, self),
        }
    }
}

impl<'de> Visitor<'de> for ShapeReader<'_, '_, '_> {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape {
            Shape::Update => f.write_str("an update"),
            Shape::Text => f.write_str("a string"),
            Shape::Flag => f.write_str("a boolean"),
            Shape::Option(_) => f.write_str("an option"),
            Shape::List(_) => f.write_str("a list"),
            Shape::Struct(Struct { name, .. }) => write!(f, "struct {name}"),
            Shape::Enum(Enum { name, .. }) => write!(f, "enum {name}"),
        }
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<Tree, E> {
        match self.shape {
            Shape::Flag => Ok(Tree::Flag(flag)),
            _ => Err(E::invalid_type(Unexpected::Bool(flag), &self)),
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Tree, E> {
        match self.shape {
            Shape::Text => Ok(Tree::Text(text.to_owned())),
            _ => Err(E::invalid_type(Unexpected::Str(text), &self)),
        }
    }

    fn visit_none<E: de::Error>(self) -> Result<Tree, E> {
        match self.shape {
            Shape::Option(_) => Ok(Tree::Nothing),
            _ => Err(E::invalid_type(Unexpected::Option, &self)),
        }
    }

    fn visit_unit<E: de::Error>(self) -> Result<Tree, E> {
        match self.shape {
            Shape::Option(_) => Ok(Tree::Nothing),
            _ => Err(E::invalid_type(Unexpected::Unit, &self)),
        }
    }

    fn visit_some<D: Deserializer<'de>>(mut self, from: D) -> Result<Tree, D::Error> {
        match *self.shape {
            Shape::Option(shape) => self.inside(shape).deserialize(from),
            _ => Err(de::Error::invalid_type(Unexpected::Option, &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut from: A) -> Result<Tree, A::Error> {
        let Shape::List(shape) = *self.shape else {
            return Err(de::Error::invalid_type(Unexpected::Seq, &self));
        };
        let mut list = Vec::new();
        while let Some(part) = from.next_element_seed(self.inside(shape))? {
            list.push(part);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut from: A) -> Result<Tree, A::Error> {
        let Shape::Struct(Struct { names, fields, .. }) = *self.shape else {
            return Err(de::Error::invalid_type(Unexpected::Map, &self));
        };
        let mut read = Vec::with_capacity(names.len());
        while let Some(at) = from.next_key_seed(NameSeed(names))? {
            let known = at.ok().and_then(|at| names.get(at).zip(fields.get(at)));
            match known {
                Some((name, (shape, _))) => {
                    read.push((*name, from.next_value_seed(self.inside(shape))?));
                }
                None => drop(from.next_value::<IgnoredAny>()?),
            }
        }
        for (name, (_, need)) in names.iter().zip(*fields) {
            if *need == Need::Required && !read.iter().any(|(known, _)| known == name) {
                return Err(de::Error::missing_field(name));
            }
        }
        Ok(Tree::Fields(Fields(read)))
    }

    fn visit_enum<A: EnumAccess<'de>>(mut self, from: A) -> Result<Tree, A::Error> {
        let Shape::Enum(Enum {
            names, variants, ..
        }) = *self.shape
        else {
            return Err(de::Error::invalid_type(Unexpected::Enum, &self));
        };
        let (at, value) = from.variant_seed(NameSeed(names))?;
        let at = at.map_err(|name| de::Error::unknown_variant(&name, names))?;
        let (Some(name), Some(variant)) = (names.get(at), variants.get(at)) else {
            return Err(de::Error::custom("the variant has no shape"));
        };
        let value = match variant {
            Variant::Unit => {
                value.unit_variant()?;
                Tree::Nothing
            }
            Variant::Value(shape) => value.newtype_variant_seed(self.inside(shape))?,
            Variant::Fields(fields) => {
                let shape = Shape::Struct(fields);
                value.struct_variant(fields.names, self.inside(&shape))?
            }
        };
        Ok(Tree::Variant(name, Box::new(value)))
    }
}

/// Reads which of these names it is: its place among them, or another name.
struct NameSeed(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Result<usize, String>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = Result<usize, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of `{}`", self.0.join("`, `"))
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        let at = self.0.iter().position(|known| *known == name);
        Ok(at.ok_or_else(|| name.to_owned()))
    }
}
