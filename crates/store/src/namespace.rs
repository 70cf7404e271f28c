//! Namespaces of items.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::options::MAX_BYTES;

/// The place of an item: labels from general to specific, such as `["users", "u-1"]`.
///
/// Labels are stored separately, so they may hold any character but NUL: a dot, a slash, an e-mail
/// address. Two different namespaces never collide.
///
/// # Examples
///
/// ```
/// use langgraph_store::Namespace;
///
/// let user = "ada@example.org";
/// let namespace = Namespace::from(["users", user]);
/// assert_eq!(namespace.labels(), ["users", "ada@example.org"]);
/// assert!(namespace.starts_with(&Namespace::from("users")));
/// assert_eq!(namespace.join("notes").to_string(), "users/ada@example.org/notes");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Namespace(Vec<String>);

impl Namespace {
    /// Returns the namespace above all others. A search may start here, but it holds no items.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// Returns the labels.
    pub fn labels(&self) -> &[String] {
        &self.0
    }

    /// Returns true if this is `prefix`, or below it.
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// Returns the namespace `label` below this one.
    #[must_use]
    pub fn join(mut self, label: impl Into<String>) -> Self {
        self.0.push(label.into());
        self
    }

    /// Returns the namespace of the first `depth` labels.
    #[must_use]
    pub fn truncated(&self, depth: usize) -> Self {
        Self(self.0.iter().take(depth).cloned().collect())
    }

    /// Checks that the namespace can hold items.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.0.is_empty() {
            return Err(self.invalid("it has no label; an item needs at least one"));
        }
        self.check_labels()
    }

    /// Checks that a search can start here.
    pub(crate) fn check_labels(&self) -> Result<(), StoreError> {
        if self.0.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            return Err(self.invalid("its labels have more than 1,024 bytes"));
        }
        for label in &self.0 {
            if label.is_empty() {
                return Err(self.invalid("a label is empty"));
            }
            if label.contains('\0') {
                return Err(self.invalid("a label holds the character NUL"));
            }
        }
        Ok(())
    }

    fn invalid(&self, problem: &'static str) -> StoreError {
        StoreError::InvalidNamespace {
            namespace: self.clone(),
            problem,
        }
    }
}

impl fmt::Display for Namespace {
    /// Writes the labels with slashes between them, for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

impl From<&str> for Namespace {
    /// Creates a namespace of one label.
    fn from(label: &str) -> Self {
        Self(vec![label.to_owned()])
    }
}

impl From<String> for Namespace {
    /// Creates a namespace of one label.
    fn from(label: String) -> Self {
        Self(vec![label])
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Namespace {
    fn from(labels: [T; N]) -> Self {
        labels.into_iter().collect()
    }
}

impl<T: Into<String> + Clone> From<&[T]> for Namespace {
    fn from(labels: &[T]) -> Self {
        labels.iter().cloned().collect()
    }
}

impl<T: Into<String>> From<Vec<T>> for Namespace {
    fn from(labels: Vec<T>) -> Self {
        labels.into_iter().collect()
    }
}

impl From<&Self> for Namespace {
    fn from(namespace: &Self) -> Self {
        namespace.clone()
    }
}

impl<T: Into<String>> FromIterator<T> for Namespace {
    fn from_iter<I: IntoIterator<Item = T>>(labels: I) -> Self {
        Self(labels.into_iter().map(Into::into).collect())
    }
}

/// One label of a namespace pattern: a fixed one, or any.
///
/// Text converts with [`From`]: `"*"` is any label, other text is itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// Any label.
    Any,
    /// This label.
    Is(String),
}

impl Label {
    /// Returns true if the label matches.
    pub fn fits(&self, label: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(wanted) => wanted == label,
        }
    }
}

impl From<&str> for Label {
    fn from(label: &str) -> Self {
        if label == "*" {
            Self::Any
        } else {
            Self::Is(label.to_owned())
        }
    }
}

impl From<String> for Label {
    fn from(label: String) -> Self {
        label.as_str().into()
    }
}
