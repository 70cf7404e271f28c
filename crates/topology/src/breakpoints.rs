//! Conversions from lists of names to breakpoints.

use crate::{Breakpoints, NodeName};

impl<T: AsRef<str>, const N: usize> From<[T; N]> for Breakpoints {
    fn from(nodes: [T; N]) -> Self {
        nodes.into_iter().collect()
    }
}

impl<T: AsRef<str>> From<Vec<T>> for Breakpoints {
    fn from(nodes: Vec<T>) -> Self {
        nodes.into_iter().collect()
    }
}

impl<T: AsRef<str>> FromIterator<T> for Breakpoints {
    fn from_iter<I: IntoIterator<Item = T>>(nodes: I) -> Self {
        let nodes = nodes.into_iter().map(|node| node.as_ref().into());
        let nodes: Vec<NodeName> = nodes.collect();
        if nodes.is_empty() {
            Self::None
        } else {
            Self::Nodes(nodes)
        }
    }
}
