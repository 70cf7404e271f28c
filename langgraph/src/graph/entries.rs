//! Arguments of the builder's methods: one node or several, entries of path maps.

use super::NodeName;

/// The source of an edge: one node, or several that it waits for.
///
/// `K` is the form, a name or a list of names; rustc infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` names no node that an edge can start from",
    label = "expected the name of a node, or a list of names"
)]
pub trait EdgeSources<K> {
    /// Returns the sources; `Err` holds the several sources of a join.
    #[doc(hidden)]
    fn sources(self) -> Result<NodeName, Vec<NodeName>>;
}

impl<T: AsRef<str>> EdgeSources<NodeName> for T {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Ok(self.as_ref().into())
    }
}

impl<T: AsRef<str>, const N: usize> EdgeSources<Vec<NodeName>> for [T; N] {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Err(self.iter().map(|name| name.as_ref().into()).collect())
    }
}

impl<T: AsRef<str>> EdgeSources<Vec<NodeName>> for &[T] {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Err(self.iter().map(|name| name.as_ref().into()).collect())
    }
}

impl<T: AsRef<str>> EdgeSources<Vec<NodeName>> for Vec<T> {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        self.as_slice().sources()
    }
}

/// An entry of a path map: a key and its target, or a node's name, which is its own key.
pub trait PathMapEntry {
    /// Returns the key and the node.
    #[doc(hidden)]
    fn entry(self) -> (String, NodeName);
}

impl<T: AsRef<str> + ?Sized> PathMapEntry for &T {
    fn entry(self) -> (String, NodeName) {
        (self.as_ref().to_owned(), self.as_ref().into())
    }
}

impl PathMapEntry for String {
    fn entry(self) -> (String, NodeName) {
        self.as_str().entry()
    }
}

impl<K: Into<String>, N: AsRef<str>> PathMapEntry for (K, N) {
    fn entry(self) -> (String, NodeName) {
        (self.0.into(), self.1.as_ref().into())
    }
}
