//! Resources that a node cannot do without.

use std::any::TypeId;
use std::fmt;

/// The type of a resource that a node always asks for.
///
/// `#[node]` finds those of its function; a type that implements [`Node`](super::Node) by itself names them in
/// [`needs`](super::Node::needs). A run without one of them is refused at its start.
///
/// # Examples
///
/// ```
/// use std::fmt::Display;
/// use langgraph::node::NeededResource;
///
/// let needed = NeededResource::of::<dyn Display + Send + Sync>();
/// assert!(format!("{needed:?}").contains("Display"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NeededResource {
    pub(crate) key: TypeId,
    pub(crate) name: &'static str,
}

impl NeededResource {
    /// Returns the resource of that type.
    pub fn of<T: ?Sized + Send + Sync + 'static>() -> Self {
        Self {
            key: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
        }
    }
}

impl fmt::Debug for NeededResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NeededResource").field(&self.name).finish()
    }
}
