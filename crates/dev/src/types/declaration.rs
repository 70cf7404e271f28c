//! Types of no language in particular.

use serde_json::Value;

/// The types of a graph.
pub(super) struct Types {
    /// The name of the graph.
    pub(super) graph: String,
    /// What the names of its types begin with.
    pub(super) prefix: String,
    pub(super) nodes: Vec<String>,
    /// Each type comes after those that it names, unless it is recursive.
    pub(super) declarations: Vec<Declaration>,
    /// What the graph has beside its state, input, output and nodes.
    pub(super) parts: Vec<Part>,
}

/// What not every graph has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Context,
    /// Interrupts and their answers.
    Questions,
    /// Interrupts before calls of tools.
    Approvals,
    /// Custom events.
    Event,
}

impl Types {
    pub(super) fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }
}

/// A type with a name.
pub(super) struct Declaration {
    pub(super) name: String,
    pub(super) docs: Option<String>,
    pub(super) body: Body,
}

pub(super) enum Body {
    Object(Vec<Field>),
    Alias(Type),
}

/// A field of an object.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) docs: Option<String>,
    pub(super) ty: Type,
    pub(super) required: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    Text,
    /// One of these values.
    Literals(Vec<Value>),
    List(Box<Type>),
    /// A list of so many parts, each with its type.
    Tuple(Vec<Type>),
    /// An object whose keys are not known.
    Map(Box<Type>),
    Union(Vec<Type>),
    /// All of these at once.
    All(Vec<Type>),
    Named(String),
    /// A message in LangChain's form; with the name of the type of its tool calls, if the tools are known.
    Message(Option<String>),
}

impl Declaration {
    pub(super) fn new(name: impl Into<String>, docs: impl Into<String>, body: Body) -> Self {
        let docs = docs.into();
        Self {
            name: name.into(),
            docs: (!docs.is_empty()).then_some(docs),
            body,
        }
    }

    /// True if `found` is true for a type in it.
    pub(super) fn has(&self, found: &dyn Fn(&Type) -> bool) -> bool {
        match &self.body {
            Body::Alias(ty) => ty.has(found),
            Body::Object(fields) => fields.iter().any(|field| field.ty.has(found)),
        }
    }
}

impl Field {
    /// A field that is always there.
    pub(super) fn required(name: impl Into<String>, ty: Type) -> Self {
        Self {
            name: name.into(),
            docs: None,
            ty,
            required: true,
        }
    }

    /// A field that may be absent.
    pub(super) fn optional(name: impl Into<String>, ty: Type) -> Self {
        Self {
            required: false,
            ..Self::required(name, ty)
        }
    }
}

impl Type {
    /// This text and no other.
    pub(super) fn literal(text: &str) -> Self {
        Self::Literals(vec![text.into()])
    }

    /// True if `found` is true for it, or for a type in it.
    fn has(&self, found: &dyn Fn(&Self) -> bool) -> bool {
        found(self)
            || match self {
                Self::List(of) | Self::Map(of) => of.has(found),
                Self::Tuple(parts) | Self::Union(parts) | Self::All(parts) => {
                    parts.iter().any(|part| part.has(found))
                }
                _ => false,
            }
    }
}
