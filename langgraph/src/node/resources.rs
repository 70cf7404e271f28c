//! Resources of nodes besides the state: models, databases, settings.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// Values by type, including trait objects.
///
/// # Examples
///
/// ```
/// use std::fmt::Display;
/// use std::sync::Arc;
/// use langgraph::node::Resources;
///
/// let mut resources = Resources::new();
/// resources.insert(Arc::new(7_u32));
/// resources.insert::<dyn Display + Send + Sync>(Arc::new("shown"));
///
/// assert_eq!(resources.get::<u32>(), Some(&7));
/// assert_eq!(resources.get::<dyn Display + Send + Sync>().unwrap().to_string(), "shown");
/// assert!(resources.get::<String>().is_none());
/// ```
#[derive(Clone, Default)]
pub struct Resources {
    // There are only a few entries: a scan is faster than hashing.
    entries: Vec<ResourceEntry>,
}

#[derive(Clone)]
struct ResourceEntry {
    key: TypeId,
    name: &'static str,
    /// An erased `Arc<T>`.
    value: Arc<dyn Any + Send + Sync>,
}

impl Resources {
    /// Creates an empty collection.
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
        }
    }

    /// Adds a value. It replaces one of the same type.
    pub fn insert<T: ?Sized + Send + Sync + 'static>(&mut self, value: Arc<T>) {
        let entry = ResourceEntry {
            key: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
            value: Arc::new(value),
        };
        match self.entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    /// Returns the value of that type.
    pub fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        self.shared().map(|value| &**value)
    }

    /// Returns the value of that type as an `Arc`.
    pub fn get_arc<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.shared().cloned()
    }

    fn shared<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&Arc<T>> {
        let key = TypeId::of::<T>();
        self.entries
            .iter()
            .find(|entry| entry.key == key)?
            .value
            .downcast_ref()
    }

    /// Returns these resources, overridden by those of `over`.
    #[must_use]
    pub(crate) fn layered(&self, over: &Self) -> Self {
        if over.is_empty() {
            return self.clone();
        }
        let mut all = over.clone();
        for entry in &self.entries {
            if !all.entries.iter().any(|other| other.key == entry.key) {
                all.entries.push(entry.clone());
            }
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn missing<T: ?Sized>(&self) -> MissingResource {
        MissingResource {
            wanted: std::any::type_name::<T>(),
            given: self.entries.iter().map(|entry| entry.name).collect(),
        }
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.entries.iter().map(|entry| entry.name))
            .finish()
    }
}

/// The error if a node asks for a resource that neither the graph nor the run has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no resource of type `{wanted}`; give it to the graph or to the run with `.resource(Arc<{wanted}>)` (given: {}){}",
    list(given),
    hint(wanted, given)
)]
pub struct MissingResource {
    wanted: &'static str,
    given: Vec<&'static str>,
}

/// Explains why a value is not found as a trait object.
fn hint(wanted: &str, given: &[&str]) -> String {
    if !wanted.starts_with("dyn ") || given.is_empty() {
        return String::new();
    }
    format!(
        "; a value is found by the type that it is given as, so the turbofish matters: \
         `.resource::<{wanted}>(Arc::new(value))`, or `.model(value)` for a model"
    )
}

fn list(names: &[&str]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

langgraph_core::debug_is_message!(MissingResource);
