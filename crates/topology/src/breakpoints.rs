//! Lists of names as breakpoints.

use crate::{Breakpoints, NodeName};

impl<T: Into<NodeName>, const N: usize> From<[T; N]> for Breakpoints {
    fn from(nodes: [T; N]) -> Self {
        nodes.into_iter().collect()
    }
}

impl<T: Into<NodeName>> From<Vec<T>> for Breakpoints {
    fn from(nodes: Vec<T>) -> Self {
        nodes.into_iter().collect()
    }
}

impl<T: Into<NodeName>> FromIterator<T> for Breakpoints {
    fn from_iter<I: IntoIterator<Item = T>>(nodes: I) -> Self {
        let nodes: Vec<NodeName> = nodes.into_iter().map(Into::into).collect();
        if nodes.is_empty() {
            Self::None
        } else {
            Self::Nodes(nodes)
        }
    }
}
