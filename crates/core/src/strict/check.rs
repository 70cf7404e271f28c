//! A serializer that writes nothing and refuses values that a format would change.

use std::fmt::Display;

use serde::{Serialize, ser};

use super::key::{KeyText, name_of};
use super::limits::Limits;
use super::refusal::{Checked, Refusal, Shape};

impl Limits {
    /// Refuses a value that the format would not restore.
    ///
    /// # Errors
    ///
    /// The reason, and the place in the value: `messages[3].score`.
    pub fn check<T: Serialize + ?Sized>(&self, value: &T) -> Result<(), Refusal> {
        let check = Check {
            limits: self,
            depth: self.depth,
        };
        value.serialize(check).map(drop)
    }
}

#[derive(Clone, Copy)]
struct Check<'a> {
    limits: &'a Limits,
    /// How many more values may be nested.
    depth: usize,
}

impl<'a> Check<'a> {
    /// Returns the check of nested values.
    fn deeper(self) -> Result<Self, Refusal> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth, ..self }),
            None => Err(Refusal::new(format!(
                "more than {} values are inside each other, which {} does not read; store it flatter",
                self.limits.depth, self.limits.format
            ))),
        }
    }

    fn container(self) -> Result<Container<'a>, Refusal> {
        Ok(Container {
            check: self.deeper()?,
            index: 0,
            key: None,
            variant: None,
        })
    }

    /// Checks a variant with several values: they are one nested value.
    fn variant(self, name: &'static str) -> Result<Container<'a>, Refusal> {
        let container = self.deeper()?.container()?;
        Ok(Container {
            variant: Some(name),
            ..container
        })
    }

    /// Returns the advice to use another format, if there is one.
    fn otherwise(self) -> &'static str {
        if self.limits.fixed {
            ""
        } else {
            ", or use a format that holds it"
        }
    }

    fn number(self, finite: bool, number: impl Display) -> Checked {
        if finite || !self.limits.finite {
            return Ok(Shape::Other);
        }
        Err(Refusal::new(format!(
            "`{number}` cannot be stored as {}, which holds finite numbers only; write `None` in its place{}",
            self.limits.format,
            self.otherwise()
        )))
    }

    fn wide(self, fits: bool, number: impl Display) -> Checked {
        if fits || !self.limits.narrow {
            return Ok(Shape::Other);
        }
        Err(Refusal::new(format!(
            "`{number}` cannot be stored as {}, whose integers have 64 bits; write it as a string{}",
            self.limits.format,
            self.otherwise()
        )))
    }

    fn key(self, key: &(impl Serialize + ?Sized)) -> Result<(), Refusal> {
        if !self.limits.text_keys {
            return key.serialize(self).map(drop);
        }
        key.serialize(KeyText { wanted: false }).map(drop).map_err(|refusal| {
            Refusal::new(format!(
                "a map cannot be stored as {} with {} as a key, for its keys are strings; make the keys strings, or use a format that holds them",
                self.limits.format, refusal.why
            ))
        })
    }

    /// Checks the value of a field.
    fn field(self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Refusal> {
        let checked = value.serialize(self);
        checked.map(drop).map_err(|refusal| refusal.in_field(name))
    }
}

macro_rules! every_value {
    ($($method:ident($value:ty)),*) => {$(
        fn $method(self, _: $value) -> Checked {
            Ok(Shape::Other)
        }
    )*};
}

impl<'a> ser::Serializer for Check<'a> {
    type Ok = Shape;
    type Error = Refusal;
    type SerializeSeq = Container<'a>;
    type SerializeTuple = Container<'a>;
    type SerializeTupleStruct = Container<'a>;
    type SerializeTupleVariant = Container<'a>;
    type SerializeMap = Container<'a>;
    type SerializeStruct = Container<'a>;
    type SerializeStructVariant = Container<'a>;

    fn is_human_readable(&self) -> bool {
        self.limits.human_readable
    }

    every_value!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_char(char)
    );

    fn serialize_i128(self, number: i128) -> Checked {
        let fits = i64::try_from(number).is_ok() || u64::try_from(number).is_ok();
        self.wide(fits, number)
    }

    fn serialize_u128(self, number: u128) -> Checked {
        self.wide(u64::try_from(number).is_ok(), number)
    }

    fn serialize_f32(self, number: f32) -> Checked {
        self.number(number.is_finite(), number)
    }

    fn serialize_f64(self, number: f64) -> Checked {
        self.number(number.is_finite(), number)
    }

    fn serialize_str(self, _: &str) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_bytes(self, _: &[u8]) -> Checked {
        self.deeper().map(|_| Shape::Other)
    }

    fn serialize_none(self) -> Checked {
        Ok(Shape::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Checked {
        match value.serialize(self)? {
            Shape::Null if self.limits.null_is_none => Err(Refusal::new(format!(
                "a `Some` with nothing in it cannot be stored as {}, where it comes back as `None`; make it one `Option`, or an enum",
                self.limits.format
            ))),
            shape => Ok(shape),
        }
    }

    fn serialize_unit(self) -> Checked {
        Ok(Shape::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Checked {
        Ok(Shape::Null)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Checked {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Checked {
        self.deeper()?.field(variant, value)?;
        Ok(Shape::Other)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Container<'a>, Refusal> {
        self.container()
    }

    fn serialize_tuple(self, _: usize) -> Result<Container<'a>, Refusal> {
        self.container()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Container<'a>, Refusal> {
        self.container()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'a>, Refusal> {
        self.variant(variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Container<'a>, Refusal> {
        self.container()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Container<'a>, Refusal> {
        self.container()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Container<'a>, Refusal> {
        self.variant(variant)
    }

    // The text itself does not matter.
    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Checked {
        Ok(Shape::Other)
    }
}

/// Checks the values in a sequence, a struct or a map.
struct Container<'a> {
    check: Check<'a>,
    index: usize,
    /// The key of the next value, if keys and values come one by one.
    key: Option<String>,
    variant: Option<&'static str>,
}

impl Container<'_> {
    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Refusal> {
        let index = self.index;
        self.index += 1;
        let checked = value.serialize(self.check).map(drop);
        checked.map_err(|refusal| self.named(refusal.at_index(index)))
    }

    fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Refusal> {
        let checked = self.check.field(name, value);
        checked.map_err(|refusal| self.named(refusal))
    }

    fn named(&self, refusal: Refusal) -> Refusal {
        match self.variant {
            Some(variant) => refusal.in_field(variant),
            None => refusal,
        }
    }
}

macro_rules! elements {
    ($($of:ident :: $method:ident),*) => {$(
        impl ser::$of for Container<'_> {
            type Ok = Shape;
            type Error = Refusal;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
                self.element(value)
            }

            fn end(self) -> Checked {
                Ok(Shape::Other)
            }
        }
    )*};
}

elements!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! fields {
    ($($of:ident),*) => {$(
        impl ser::$of for Container<'_> {
            type Ok = Shape;
            type Error = Refusal;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Refusal> {
                self.field(name, value)
            }

            fn end(self) -> Checked {
                Ok(Shape::Other)
            }
        }
    )*};
}

fields!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Container<'_> {
    type Ok = Shape;
    type Error = Refusal;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refusal> {
        self.check.key(key)?;
        self.key = Some(name_of(key));
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refusal> {
        let key = self.key.take().unwrap_or_default();
        self.field(&key, value)
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), Refusal> {
        self.check.key(key)?;
        let checked = value.serialize(self.check).map(drop);
        checked.map_err(|refusal| self.named(refusal.in_field(&name_of(key))))
    }

    fn end(self) -> Checked {
        Ok(Shape::Other)
    }
}
