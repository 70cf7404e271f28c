//! A serializer that writes nothing and refuses values that a format would change.

use std::fmt::{self, Display};

use serde::{Serialize, ser};

use super::inside::Inside;
use super::key::Key;
use super::limits::Limits;

/// Why a value is refused, and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    path: String,
    pub(crate) why: String,
}

impl Refusal {
    /// Returns the place of the value: `messages[3].score`; `None` if it is the value itself.
    pub fn path(&self) -> Option<&str> {
        (!self.path.is_empty()).then_some(&*self.path)
    }

    /// Returns what the value is, and what to do about it.
    pub fn reason(&self) -> &str {
        &self.why
    }

    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            why: why.into(),
        }
    }

    /// Adds the field to the path. The path is built on the way out, so an accepted value costs
    /// nothing.
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        let dot = match self.path.chars().next() {
            None | Some('[') => "",
            Some(_) => ".",
        };
        self.path = format!("{name}{dot}{}", self.path);
        self
    }

    pub(crate) fn at_index(self, index: usize) -> Self {
        self.in_field(&format!("[{index}]"))
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(path) => write!(f, "field `{path}`: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl std::error::Error for Refusal {}

impl ser::Error for Refusal {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A value that is written as `null`.
    Null,
    Other,
}

pub(crate) type Checked = Result<Shape, Refusal>;

#[derive(Clone, Copy)]
pub(crate) struct Check<'a> {
    limits: &'a Limits,
    /// How many more values may be nested.
    depth: usize,
}

impl<'a> Check<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            depth: limits.depth,
        }
    }

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

    fn inside(self) -> Result<Inside<'a>, Refusal> {
        Ok(Inside::new(self.deeper()?))
    }

    /// Checks a variant with several values: they are one nested value.
    fn variant(self, name: &'static str) -> Result<Inside<'a>, Refusal> {
        Ok(self.deeper()?.inside()?.of_variant(name))
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

    pub(crate) fn key(self, key: &(impl Serialize + ?Sized)) -> Result<(), Refusal> {
        if !self.limits.text_keys {
            return key.serialize(self).map(drop);
        }
        key.serialize(Key { text: false }).map(drop).map_err(|refusal| {
            Refusal::new(format!(
                "a map cannot be stored as {} with {} as a key, for its keys are strings; make the keys strings, or use a format that holds them",
                self.limits.format, refusal.why
            ))
        })
    }

    /// Checks the value of a field.
    pub(crate) fn field(
        self,
        name: &str,
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), Refusal> {
        let checked = value.serialize(self);
        checked.map(drop).map_err(|refusal| refusal.in_field(name))
    }
}

impl<'a> ser::Serializer for Check<'a> {
    type Ok = Shape;
    type Error = Refusal;
    type SerializeSeq = Inside<'a>;
    type SerializeTuple = Inside<'a>;
    type SerializeTupleStruct = Inside<'a>;
    type SerializeTupleVariant = Inside<'a>;
    type SerializeMap = Inside<'a>;
    type SerializeStruct = Inside<'a>;
    type SerializeStructVariant = Inside<'a>;

    fn is_human_readable(&self) -> bool {
        self.limits.human_readable
    }

    fn serialize_bool(self, _: bool) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_i8(self, _: i8) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_i16(self, _: i16) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_i32(self, _: i32) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_i64(self, _: i64) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_i128(self, number: i128) -> Checked {
        let fits = i64::try_from(number).is_ok() || u64::try_from(number).is_ok();
        self.wide(fits, number)
    }

    fn serialize_u8(self, _: u8) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_u16(self, _: u16) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_u32(self, _: u32) -> Checked {
        Ok(Shape::Other)
    }

    fn serialize_u64(self, _: u64) -> Checked {
        Ok(Shape::Other)
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

    fn serialize_char(self, _: char) -> Checked {
        Ok(Shape::Other)
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

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'a>, Refusal> {
        self.inside()
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside<'a>, Refusal> {
        self.inside()
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Inside<'a>, Refusal> {
        self.inside()
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, Refusal> {
        self.variant(variant)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside<'a>, Refusal> {
        self.inside()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Inside<'a>, Refusal> {
        self.inside()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'a>, Refusal> {
        self.variant(variant)
    }

    // The text itself does not matter.
    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Checked {
        Ok(Shape::Other)
    }
}
