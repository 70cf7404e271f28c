//! A deserializer of an update that has one field.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};

use super::draft::Draft;
use super::error::Refused;
use super::pass::Pass;
use super::tracer::Tracer;

/// Offers an update with one field.
#[derive(Debug)]
pub struct OneField<'a> {
    /// The name, until it has been offered.
    name: Option<&'a str>,
    draft: &'a mut Draft,
    pass: &'a Pass,
}

impl<'a> OneField<'a> {
    pub(super) fn new(name: &'a str, draft: &'a mut Draft, pass: &'a Pass) -> Self {
        let name = Some(name);
        Self { name, draft, pass }
    }
}

impl<'de> Deserializer<'de> for OneField<'_> {
    type Error = Refused;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refused> {
        visitor.visit_map(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> MapAccess<'de> for OneField<'_> {
    type Error = Refused;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Refused> {
        let Some(name) = self.name.take() else {
            return Ok(None);
        };
        let name: StrDeserializer<'_, Refused> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Refused> {
        seed.deserialize(Tracer::new(self.draft, self.pass))
    }
}
