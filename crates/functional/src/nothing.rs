//! Values that are stored as nothing: `None`, `()`, the `null` of JSON.

use std::fmt::Display;

use serde::ser::{Error, Impossible, Serialize, Serializer};

/// Returns the value, or `None` if it would be stored as nothing and so could not be told from `None`.
pub fn something<T: Serialize>(value: T) -> Option<T> {
    (!is_nothing(&value)).then_some(value)
}

/// Returns true if the value is stored as nothing.
pub(crate) fn is_nothing<T: Serialize>(value: &T) -> bool {
    value.serialize(IsNothing).is_ok()
}

/// Succeeds for a value that is stored as nothing.
struct IsNothing;

/// A value is something.
#[derive(Debug, thiserror::Error)]
#[error("the value is not nothing")]
struct Something;

impl Error for Something {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

macro_rules! something {
    ($($method:ident($($argument:ty),*) $(-> $compound:ident)?;)*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<something!(@ $($compound)?), Something> {
            Err(Something)
        }
    )*};
    (@) => { () };
    (@ $compound:ident) => { Self::$compound };
}

impl Serializer for IsNothing {
    type Ok = ();
    type Error = Something;
    type SerializeSeq = Impossible<(), Something>;
    type SerializeTuple = Impossible<(), Something>;
    type SerializeTupleStruct = Impossible<(), Something>;
    type SerializeTupleVariant = Impossible<(), Something>;
    type SerializeMap = Impossible<(), Something>;
    type SerializeStruct = Impossible<(), Something>;
    type SerializeStructVariant = Impossible<(), Something>;

    something! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_unit_variant(&'static str, u32, &'static str);
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_map(Option<usize>) -> SerializeMap;
        serialize_struct(&'static str, usize) -> SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }

    fn serialize_none(self) -> Result<(), Something> {
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), Something> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Something> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Something> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Something> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Something> {
        Err(Something)
    }
}
