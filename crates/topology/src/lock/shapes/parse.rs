//! Reads the text of a shape.

use crate::lock::shape::{Field, PLAIN, Shape, Variant, is_of_name};

/// Reads a text; `None` if it is none of a shape, or names a type whose parts are not known.
pub(crate) fn parse(text: &str) -> Option<Shape> {
    let mut parser = Parser { rest: text.trim() };
    let shape = parser.shape()?;
    parser.rest.is_empty().then_some(shape)
}

struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Takes a sign, if it is the next.
    fn takes(&mut self, sign: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(sign) else {
            return false;
        };
        self.rest = rest.trim_start();
        true
    }

    fn name(&mut self) -> Option<&'t str> {
        let end = self.rest.find(|c| !is_of_name(c));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.trim_start();
        (!name.is_empty()).then_some(name)
    }

    fn shape(&mut self) -> Option<Shape> {
        if self.takes("()") {
            return Some(Shape::Plain("()"));
        }
        if self.takes("(") {
            return self.list(")", Self::shape).map(Shape::Tuple);
        }
        if self.takes("{") {
            return self.list("}", Self::field).map(Shape::Struct);
        }
        let name = self.name()?;
        match name {
            "enum" if self.takes("{") => self.list("}", Self::variant).map(Shape::Enum),
            "Option" | "Vec" | "Map" => {
                if !self.takes("<") {
                    return None;
                }
                let mut parts = self.list(">", Self::shape)?;
                let last = Box::new(parts.pop()?);
                match (name, parts.pop(), parts.pop()) {
                    ("Option", None, None) => Some(Shape::Option(last)),
                    ("Vec", None, None) => Some(Shape::List(last)),
                    ("Map", Some(key), None) => Some(Shape::Map(Box::new(key), last)),
                    _ => None,
                }
            }
            "usize" => Some(Shape::Plain("u64")),
            "isize" => Some(Shape::Plain("i64")),
            name => {
                let known = PLAIN.iter().find(|plain| **plain == name)?;
                Some(Shape::Plain(known))
            }
        }
    }

    /// Reads parts with commas between them, up to the end.
    fn list<T>(&mut self, end: &str, part: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut parts = Vec::new();
        while !self.takes(end) {
            parts.push(part(self)?);
            if !self.takes(",") && !self.rest.starts_with(end) {
                return None;
            }
        }
        Some(parts)
    }

    fn field(&mut self) -> Option<Field> {
        let mut names = vec![self.name()?.to_owned()];
        while self.takes("|") {
            names.push(self.name()?.to_owned());
        }
        let is_optional = self.takes("?");
        if !self.takes(":") {
            return None;
        }
        let shape = self.shape()?;
        Some(Field {
            names,
            is_optional,
            shape,
        })
    }

    fn variant(&mut self) -> Option<Variant> {
        let name = self.name()?.to_owned();
        let content = if self.rest.starts_with('{') {
            Some(self.shape()?)
        } else if self.takes("(") {
            let mut parts = self.list(")", Self::shape)?;
            let last = parts.pop()?;
            if parts.is_empty() {
                Some(last)
            } else {
                parts.push(last);
                Some(Shape::Tuple(parts))
            }
        } else {
            None
        };
        Some(Variant { name, content })
    }
}
