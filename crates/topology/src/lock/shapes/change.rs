//! What values of a shape of today no longer take of those of another one.

use std::fmt;

use crate::lock::shape::{Field, Shape, Variant};

/// The first part of a type that does not take what an older form of the type wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShapeChange {
    /// The fields, variants and items that lead to it; empty for the type itself.
    path: Vec<String>,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    FieldGone(String),
    FieldRequired { field: String, is_new: bool },
    VariantGone(String),
    Retyped { stored: String, now: String },
}

impl ShapeChange {
    /// Returns true if the type itself is another one.
    pub(crate) fn is_whole(&self) -> bool {
        self.path.is_empty() && matches!(self.what, What::Retyped { .. })
    }
}

impl fmt::Display for ShapeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.path.join(".");
        let of = |f: &mut fmt::Formatter<'_>| {
            if at.is_empty() {
                Ok(())
            } else {
                write!(f, " of `{at}`")
            }
        };
        match &self.what {
            What::FieldGone(field) => {
                write!(f, "field `{field}`")?;
                of(f)?;
                write!(
                    f,
                    " is gone: keep it; if it was renamed, write `#[serde(alias = \"{field}\")]` on the new field"
                )
            }
            What::FieldRequired { field, is_new } => {
                write!(f, "field `{field}`")?;
                of(f)?;
                let now = if *is_new {
                    "is new and required"
                } else {
                    "is required now"
                };
                write!(f, " {now}: write `#[serde(default)]` on it")
            }
            What::VariantGone(variant) => {
                write!(f, "variant `{variant}`")?;
                of(f)?;
                write!(
                    f,
                    " is gone: keep it; if it was renamed, write `#[serde(alias = \"{variant}\")]` on the new variant"
                )
            }
            What::Retyped { stored, now } => {
                if at.is_empty() {
                    f.write_str("the value")?;
                } else {
                    write!(f, "`{at}`")?;
                }
                write!(
                    f,
                    " is `{now}` now, and was `{stored}`: give what is new a field or a variant of its own"
                )
            }
        }
    }
}

/// Returns the first part of what was written in a shape that the shape of today does not take.
///
/// New optional fields, new variants, and an option of what was required are taken.
pub(crate) fn difference(stored: &Shape, now: &Shape) -> Option<ShapeChange> {
    let mut path = Vec::new();
    let what = compare(stored, now, &mut path)?;
    Some(ShapeChange { path, what })
}

fn compare(stored: &Shape, now: &Shape, path: &mut Vec<String>) -> Option<What> {
    match (stored, now) {
        (Shape::Option(stored), Shape::Option(now)) => compare(stored, now, path),
        (Shape::List(stored), Shape::List(now)) => {
            at("[]", path, |path| compare(stored, now, path))
        }
        (Shape::Map(key, value), Shape::Map(key_now, value_now)) => at("[]", path, |path| {
            compare(key, key_now, path).or_else(|| compare(value, value_now, path))
        }),
        (Shape::Tuple(stored), Shape::Tuple(now)) if stored.len() == now.len() => {
            let mut pairs = stored.iter().zip(now).enumerate();
            pairs.find_map(|(index, (stored, now))| {
                at(&index.to_string(), path, |path| compare(stored, now, path))
            })
        }
        (Shape::Struct(stored), Shape::Struct(now)) => fields(stored, now, path),
        (Shape::Enum(stored), Shape::Enum(now)) => variants(stored, now, path),
        (_, Shape::Plain("any")) => None,
        (stored, now) if stored == now => None,
        (stored, Shape::Option(now)) if compare(stored, now, &mut Vec::new()).is_none() => None,
        (stored, now) => Some(What::Retyped {
            stored: stored.to_string(),
            now: now.to_string(),
        }),
    }
}

/// Compares what is at one more part of the path, which stays in the path of a finding.
fn at(
    part: &str,
    path: &mut Vec<String>,
    compare: impl FnOnce(&mut Vec<String>) -> Option<What>,
) -> Option<What> {
    path.push(part.to_owned());
    let found = compare(path);
    if found.is_none() {
        path.pop();
    }
    found
}

fn fields(stored: &[Field], now: &[Field], path: &mut Vec<String>) -> Option<What> {
    let same = |name: &str, fields: &[Field]| {
        let mut fields = fields.iter();
        fields.position(|field| field.names.iter().any(|one| one == name))
    };
    for field in stored {
        let name = field.names.first()?;
        let Some(today) = same(name, now).and_then(|index| now.get(index)) else {
            return Some(What::FieldGone(name.clone()));
        };
        let found = at(name, path, |path| compare(&field.shape, &today.shape, path));
        if found.is_some() {
            return found;
        }
        if field.is_optional && !today.is_optional {
            let field = name.clone();
            return Some(What::FieldRequired {
                field,
                is_new: false,
            });
        }
    }
    let known = |field: &Field| field.names.iter().any(|name| same(name, stored).is_some());
    let mut new = now.iter().filter(|field| !known(field));
    let required = new.find(|field| !field.is_optional)?;
    let field = required.names.first()?.clone();
    Some(What::FieldRequired {
        field,
        is_new: true,
    })
}

fn variants(stored: &[Variant], now: &[Variant], path: &mut Vec<String>) -> Option<What> {
    for variant in stored {
        let Some(today) = now.iter().find(|today| today.name == variant.name) else {
            return Some(What::VariantGone(variant.name.clone()));
        };
        let found = at(&variant.name, path, |path| {
            match (&variant.content, &today.content) {
                (None, None) => None,
                (Some(stored), Some(now)) => compare(stored, now, path),
                _ => Some(What::Retyped {
                    stored: variant.to_string(),
                    now: today.to_string(),
                }),
            }
        });
        if found.is_some() {
            return found;
        }
    }
    None
}
