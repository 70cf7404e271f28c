//! Values of any format as JSON.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess};
use serde::de::{SeqAccess, VariantAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads what `serde_json`'s value cannot: keys that are not strings, bytes, and numbers that JSON
/// does not have.
#[derive(Clone, Debug)]
pub struct AnyValue(pub Value);

impl<'de> Deserialize<'de> for AnyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor).map(Self)
    }
}

struct AnyVisitor;

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        let number = Number::from_i128(value).map(Value::Number);
        Ok(number.unwrap_or_else(|| Value::String(value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        let number = Number::from_u128(value).map(Value::Number);
        Ok(number.unwrap_or_else(|| Value::String(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(AnyValue(value)) = from.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = from.next_key_seed(KeyAsText)? {
            let AnyValue(value) = from.next_value()?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, from: A) -> Result<Value, A::Error> {
        let (name, variant) = from.variant_seed(KeyAsText)?;
        let AnyValue(value) = variant.newtype_variant()?;
        Ok(Value::Object(Map::from_iter([(name, value)])))
    }
}

/// Reads a key as a string.
struct KeyAsText;

impl<'de> DeserializeSeed<'de> for KeyAsText {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        match AnyValue::deserialize(deserializer)?.0 {
            Value::String(key) => Ok(key),
            Value::Null | Value::Array(_) | Value::Object(_) => Err(de::Error::custom(
                "a map whose keys are neither text nor numbers cannot be migrated",
            )),
            key => Ok(key.to_string()),
        }
    }
}
