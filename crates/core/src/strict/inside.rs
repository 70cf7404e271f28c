//! Containers of other values: sequences, structs, maps.

use serde::{Serialize, ser};

use super::check::{Check, Checked, Refusal, Shape};
use super::key::name_of;

/// A container of other values.
pub(crate) struct Inside<'a> {
    check: Check<'a>,
    index: usize,
    /// The key of the next value, if keys and values come one by one.
    key: Option<String>,
    variant: Option<&'static str>,
}

impl<'a> Inside<'a> {
    pub(crate) fn new(check: Check<'a>) -> Self {
        Self {
            check,
            index: 0,
            key: None,
            variant: None,
        }
    }

    /// Checks the values of a variant.
    pub(crate) fn of_variant(self, name: &'static str) -> Self {
        Self {
            variant: Some(name),
            ..self
        }
    }

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
        impl ser::$of for Inside<'_> {
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
        impl ser::$of for Inside<'_> {
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

impl ser::SerializeMap for Inside<'_> {
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
