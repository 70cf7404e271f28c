//! Filters of searches by the content of items.

use std::cmp::Ordering;

use serde_json::Value;

use crate::{FieldPath, Segment, StoreError};

mod value;

pub use value::{Bound, Scalar};

/// Selects items of a search by their content.
///
/// A test applies to the field at a path. A missing field passes no test, so `ne` selects items
/// that have the field with another value; `not` includes items without the field. Values are
/// compared within their kind: numbers by value (`1` equals `1.0`), text by code points. With `[*]`
/// in the path, one matching element is enough.
///
/// # Examples
///
/// ```
/// use langgraph_store::Filter;
/// use serde_json::json;
///
/// let wanted = Filter::eq("kind", "note")
///     .and(Filter::ge("year", 2024))
///     .and(Filter::eq("tags[*]", "cat").or(Filter::exists("author.name")));
///
/// assert!(wanted.matches(&json!({"kind": "note", "year": 2024.5, "tags": ["dog", "cat"]})));
/// assert!(!wanted.matches(&json!({"kind": "note", "year": "2025", "tags": ["cat"]})));
/// assert!(!wanted.matches(&json!({"kind": "note", "year": 2024, "tags": "cat"})));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Filter {
    /// A field passes a test.
    Field(FieldPath, Test),
    /// All of them pass; an empty list passes every item.
    All(Vec<Self>),
    /// One of them passes.
    Any(Vec<Self>),
    /// The filter does not pass.
    Not(Box<Self>),
}

/// A test of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Test {
    /// The field exists, even as null.
    Exists,
    /// The field equals this.
    Eq(Scalar),
    /// The field exists and does not equal this.
    Ne(Scalar),
    /// The field is greater than this.
    Gt(Bound),
    /// The field is greater than or equal to this.
    Ge(Bound),
    /// The field is less than this.
    Lt(Bound),
    /// The field is less than or equal to this.
    Le(Bound),
    /// The field equals one of these.
    In(Vec<Scalar>),
}

impl Filter {
    fn field(path: impl Into<FieldPath>, test: Test) -> Self {
        Self::Field(path.into(), test)
    }

    /// The field exists, even as null.
    pub fn exists(path: impl Into<FieldPath>) -> Self {
        Self::field(path, Test::Exists)
    }

    /// The field equals `value`.
    pub fn eq(path: impl Into<FieldPath>, value: impl Into<Scalar>) -> Self {
        Self::field(path, Test::Eq(value.into()))
    }

    /// The field exists and does not equal `value`.
    pub fn ne(path: impl Into<FieldPath>, value: impl Into<Scalar>) -> Self {
        Self::field(path, Test::Ne(value.into()))
    }

    /// The field is greater than `value`.
    pub fn gt(path: impl Into<FieldPath>, value: impl Into<Bound>) -> Self {
        Self::field(path, Test::Gt(value.into()))
    }

    /// The field is greater than or equal to `value`.
    pub fn ge(path: impl Into<FieldPath>, value: impl Into<Bound>) -> Self {
        Self::field(path, Test::Ge(value.into()))
    }

    /// The field is less than `value`.
    pub fn lt(path: impl Into<FieldPath>, value: impl Into<Bound>) -> Self {
        Self::field(path, Test::Lt(value.into()))
    }

    /// The field is less than or equal to `value`.
    pub fn le(path: impl Into<FieldPath>, value: impl Into<Bound>) -> Self {
        Self::field(path, Test::Le(value.into()))
    }

    /// The field equals one of `values`.
    pub fn one_of<T: Into<Scalar>>(
        path: impl Into<FieldPath>,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        Self::field(path, Test::In(values.into_iter().map(Into::into).collect()))
    }

    /// Both pass.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match self {
            Self::All(mut all) => {
                all.push(other);
                Self::All(all)
            }
            one => Self::All(vec![one, other]),
        }
    }

    /// At least one of the two passes.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match self {
            Self::Any(mut any) => {
                any.push(other);
                Self::Any(any)
            }
            one => Self::Any(vec![one, other]),
        }
    }

    /// Returns true if `value` passes.
    pub fn matches(&self, value: &Value) -> bool {
        match self {
            Self::Field(path, test) => path.find(value).iter().any(|field| test.passes(field)),
            Self::All(all) => all.iter().all(|filter| filter.matches(value)),
            Self::Any(any) => any.iter().any(|filter| filter.matches(value)),
            Self::Not(filter) => !filter.matches(value),
        }
    }

    /// Checks that the filter is valid, and neither too large nor nested too deeply for a database.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.check_below(MAX_DEPTH)?;
        if self.tests() > MAX_TESTS {
            return Err(StoreError::InvalidSearch(
                "its filter compares with more than 500 values",
            ));
        }
        Ok(())
    }

    /// Counts the values that the filter compares with.
    fn tests(&self) -> usize {
        match self {
            Self::Field(_, Test::In(values)) => values.len(),
            Self::Field(..) => 1,
            Self::All(filters) | Self::Any(filters) => filters.iter().map(Self::tests).sum(),
            Self::Not(filter) => filter.tests(),
        }
    }

    fn check_below(&self, depth: usize) -> Result<(), StoreError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(StoreError::InvalidSearch(
                "its filter is nested more than 32 deep",
            ));
        };
        match self {
            Self::Field(path, test) => {
                for segment in path.segments()? {
                    if let Segment::Key(key) = segment {
                        writable(key)?;
                    }
                }
                test.check()
            }
            Self::All(filters) | Self::Any(filters) => filters
                .iter()
                .try_for_each(|filter| filter.check_below(depth)),
            Self::Not(filter) => filter.check_below(depth),
        }
    }
}

