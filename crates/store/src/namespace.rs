//! Where an item is: labels from the general to the particular.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::StoreError;

/// Where an item is: labels from the general to the particular, such as `["users", "u-1"]`.
///
/// Labels stay apart, so they may hold any character but NUL: a dot, a slash, an e-mail address.
/// No two namespaces are ever mistaken for each other.
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
    /// The namespace above all others. Searches may begin here; nothing is put here.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// The labels.
    pub fn labels(&self) -> &[String] {
        &self.0
    }

    /// True when this is `prefix`, or below it.
    pub fn starts_with(&self, prefix: &Self) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// The namespace `label` below this one.
    #[must_use]
    pub fn join(mut self, label: impl Into<String>) -> Self {
        self.0.push(label.into());
        self
    }

    /// The first `depth` labels.
    #[must_use]
    pub fn truncated(&self, depth: usize) -> Self {
        Self(self.0.iter().take(depth).cloned().collect())
    }

    /// Whether items can be put here.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.0.is_empty() {
            return Err(self.invalid("it has no label; an item needs at least one"));
        }
        self.check_labels()
    }

    /// Whether a search can begin here.
    pub(crate) fn check_labels(&self) -> Result<(), StoreError> {
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
    /// For people: the labels with slashes between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

impl From<&str> for Namespace {
    /// A namespace of one label.
    fn from(label: &str) -> Self {
        Self(vec![label.to_owned()])
    }
}

impl From<String> for Namespace {
    /// A namespace of one label.
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

/// One label of a pattern for namespaces: a certain one, or any.
///
/// Text becomes a label with [`From`]: `"*"` is any, all else itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// Any label.
    Any,
    /// This label.
    Is(String),
}

impl Label {
    /// True when the label fits.
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
