//! A deserializer that offers a type the values that it asks for, and notes what they are.

use std::rc::Rc;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};

use super::draft::{Draft, FieldDraft, Held, VariantDraft, note_alias};
use super::error::Refused;
use super::pass::Pass;

/// Texts, of which a type that reads one takes one.
const SAMPLES: [&str; 8] = [
    "",
    "1",
    "1970-01-01T00:00:00Z",
    "1970-01-01",
    "00:00:00",
    "00000000-0000-4000-8000-000000000000",
    "127.0.0.1",
    "http://localhost/",
];

/// How deep a type may be.
const DEEPEST: usize = 24;

type Result<T> = std::result::Result<T, Refused>;

/// Reads a part of a type.
pub(super) struct Tracer<'a> {
    at: &'a mut Draft,
    pass: &'a Pass,
    depth: usize,
}

const REFUSED: Refused = Refused { duplicate: None };

impl<'a> Tracer<'a> {
    pub(super) fn new(at: &'a mut Draft, pass: &'a Pass) -> Self {
        Self { at, pass, depth: 0 }
    }

    /// Returns the reader of a part.
    fn part<'b>(pass: &'b Pass, depth: usize, at: &'b mut Draft) -> Result<Tracer<'b>> {
        if depth >= DEEPEST {
            return Err(REFUSED);
        }
        let depth = depth + 1;
        Ok(Tracer { at, pass, depth })
    }

    fn plain(self, name: &'static str) {
        *self.at = Draft::Plain(name);
    }
}

/// Implements the reading of types without parts.
macro_rules! plain {
    ($($method:ident $visit:ident($($value:expr)?) $name:literal;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.plain($name);
            visitor.$visit($($value)?)
        })*
    };
}

impl<'de> Deserializer<'de> for Tracer<'_> {
    type Error = Refused;

    plain! {
        deserialize_any visit_unit() "any";
        deserialize_bool visit_bool(true) "bool";
        deserialize_i8 visit_i8(1) "i8";
        deserialize_i16 visit_i16(1) "i16";
        deserialize_i32 visit_i32(1) "i32";
        deserialize_i64 visit_i64(1) "i64";
        deserialize_i128 visit_i128(1) "i128";
        deserialize_u8 visit_u8(1) "u8";
        deserialize_u16 visit_u16(1) "u16";
        deserialize_u32 visit_u32(1) "u32";
        deserialize_u64 visit_u64(1) "u64";
        deserialize_u128 visit_u128(1) "u128";
        deserialize_f32 visit_f32(1.0) "f32";
        deserialize_f64 visit_f64(1.0) "f64";
        deserialize_char visit_char('a') "char";
        deserialize_bytes visit_bytes(b"") "bytes";
        deserialize_byte_buf visit_byte_buf(Vec::new()) "bytes";
        deserialize_unit visit_unit() "()";
        deserialize_identifier visit_unit() "any";
        deserialize_ignored_any visit_unit() "any";
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if !matches!(self.at, Draft::Text(_)) {
            *self.at = Draft::Text(0);
        }
        let Draft::Text(sample) = self.at else {
            return Err(REFUSED);
        };
        let text = SAMPLES.get(*sample).ok_or(REFUSED)?;
        let value = visitor.visit_str(text);
        if value.is_err() {
            *sample += 1;
            self.pass.again.set(true);
        }
        value
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if !matches!(self.at, Draft::Option(_)) {
            *self.at = Draft::Option(Box::default());
        }
        let Draft::Option(inner) = self.at else {
            return Err(REFUSED);
        };
        visitor.visit_some(Tracer::part(self.pass, self.depth, inner)?)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        let part = Tracer::part(self.pass, self.depth, self.at)?;
        visitor.visit_newtype_struct(part)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if !matches!(self.at, Draft::List(_)) {
            *self.at = Draft::List(Box::default());
        }
        let Draft::List(inner) = self.at else {
            return Err(REFUSED);
        };
        visitor.visit_seq(Parts {
            rest: std::slice::from_mut(&mut **inner),
            pass: self.pass,
            depth: self.depth,
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        if !matches!(self.at, Draft::Tuple(_)) {
            let parts = std::iter::repeat_with(Draft::default);
            *self.at = Draft::Tuple(parts.take(len).collect());
        }
        let Draft::Tuple(parts) = self.at else {
            return Err(REFUSED);
        };
        visitor.visit_seq(Parts {
            rest: parts,
            pass: self.pass,
            depth: self.depth,
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if !matches!(self.at, Draft::Map(_)) {
            *self.at = Draft::Map(Box::default());
        }
        let Draft::Map(pair) = self.at else {
            return Err(REFUSED);
        };
        visitor.visit_map(Entry {
            key: Some(&mut pair.0),
            value: Some(&mut pair.1),
            pass: self.pass,
            depth: self.depth,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if !matches!(self.at, Draft::Struct(_)) {
            let fields = names.iter().map(|name| FieldDraft::new(name));
            *self.at = Draft::Struct(fields.collect());
        }
        let Draft::Struct(fields) = self.at else {
            return Err(REFUSED);
        };
        let mut offered = None;
        let value = visitor.visit_map(Fields {
            rest: fields.iter_mut().enumerate(),
            at: None,
            offered: &mut offered,
            pass: self.pass,
            depth: self.depth,
        });
        if let Err(Refused {
            duplicate: Some(name),
        }) = value
        {
            note_alias(fields, offered, name);
            self.pass.again.set(true);
            return Err(REFUSED);
        }
        value
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if !matches!(self.at, Draft::Enum(_)) {
            let variants = names.iter().map(|name| VariantDraft {
                name,
                content: Held::Unseen,
            });
            *self.at = Draft::Enum(variants.collect());
        }
        let Draft::Enum(variants) = self.at else {
            return Err(REFUSED);
        };
        let wanted = variants.iter().position(|variant| match &variant.content {
            Held::Unseen => true,
            Held::Nothing => false,
            Held::Value(draft) if self.pass.may_probe => draft.has_unprobed(),
            Held::Value(draft) => draft.has_unseen(),
        });
        let variant = variants.get_mut(wanted.unwrap_or_default());
        visitor.visit_enum(OneVariant {
            variant: variant.ok_or(REFUSED)?,
            pass: self.pass,
            depth: self.depth,
        })
    }
}

/// Parts that follow each other.
struct Parts<'a> {
    rest: &'a mut [Draft],
    pass: &'a Pass,
    depth: usize,
}

impl<'de> SeqAccess<'de> for Parts<'_> {
    type Error = Refused;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let rest = std::mem::take(&mut self.rest);
        let Some((first, rest)) = rest.split_first_mut() else {
            return Ok(None);
        };
        self.rest = rest;
        let part = Tracer::part(self.pass, self.depth, first)?;
        seed.deserialize(part).map(Some)
    }
}

/// The only entry of a map.
struct Entry<'a> {
    key: Option<&'a mut Draft>,
    value: Option<&'a mut Draft>,
    pass: &'a Pass,
    depth: usize,
}

impl<'de> MapAccess<'de> for Entry<'_> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(key) = self.key.take() else {
            return Ok(None);
        };
        let part = Tracer::part(self.pass, self.depth, key)?;
        seed.deserialize(part).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let value = self.value.take().ok_or(REFUSED)?;
        seed.deserialize(Tracer::part(self.pass, self.depth, value)?)
    }
}