const MAX_DEPTH: usize = 32;

/// What every database takes in one query.
const MAX_TESTS: usize = 500;

impl std::ops::Not for Filter {
    type Output = Self;

    /// Negates the filter.
    fn not(self) -> Self {
        match self {
            Self::Not(filter) => *filter,
            filter => Self::Not(Box::new(filter)),
        }
    }
}

impl Test {
    fn passes(&self, field: &Value) -> bool {
        let order = |bound: &Bound| bound.against(field);
        match self {
            Self::Exists => true,
            Self::Eq(scalar) => scalar.equals(field),
            Self::Ne(scalar) => !scalar.equals(field),
            Self::Gt(bound) => order(bound).is_some_and(Ordering::is_gt),
            Self::Ge(bound) => order(bound).is_some_and(Ordering::is_ge),
            Self::Lt(bound) => order(bound).is_some_and(Ordering::is_lt),
            Self::Le(bound) => order(bound).is_some_and(Ordering::is_le),
            Self::In(scalars) => scalars.iter().any(|scalar| scalar.equals(field)),
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        let scalar = |scalar: &Scalar| match scalar {
            Scalar::Float(float) => finite(*float),
            Scalar::Text(text) => writable(text),
            _ => Ok(()),
        };
        match self {
            Self::Exists => Ok(()),
            Self::Eq(value) | Self::Ne(value) => scalar(value),
            Self::In(values) => values.iter().try_for_each(scalar),
            Self::Gt(bound) | Self::Ge(bound) | Self::Lt(bound) | Self::Le(bound) => match bound {
                Bound::Float(float) => finite(*float),
                Bound::Text(text) => writable(text),
                Bound::Int(_) => Ok(()),
            },
        }
    }
}

fn finite(float: f64) -> Result<(), StoreError> {
    if float.is_finite() {
        Ok(())
    } else {
        Err(StoreError::InvalidSearch(
            "its filter compares with a number that is infinite or NaN",
        ))
    }
}

fn writable(text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        Err(StoreError::InvalidSearch(
            "its filter has a text or a key that holds the character NUL",
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whole_numbers_and_fractions_are_compared_exactly() {
        const NEAR: i64 = (1 << 53) + 1;
        #[allow(clippy::cast_precision_loss)]
        let rounded = NEAR as f64;
        let value = json!({"n": NEAR, "half": 0.5, "huge": u64::MAX, "low": i64::MIN});
        assert!(!Filter::eq("n", rounded).matches(&value));
        assert!(Filter::gt("n", rounded).matches(&value));
        assert!(Filter::eq("n", NEAR).matches(&value));
        assert!(Filter::gt("half", 0).matches(&value));
        assert!(Filter::lt("half", 1).matches(&value));
        assert!(Filter::gt("huge", i64::MAX).matches(&value));
        assert!(Filter::eq("huge", u64::MAX).matches(&value));
        assert!(Filter::ge("low", i64::MIN).matches(&value));
        assert!(
            Filter::le("low", -1e300).matches(&value) == Filter::gt("low", 1e300).matches(&value)
        );
        assert!(Filter::gt("low", -1e300).matches(&value));
        assert!(Filter::lt("half", 0.75).matches(&json!({"half": -0.5})));
    }

    #[test]
    fn a_missing_field_passes_nothing_but_a_negation() {
        let value = json!({"there": null});
        for filter in [
            Filter::eq("gone", ()),
            Filter::ne("gone", 1),
            Filter::gt("gone", 0),
            Filter::exists("gone"),
            Filter::one_of("gone", [1, 2]),
        ] {
            assert!(!filter.matches(&value), "{filter:?}");
            assert!((!filter).matches(&value));
        }
        assert!(Filter::exists("there").matches(&value));
        assert!(Filter::eq("there", None::<i32>).matches(&value));
        assert!(Filter::ne("there", 1).matches(&value));
        assert!(!Filter::gt("there", 0).matches(&value));
    }

    #[test]
    fn filters_that_make_no_sense_are_refused() {
        let deep = (0..40).fold(Filter::exists("a"), |inner, _| Filter::All(vec![inner]));
        for (filter, problem) in [
            (Filter::eq("a", f64::NAN), "infinite or NaN"),
            (Filter::gt("a", f64::INFINITY), "infinite or NaN"),
            (!Filter::one_of("a", ["\0"]), "NUL"),
            (Filter::exists(FieldPath::keys(["a", "b\0"])), "NUL"),
            (Filter::exists("a..b"), "no field path"),
            (deep, "32 deep"),
        ] {
            let error = filter.check().unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
