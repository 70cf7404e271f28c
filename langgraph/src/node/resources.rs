//! Resources of nodes besides the state: models, databases, settings.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use super::NeededResource;
use crate::error::MissingResource;

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
    // There are only a few entries: a scan is faster than hashing. Runs and subgraphs share them.
    entries: Option<Arc<Vec<ResourceEntry>>>,
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
        Self { entries: None }
    }

    fn entries(&self) -> &[ResourceEntry] {
        self.entries.as_deref().map_or(&[], Vec::as_slice)
    }

    /// Returns the entries to change. They are copied, if others share them.
    fn entries_mut(&mut self) -> &mut Vec<ResourceEntry> {
        Arc::make_mut(self.entries.get_or_insert_default())
    }

    /// Adds a value. It replaces one of the same type.
    pub fn insert<T: ?Sized + Send + Sync + 'static>(&mut self, value: Arc<T>) {
        let entry = ResourceEntry {
            key: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
            value: Arc::new(value),
        };
        let entries = self.entries_mut();
        match entries.iter_mut().find(|old| old.key == entry.key) {
            Some(old) => *old = entry,
            None => entries.push(entry),
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
        let mut entries = self.entries().iter();
        let entry = entries.find(|entry| entry.key == key)?;
        entry.value.downcast_ref()
    }

    /// Returns these resources, overridden by those of `over`.
    #[must_use]
    pub(crate) fn layered(&self, over: &Self) -> Self {
        if over.is_empty() {
            return self.clone();
        }
        let mut all = over.clone();
        for entry in self.entries() {
            if !over.entries().iter().any(|other| other.key == entry.key) {
                all.entries_mut().push(entry.clone());
            }
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    pub(crate) fn missing<T: ?Sized>(&self) -> MissingResource {
        self.missing_named(std::any::type_name::<T>())
    }

    fn missing_named(&self, wanted: &'static str) -> MissingResource {
        let given = self.entries().iter().map(|entry| entry.name);
        MissingResource::new(wanted, given.collect())
    }

    /// Returns true if there is such a resource.
    pub(crate) fn have(&self, needed: &NeededResource) -> bool {
        self.entries().iter().any(|entry| entry.key == needed.key)
    }

    /// Fails if there is no such resource.
    pub(crate) fn check(&self, needed: &NeededResource) -> Result<(), MissingResource> {
        if self.have(needed) {
            return Ok(());
        }
        Err(self.missing_named(needed.name))
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.entries().iter().map(|entry| entry.name))
            .finish()
    }
}
