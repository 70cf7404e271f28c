//! What the JSON of a type is made of.

use std::fmt;

/// What the JSON of a type is made of, by its `Deserialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One of [`PLAIN`].
    Plain(&'static str),
    Option(Box<Self>),
    List(Box<Self>),
    Map(Box<Self>, Box<Self>),
    Tuple(Vec<Self>),
    Struct(Vec<Field>),
    Enum(Vec<Variant>),
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Its name, and the other names under which it is read.
    pub(crate) names: Vec<String>,
    /// True if a value without it is read too.
    pub(crate) is_optional: bool,
    pub(crate) shape: Shape,
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variant {
    pub(crate) name: String,
    /// What it holds: nothing, a value, a tuple or a struct.
    pub(crate) content: Option<Shape>,
}

/// The types without parts.
pub(crate) const PLAIN: [&str; 18] = [
    "()", "any", "bool", "bytes", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8",
    "String", "u128", "u16", "u32", "u64", "u8",
];

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(name) => f.write_str(name),
            Self::Option(inner) => write!(f, "Option<{inner}>"),
            Self::List(inner) => write!(f, "Vec<{inner}>"),
            Self::Map(key, value) => write!(f, "Map<{key}, {value}>"),
            Self::Tuple(parts) => {
                let last = if parts.len() == 1 { "," } else { "" };
                write!(f, "({}{last})", Listed(parts))
            }
            Self::Struct(fields) if fields.is_empty() => f.write_str("{}"),
            Self::Struct(fields) => write!(f, "{{ {} }}", Listed(fields)),
            Self::Enum(variants) => write!(f, "enum {{ {} }}", Listed(variants)),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let optional = if self.is_optional { "?" } else { "" };
        write!(f, "{}{optional}: {}", self.names.join("|"), self.shape)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            None => f.write_str(&self.name),
            Some(fields @ Shape::Struct(_)) => write!(f, "{} {fields}", self.name),
            Some(Shape::Tuple(parts)) if parts.len() > 1 => {
                write!(f, "{}({})", self.name, Listed(parts))
            }
            Some(value) => write!(f, "{}({value})", self.name),
        }
    }
}

/// Parts with commas between them.
struct Listed<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{part}")?;
        }
        Ok(())
    }
}

/// Returns true for a name that stands in the text of a shape as it is.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(is_of_name)
}

pub(super) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/')
}
