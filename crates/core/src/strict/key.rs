//! The keys of maps.

use std::fmt::Display;

use serde::{Serialize, ser};

use super::refusal::Refusal;

/// Returns a key as a part of a path.
pub(crate) fn name_of(key: &(impl Serialize + ?Sized)) -> String {
    let name = key.serialize(KeyText { wanted: true });
    // A key that is not text is named by its kind.
    name.unwrap_or_else(|refusal| refusal.why)
}

/// Reads a key as text; for other keys, the refusal names the kind.
#[derive(Clone, Copy)]
pub(crate) struct KeyText {
    /// True if the text is needed.
    pub(crate) wanted: bool,
}

impl KeyText {
    fn text(self, text: impl Display) -> String {
        // An empty string is not allocated.
        if self.wanted {
            text.to_string()
        } else {
            String::new()
        }
    }
}

type Never = ser::Impossible<String, Refusal>;

fn found<T>(what: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(what))
}

macro_rules! numbers {
    ($($method:ident($number:ty)),*) => {$(
        fn $method(self, number: $number) -> Result<String, Refusal> {
            found(format!("`{number}`"))
        }
    )*};
}

impl ser::Serializer for KeyText {
    type Ok = String;
    type Error = Refusal;
    type SerializeSeq = Never;
    type SerializeTuple = Never;
    type SerializeTupleStruct = Never;
    type SerializeTupleVariant = Never;
    type SerializeMap = Never;
    type SerializeStruct = Never;
    type SerializeStructVariant = Never;

    numbers!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
        serialize_f32(f32),
        serialize_f64(f64)
    );

    fn serialize_char(self, key: char) -> Result<String, Refusal> {
        Ok(self.text(key))
    }

    fn serialize_str(self, key: &str) -> Result<String, Refusal> {
        Ok(self.text(key))
    }

    fn serialize_bytes(self, _: &[u8]) -> Result<String, Refusal> {
        found("bytes")
    }

    fn serialize_none(self) -> Result<String, Refusal> {
        found("`None`")
    }

    // JSON writes the value itself, and reads it so.
    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<String, Refusal> {
        key.serialize(self)
    }

    fn serialize_unit(self) -> Result<String, Refusal> {
        found("`()`")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<String, Refusal> {
        found(format!("`{name}`"))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<String, Refusal> {
        Ok(self.text(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        key: &T,
    ) -> Result<String, Refusal> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: &T,
    ) -> Result<String, Refusal> {
        found(format!("a `{name}::{variant}`"))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Never, Refusal> {
        found("a list")
    }

    fn serialize_tuple(self, _: usize) -> Result<Never, Refusal> {
        found("a tuple")
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Never, Refusal> {
        found(format!("a `{name}`"))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Never, Refusal> {
        found(format!("a `{name}::{variant}`"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Never, Refusal> {
        found("a map")
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Never, Refusal> {
        found(format!("a `{name}`"))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Never, Refusal> {
        found(format!("a `{name}::{variant}`"))
    }

    fn collect_str<T: Display + ?Sized>(self, key: &T) -> Result<String, Refusal> {
        Ok(self.text(key))
    }
}
