//! A shape, as far as it is known.

use std::cell::Cell;
use std::rc::Rc;

use crate::lock::shape::{Field, Shape, Variant, is_plain_name};

/// A shape, as far as it is known.
#[derive(Debug, Default)]
pub(super) enum Draft {
    #[default]
    Unseen,
    Plain(&'static str),
    /// A text; the number of the sample that is offered for it.
    Text(usize),
    Option(Box<Draft>),
    List(Box<Draft>),
    Map(Box<(Draft, Draft)>),
    Tuple(Vec<Draft>),
    Struct(Vec<FieldDraft>),
    Enum(Vec<VariantDraft>),
}

/// A field, as far as it is known.
#[derive(Debug)]
pub(super) struct FieldDraft {
    pub(super) name: &'static str,
    /// The field of which this is another name.
    pub(super) alias_of: Option<&'static str>,
    pub(super) presence: Rc<Cell<Presence>>,
    pub(super) draft: Draft,
}

/// Whether a field must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Unknown,
    Optional,
    Required,
}

/// A variant, as far as it is known.
#[derive(Debug)]
pub(super) struct VariantDraft {
    pub(super) name: &'static str,
    pub(super) content: Held,
}

/// What a variant holds.
#[derive(Debug)]
pub(super) enum Held {
    Unseen,
    Nothing,
    Value(Draft),
}

impl Draft {
    /// Returns true if there are parts that no value has shown yet.
    pub(super) fn has_unseen(&self) -> bool {
        self.any(&|draft| matches!(draft, Self::Unseen), &|content| {
            matches!(content, Held::Unseen)
        })
    }

    /// Returns true if it is not known of a field whether it must be there.
    pub(super) fn has_unprobed(&self) -> bool {
        let has = |draft: &Self| match draft {
            Self::Struct(fields) => fields.iter().any(FieldDraft::is_unprobed),
            _ => false,
        };
        self.any(&has, &|_| false)
    }

    /// Returns true if one of the drafts, or a variant's content, is as asked for.
    fn any(&self, is: &dyn Fn(&Self) -> bool, is_content: &dyn Fn(&Held) -> bool) -> bool {
        let any = |draft: &Self| draft.any(is, is_content);
        is(self)
            || match self {
                Self::Unseen | Self::Plain(_) | Self::Text(_) => false,
                Self::Option(inner) | Self::List(inner) => any(inner),
                Self::Map(pair) => any(&pair.0) || any(&pair.1),
                Self::Tuple(parts) => parts.iter().any(any),
                Self::Struct(fields) => {
                    let mut own = fields.iter().filter(|field| field.alias_of.is_none());
                    own.any(|field| any(&field.draft))
                }
                Self::Enum(variants) => variants.iter().any(|variant| {
                    is_content(&variant.content)
                        || matches!(&variant.content, Held::Value(draft) if any(draft))
                }),
            }
    }

    /// Returns the shape; `None` if a name in it cannot be written.
    pub(super) fn shape(&self) -> Option<Shape> {
        Some(match self {
            Self::Unseen => return None,
            Self::Plain(name) => Shape::Plain(name),
            Self::Text(_) => Shape::Plain("String"),
            Self::Option(inner) => Shape::Option(Box::new(inner.shape()?)),
            Self::List(inner) => Shape::List(Box::new(inner.shape()?)),
            Self::Map(pair) => Shape::Map(Box::new(pair.0.shape()?), Box::new(pair.1.shape()?)),
            Self::Tuple(parts) => {
                Shape::Tuple(parts.iter().map(Self::shape).collect::<Option<_>>()?)
            }
            Self::Struct(fields) => {
                let own = fields.iter().filter(|field| field.alias_of.is_none());
                let own = own.map(|field| field.shape(fields));
                let mut shapes: Vec<Field> = own.collect::<Option<_>>()?;
                shapes.sort_by(|a, b| a.names.cmp(&b.names));
                Shape::Struct(shapes)
            }
            Self::Enum(variants) => {
                let shapes = variants.iter().map(VariantDraft::shape);
                let mut shapes: Vec<Variant> = shapes.collect::<Option<_>>()?;
                shapes.sort_by(|a, b| a.name.cmp(&b.name));
                Shape::Enum(shapes)
            }
        })
    }
}

impl FieldDraft {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            alias_of: None,
            presence: Rc::new(Cell::new(Presence::Unknown)),
            draft: Draft::Unseen,
        }
    }

    pub(super) fn is_unprobed(&self) -> bool {
        self.alias_of.is_none() && self.presence.get() == Presence::Unknown
    }

    fn shape(&self, all: &[Self]) -> Option<Field> {
        let aliases = all.iter().filter(|one| one.alias_of == Some(self.name));
        let names = std::iter::once(self).chain(aliases).map(|field| field.name);
        let names: Vec<String> = names.map(str::to_owned).collect();
        names.iter().all(|name| is_plain_name(name)).then_some(())?;
        Some(Field {
            names,
            is_optional: self.presence.get() == Presence::Optional,
            shape: self.draft.shape()?,
        })
    }
}

impl VariantDraft {
    fn shape(&self) -> Option<Variant> {
        let content = match &self.content {
            Held::Unseen => return None,
            Held::Nothing => None,
            Held::Value(draft) => Some(draft.shape()?),
        };
        is_plain_name(self.name).then(|| Variant {
            name: self.name.to_owned(),
            content,
        })
    }
}

/// Notes that the field that was offered last is known by another name too. The field itself is offered first
/// from now on.
pub(super) fn note_alias(fields: &mut [FieldDraft], offered: Option<usize>, name: &'static str) {
    let Some(offered) = offered else { return };
    let Some(field) = fields.get_mut(offered) else {
        return;
    };
    if field.name == name {
        if let Some(before) = fields.get_mut(..=offered) {
            before.rotate_right(1);
        }
    } else {
        field.alias_of = Some(name);
    }
}
