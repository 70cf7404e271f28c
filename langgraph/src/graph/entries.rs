//! What the builder's calls take: one node or several, entries of path maps.

use super::NodeName;

/// What an edge starts from: one node, or several that are all waited for.
pub trait EdgeSources {
    /// The sources; `Err` holds the several of a join.
    #[doc(hidden)]
    fn sources(self) -> Result<NodeName, Vec<NodeName>>;
}

impl EdgeSources for &str {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Ok(self.into())
    }
}

impl EdgeSources for String {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Ok(self.into())
    }
}

impl EdgeSources for NodeName {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Ok(self)
    }
}

impl<T: Into<NodeName>, const N: usize> EdgeSources for [T; N] {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Err(self.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<NodeName>> EdgeSources for Vec<T> {
    fn sources(self) -> Result<NodeName, Vec<NodeName>> {
        Err(self.into_iter().map(Into::into).collect())
    }
}

/// One entry of a path map: a key and where it leads, or a node's name, which is its own key.
pub trait PathMapEntry {
    /// The key and the node.
    #[doc(hidden)]
    fn entry(self) -> (String, NodeName);
}

impl PathMapEntry for &str {
    fn entry(self) -> (String, NodeName) {
        (self.to_owned(), self.into())
    }
}

impl PathMapEntry for String {
    fn entry(self) -> (String, NodeName) {
        (self.clone(), self.into())
    }
}

impl<K: Into<String>, N: Into<NodeName>> PathMapEntry for (K, N) {
    fn entry(self) -> (String, NodeName) {
        (self.0.into(), self.1.into())
    }
}
