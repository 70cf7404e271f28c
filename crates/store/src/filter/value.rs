//! The values that a filter compares a field with.

use std::cmp::Ordering;

use serde_json::Value;

/// A value for equality tests. Integers beyond a signed 64-bit range become floats.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // they are JSON's own kinds
pub enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// A value for order tests.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Bound {
    Int(i64),
    Float(f64),
    Text(String),
}

impl Scalar {
    pub(super) fn equals(&self, field: &Value) -> bool {
        match (self, field) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(wanted), Value::Bool(found)) => wanted == found,
            (Self::Text(wanted), Value::String(found)) => wanted == found,
            (Self::Int(wanted), Value::Number(found)) => {
                against_int(found, *wanted).is_some_and(Ordering::is_eq)
            }
            (Self::Float(wanted), Value::Number(found)) => {
                against_float(found, *wanted).is_some_and(Ordering::is_eq)
            }
            _ => false,
        }
    }
}

impl Bound {
    /// Compares the field with the bound; `None` if their kinds differ.
    pub(super) fn against(&self, field: &Value) -> Option<Ordering> {
        match (self, field) {
            (Self::Text(bound), Value::String(found)) => Some(found.as_str().cmp(bound)),
            (Self::Int(bound), Value::Number(found)) => against_int(found, *bound),
            (Self::Float(bound), Value::Number(found)) => against_float(found, *bound),
            _ => None,
        }
    }
}

fn against_int(found: &serde_json::Number, bound: i64) -> Option<Ordering> {
    match found.as_i64() {
        Some(int) => Some(int.cmp(&bound)),
        None => int_and_float(bound, found.as_f64()?).map(Ordering::reverse),
    }
}

fn against_float(found: &serde_json::Number, bound: f64) -> Option<Ordering> {
    match found.as_i64() {
        Some(int) => int_and_float(int, bound),
        None => found.as_f64()?.partial_cmp(&bound),
    }
}

/// Compares exactly, even if a float cannot hold the integer.
fn int_and_float(int: i64, float: f64) -> Option<Ordering> {
    // 2^63: both ends of the range of an `i64` are next to it.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float >= LIMIT {
        return Some(Ordering::Less);
    }
    if float < -LIMIT {
        return Some(Ordering::Greater);
    }
    #[allow(clippy::cast_possible_truncation)] // in range, and whole
    let whole = float.trunc() as i64;
    match int.cmp(&whole) {
        Ordering::Equal => 0.0_f64.partial_cmp(&float.fract()),
        order => (!float.is_nan()).then_some(order),
    }
}

macro_rules! from_whole {
    ($($int:ty),*) => {$(
        impl From<$int> for Scalar {
            fn from(value: $int) -> Self {
                Self::Int(value.into())
            }
        }

        impl From<$int> for Bound {
            fn from(value: $int) -> Self {
                Self::Int(value.into())
            }
        }
    )*};
}

from_whole!(i8, i16, i32, i64, u8, u16, u32);

macro_rules! from_larger {
    ($($int:ty),*) => {$(
        impl From<$int> for Scalar {
            #[allow(clippy::cast_precision_loss)] // as documented
            fn from(value: $int) -> Self {
                i64::try_from(value).map_or(Self::Float(value as f64), Self::Int)
            }
        }

        impl From<$int> for Bound {
            #[allow(clippy::cast_precision_loss)]
            fn from(value: $int) -> Self {
                i64::try_from(value).map_or(Self::Float(value as f64), Self::Int)
            }
        }
    )*};
}

from_larger!(u64, usize, isize);

macro_rules! from_other {
    ($($other:ty => $variant:ident in $($kind:ident),*;)*) => {$($(
        impl From<$other> for $kind {
            fn from(value: $other) -> Self {
                Self::$variant(value.into())
            }
        }
    )*)*};
}

from_other! {
    bool => Bool in Scalar;
    f32 => Float in Scalar, Bound;
    f64 => Float in Scalar, Bound;
    &str => Text in Scalar, Bound;
    String => Text in Scalar, Bound;
    &String => Text in Scalar, Bound;
}

impl From<()> for Scalar {
    fn from((): ()) -> Self {
        Self::Null
    }
}

impl<T: Into<Self>> From<Option<T>> for Scalar {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
