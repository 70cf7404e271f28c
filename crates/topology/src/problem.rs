//! What makes a graph impossible to run, found when it is compiled.

use std::fmt;

use crate::{Lint, NodeName};

mod check;
#[cfg(test)]
mod tests;

pub use check::{check, problems};

/// One reason why a graph cannot be compiled.
///
/// # Examples
///
/// ```
/// use langgraph_topology::{CompilationError, Topology, problems};
///
/// let empty = Topology::default();
/// assert_eq!(problems(&empty), [CompilationError::NoEntryPoint]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompilationError {
    /// A node has no name.
    EmptyName,

    /// A node has the name of START or END.
    ReservedName {
        /// The name.
        name: NodeName,
    },

    /// A node's name has a character that separates names in paths.
    ReservedCharacter {
        /// The name.
        name: NodeName,
        /// The character, `|` or `:`.
        character: char,
    },

    /// Two nodes have one name.
    DuplicateNode {
        /// The name.
        name: NodeName,
    },

    /// A line starts at END.
    EndAsSource {
        /// Where the line leads.
        target: NodeName,
    },

    /// A line leads to START.
    StartAsTarget {
        /// Where the line comes from.
        from: NodeName,
    },

    /// A join waits for nothing.
    EmptyJoin {
        /// Where the join leads.
        target: NodeName,
    },

    /// A join waits for START.
    StartInJoin {
        /// Where the join leads.
        target: NodeName,
    },

    /// A join names a node that was never added.
    UnknownJoinNode {
        /// The unknown name, a source or the target.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// A line starts at a node that was never added.
    UnknownSource {
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// Nothing leads away from START.
    NoEntryPoint,

    /// A line leads to a node that was never added.
    UnknownTarget {
        /// Where the line comes from.
        from: NodeName,
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// A list of breakpoints names a node that was never added.
    UnknownInterruptNode {
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// An old name is given to a node that was never added.
    UnknownAliasNode {
        /// The old name.
        alias: NodeName,
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// An old name stands for two nodes.
    AliasTaken {
        /// The old name.
        alias: NodeName,
        /// The node that is to have it.
        node: NodeName,
    },

    /// A plain line leads to a worker.
    WorkerWithoutItem {
        /// Where the line comes from.
        from: NodeName,
        /// The worker.
        worker: NodeName,
    },

    /// A lint, where lints are denied.
    Lint(Lint),
}

impl fmt::Display for CompilationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyName => f.write_str("a node has an empty name; give it one in `add_node`"),
            Self::ReservedName { name } => {
                write!(f, "`{name}` is reserved; give the node another name")
            }
            Self::ReservedCharacter { name, character } => write!(
                f,
                "the node name `{name}` contains `{character}`, which is reserved; leave it out"
            ),
            Self::DuplicateNode { name } => write!(
                f,
                "two nodes are called `{name}`; give one of them another name"
            ),
            Self::EndAsSource { target } => write!(
                f,
                "END ends a branch, so no edge can lead from it to `{target}`; remove that edge"
            ),
            Self::StartAsTarget { from } => write!(
                f,
                "START is where a run begins, so no edge can lead to it from `{from}`; \
                 for a loop, name the node to go back to"
            ),
            Self::EmptyJoin { target } => write!(
                f,
                "the edge to `{target}` waits for no nodes; name at least one source"
            ),
            Self::StartInJoin { target } => write!(
                f,
                "`{target}` waits for START, which is no node; give it an edge from START instead"
            ),
            Self::UnknownJoinNode { node, did_you_mean } => write!(
                f,
                "the edge that waits for several nodes names `{node}`, which is no node{}",
                suggested(did_you_mean.as_ref())
            ),
            Self::UnknownSource { node, did_you_mean } => write!(
                f,
                "an edge starts at `{node}`, which is no node{}",
                suggested(did_you_mean.as_ref())
            ),
            Self::NoEntryPoint => {
                f.write_str("the graph has no entry point; add an edge from START")
            }
            Self::UnknownTarget {
                from,
                node,
                did_you_mean,
            } => write!(
                f,
                "an edge from `{from}` leads to `{node}`, which is no node{}",
                suggested(did_you_mean.as_ref())
            ),
            Self::UnknownInterruptNode { node, did_you_mean } => write!(
                f,
                "the breakpoints name `{node}`, which is no node{}",
                suggested(did_you_mean.as_ref())
            ),
            Self::UnknownAliasNode {
                alias,
                node,
                did_you_mean,
            } => write!(
                f,
                "`{alias}` is to be an alias of `{node}`, which is no node{}",
                suggested(did_you_mean.as_ref())
            ),
            Self::AliasTaken { alias, node } => write!(
                f,
                "`{alias}` is to be an alias of `{node}`, and stands for another node already; \
                 a name leads to one node"
            ),
            Self::WorkerWithoutItem { from, worker } => write!(
                f,
                "`{worker}` takes an item, and the edge from `{from}` has none to give; \
                 start it with a map or a send"
            ),
            Self::Lint(lint) => lint.fmt(f),
        }
    }
}

impl std::error::Error for CompilationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // It says what the lint says, so what is behind it comes next.
            Self::Lint(lint) => lint.source(),
            _ => None,
        }
    }
}

impl From<Lint> for CompilationError {
    fn from(lint: Lint) -> Self {
        Self::Lint(lint)
    }
}

fn suggested(name: Option<&NodeName>) -> String {
    name.map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

/// Every reason why a graph cannot be compiled, in a fixed order.
///
/// It is never empty. It prints as a numbered list, or as the one error it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilationErrors(Vec<CompilationError>);

impl CompilationErrors {
    /// The errors, the one to fix first at the front.
    pub fn iter(&self) -> std::slice::Iter<'_, CompilationError> {
        self.0.iter()
    }

    /// The errors as a slice.
    pub fn as_slice(&self) -> &[CompilationError] {
        &self.0
    }
}

impl fmt::Display for CompilationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.as_slice() {
            return write!(f, "the graph cannot be compiled: {only}");
        }
        write!(
            f,
            "the graph cannot be compiled, for {} reasons:",
            self.0.len()
        )?;
        for (place, error) in self.iter().enumerate() {
            write!(f, "\n  {}. {error}", place + 1)?;
        }
        Ok(())
    }
}

impl std::error::Error for CompilationErrors {}

impl IntoIterator for CompilationErrors {
    type Item = CompilationError;
    type IntoIter = std::vec::IntoIter<CompilationError>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a CompilationErrors {
    type Item = &'a CompilationError;
    type IntoIter = std::slice::Iter<'a, CompilationError>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