/// The fields of a struct.
struct Fields<'a> {
    rest: std::iter::Enumerate<std::slice::IterMut<'a, FieldDraft>>,
    /// The field whose value is read next.
    at: Option<&'a mut FieldDraft>,
    /// The index of the field that was offered last.
    offered: &'a mut Option<usize>,
    pass: &'a Pass,
    depth: usize,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        for (index, field) in self.rest.by_ref() {
            if field.alias_of.is_some() {
                continue;
            }
            let mut probe = self.pass.probe.borrow_mut();
            if self.pass.may_probe && probe.is_none() && field.is_unprobed() {
                // What a field that is left out holds is probed with it there.
                *probe = Some(Rc::clone(&field.presence));
                continue;
            }
            drop(probe);
            *self.offered = Some(index);
            let name: StrDeserializer<'_, Refused> = field.name.into_deserializer();
            self.at = Some(field);
            return seed.deserialize(name).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let field = self.at.take().ok_or(REFUSED)?;
        let part = Tracer::part(self.pass, self.depth, &mut field.draft)?;
        seed.deserialize(part)
    }
}

/// A variant of an enum.
struct OneVariant<'a> {
    variant: &'a mut VariantDraft,
    pass: &'a Pass,
    depth: usize,
}

impl<'a> OneVariant<'a> {
    /// Returns the reader of what the variant holds.
    fn content(self) -> Result<Tracer<'a>> {
        if !matches!(self.variant.content, Held::Value(_)) {
            self.variant.content = Held::Value(Draft::Unseen);
        }
        match &mut self.variant.content {
            Held::Value(draft) => Tracer::part(self.pass, self.depth, draft),
            _ => Err(REFUSED),
        }
    }
}

impl<'de> EnumAccess<'de> for OneVariant<'_> {
    type Error = Refused;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self)> {
        let name: StrDeserializer<'_, Refused> = self.variant.name.into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for OneVariant<'_> {
    type Error = Refused;

    fn unit_variant(self) -> Result<()> {
        self.variant.content = Held::Nothing;
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value> {
        self.content()?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.content()?.deserialize_struct("", names, visitor)
    }
}
