//! Reasons why a graph does not compile.

use std::fmt;

use crate::rules::{self, At, Finding, JoinPart, Rule, in_place};
use crate::similar::did_you_mean;
use crate::{Lint, NodeName, Topology, lint};

#[cfg(test)]
mod tests;

/// A reason why a graph does not compile.
///
/// # Examples
///
/// ```
/// use langgraph::graph::{CompilationError, Topology, problems};
///
/// let empty = Topology::default();
/// assert_eq!(problems(&empty), [CompilationError::NoEntryPoint]);
/// ```
#[derive(Clone, PartialEq, Eq)]
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

    /// An edge starts at END.
    EndAsSource {
        /// The target of the edge.
        target: NodeName,
    },

    /// An edge leads to START.
    StartAsTarget {
        /// The source of the edge.
        from: NodeName,
    },

    /// A join waits for nothing.
    EmptyJoin {
        /// The target of the join.
        target: NodeName,
    },

    /// A join waits for START.
    StartInJoin {
        /// The target of the join.
        target: NodeName,
    },

    /// A join names a node that was never added.
    UnknownJoinNode {
        /// The unknown name, a source or the target.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// An edge starts at a node that was never added.
    UnknownSource {
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// No edge starts at START.
    NoEntryPoint,

    /// An edge leads to a node that was never added.
    UnknownTarget {
        /// The source of the edge.
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

    /// An alias points to a node that was never added.
    UnknownAliasNode {
        /// The alias.
        alias: NodeName,
        /// The unknown name.
        node: NodeName,
        /// A node with a similar name.
        did_you_mean: Option<NodeName>,
    },

    /// An alias belongs to two nodes.
    AliasTaken {
        /// The alias.
        alias: NodeName,
        /// The second node that claims it.
        node: NodeName,
    },

    /// A plain edge leads to a worker.
    WorkerWithoutItem {
        /// The source of the edge.
        from: NodeName,
        /// The worker.
        worker: NodeName,
    },

    /// A bound is that of an edge that was never added.
    BoundWithoutEdge {
        /// The source of the edge.
        from: NodeName,
        /// The target of the edge.
        to: NodeName,
    },

    /// The declared input or output names a field that the state does not have.
    UnknownField {
        /// `input` or `output`.
        list: &'static str,
        /// The unknown name.
        field: String,
        /// A field with a similar name.
        did_you_mean: Option<String>,
    },

    /// An edge has two bounds.
    DuplicateBound {
        /// The source of the edge.
        from: NodeName,
        /// The target of the edge.
        to: NodeName,
    },

    /// A lint, if lints are denied.
    Lint(Lint),
}

impl CompilationError {
    /// Returns true if the edges are what the user meant, so that lints about them apply.
    fn leaves_edges_intact(&self) -> bool {
        matches!(
            self,
            Self::ReservedCharacter { .. }
                | Self::UnknownInterruptNode { .. }
                | Self::UnknownAliasNode { .. }
                | Self::AliasTaken { .. }
                | Self::BoundWithoutEdge { .. }
                | Self::UnknownField { .. }
                | Self::DuplicateBound { .. }
        )
    }
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
                suggested(did_you_mean.as_deref())
            ),
            Self::UnknownSource { node, did_you_mean } => write!(
                f,
                "an edge starts at `{node}`, which is no node{}",
                suggested(did_you_mean.as_deref())
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
                suggested(did_you_mean.as_deref())
            ),
            Self::UnknownInterruptNode { node, did_you_mean } => write!(
                f,
                "the breakpoints name `{node}`, which is no node{}",
                suggested(did_you_mean.as_deref())
            ),
            Self::UnknownAliasNode {
                alias,
                node,
                did_you_mean,
            } => write!(
                f,
                "`{alias}` is to be an alias of `{node}`, which is no node{}",
                suggested(did_you_mean.as_deref())
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
            Self::BoundWithoutEdge { from, to } => write!(
                f,
                "the edge from `{from}` to `{to}` has a bound, and there is no such edge to a node; add it, \
                 or remove the bound"
            ),
            Self::DuplicateBound { from, to } => write!(
                f,
                "the edge from `{from}` to `{to}` has two bounds; remove one"
            ),
            Self::UnknownField {
                list,
                field,
                did_you_mean,
            } => write!(
                f,
                "the graph's {list} names `{field}`, and the state has no such field{}",
                suggested(did_you_mean.as_deref())
            ),
            Self::Lint(lint) => lint.fmt(f),
        }
    }
}

impl std::error::Error for CompilationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Its message is that of the lint, so its source is the source of the lint.
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

fn suggested(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean `{name}`?"))
        .unwrap_or_default()
}

crate::debug_is_message!(CompilationError);

/// All reasons why a graph does not compile, in a fixed order.
///
/// The list is never empty. It prints as a numbered list, or as its only error.
#[derive(Clone, PartialEq, Eq)]
pub struct CompilationErrors(Vec<CompilationError>);

impl CompilationErrors {
    /// Returns the errors; the first should be fixed first.
    pub fn iter(&self) -> std::slice::Iter<'_, CompilationError> {
        self.0.iter()
    }

    /// Returns the errors as a slice.
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

/// Prints the message, so that `fn main() -> Result<(), Box<dyn Error>>` shows it; `{:#?}` prints the list.
impl fmt::Debug for CompilationErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            f.debug_tuple("CompilationErrors").field(&self.0).finish()
        } else {
            fmt::Display::fmt(self, f)
        }
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

/// Checks a graph for [`problems`], and for [`lints`](crate::lints) if lints are denied.
///
/// `aliases` are former names of nodes, each with the current name. A [closed](Topology::closed)
/// graph always denies lints.
///
/// # Errors
///
/// All mistakes of the graph at once.
pub fn check(
    topology: &Topology,
    aliases: &[(NodeName, NodeName)],
    deny_lints: bool,
) -> Result<(), CompilationErrors> {
    let mut found = problems(topology);
    let in_aliases = in_place(vec![
        rules::unknown_alias_node(topology, aliases),
        rules::alias_taken(topology, aliases),
    ]);
    for finding in &in_aliases {
        found.extend(in_words(topology, aliases, finding));
    }
    if deny_lints || topology.closed {
        // Most lints of broken edges would not apply to the intended ones.
        let lints = if found.iter().all(CompilationError::leaves_edges_intact) {
            lint::lints(topology)
        } else {
            lint::line_lints(topology)
        };
        for lint in lints {
            found.push(CompilationError::Lint(lint));
        }
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(CompilationErrors(found))
    }
}

/// Returns everything that prevents a graph from running, in a fixed order: names, impossible
/// edges, unknown sources, the entry point, unknown targets, breakpoints, workers, bounds,
/// fields.
///
/// # Examples
///
/// ```
/// use langgraph::graph::{CompilationError, Topology, problems};
///
/// assert_eq!(problems(&Topology::default()), [CompilationError::NoEntryPoint]);
/// ```
pub fn problems(topology: &Topology) -> Vec<CompilationError> {
    let names = in_place(vec![
        rules::duplicate_node(topology),
        rules::empty_name(topology),
        rules::reserved_name(topology),
        rules::reserved_character(topology),
    ]);
    let impossible_lines = in_place(vec![
        rules::end_as_source(topology),
        rules::start_as_target(topology),
        rules::empty_join(topology),
        rules::start_in_join(topology),
        rules::unknown_join_node(topology),
    ]);
    let found = [
        names,
        impossible_lines,
        rules::unknown_source(topology),
        rules::no_entry_point(topology),
        rules::unknown_target(topology),
        rules::unknown_interrupt_node(topology),
        rules::worker_without_item(topology),
        rules::bound_without_edge(topology),
        rules::duplicate_bound(topology),
        rules::unknown_field(topology),
    ];
    let mut problems = Vec::new();
    for finding in found.iter().flatten() {
        problems.extend(in_words(topology, &[], finding));
    }
    problems
}

/// Converts a finding, unless its rule is a lint.
#[allow(clippy::too_many_lines)] // one arm for each rule
fn in_words(
    topology: &Topology,
    aliases: &[(NodeName, NodeName)],
    Finding { rule, at }: &Finding,
) -> Option<CompilationError> {
    let (from, to) = (at.source(topology), at.target(topology));
    let names = topology.nodes.iter().map(|node| &*node.name);
    let similar = |name: &str| did_you_mean(name, names).map(NodeName::from);
    let alias = match at {
        At::Alias(alias) => aliases.get(*alias).cloned(),
        _ => None,
    };
    let bounded = match at {
        At::Exit(bound) => topology.edge_bounds.get(*bound),
        _ => None,
    };
    let bounded = bounded.map(|bound| (bound.from.clone(), bound.to.clone()));
    Some(match rule {
        Rule::EmptyName => CompilationError::EmptyName,
        Rule::ReservedName => CompilationError::ReservedName {
            name: from?.clone(),
        },
        Rule::ReservedCharacter { character } => CompilationError::ReservedCharacter {
            name: from?.clone(),
            character: *character,
        },
        Rule::DuplicateNode { .. } => CompilationError::DuplicateNode {
            name: from?.clone(),
        },
        Rule::EndAsSource => match to {
            Some(target) => CompilationError::EndAsSource {
                target: target.clone(),
            },
            // A decision after END has no single target.
            None => CompilationError::UnknownSource {
                node: from?.clone(),
                did_you_mean: similar(from?),
            },
        },
        Rule::StartAsTarget => CompilationError::StartAsTarget {
            from: from.or(to)?.clone(),
        },
        Rule::EmptyJoin => CompilationError::EmptyJoin {
            target: to?.clone(),
        },
        Rule::StartInJoin => CompilationError::StartInJoin {
            target: to?.clone(),
        },
        Rule::UnknownJoinNode => {
            let is_target = matches!(at, At::Join(_, JoinPart::Target));
            let node = if is_target { to? } else { from? };
            CompilationError::UnknownJoinNode {
                node: node.clone(),
                did_you_mean: similar(node),
            }
        }
        Rule::UnknownSource => CompilationError::UnknownSource {
            node: from?.clone(),
            did_you_mean: similar(from?),
        },
        Rule::NoEntryPoint => CompilationError::NoEntryPoint,
        Rule::UnknownTarget => CompilationError::UnknownTarget {
            from: from?.clone(),
            node: to?.clone(),
            did_you_mean: similar(to?),
        },
        Rule::UnknownInterruptNode => CompilationError::UnknownInterruptNode {
            node: to?.clone(),
            did_you_mean: similar(to?),
        },
        Rule::UnknownAliasNode => {
            let (alias, node) = alias?;
            CompilationError::UnknownAliasNode {
                alias,
                did_you_mean: similar(&node),
                node,
            }
        }
        Rule::AliasTaken => {
            let (alias, node) = alias?;
            CompilationError::AliasTaken { alias, node }
        }
        Rule::WorkerWithoutItem => CompilationError::WorkerWithoutItem {
            from: from?.clone(),
            worker: to?.clone(),
        },
        Rule::BoundWithoutEdge => {
            let (from, to) = bounded?;
            CompilationError::BoundWithoutEdge { from, to }
        }
        Rule::DuplicateBound { .. } => {
            let (from, to) = bounded?;
            CompilationError::DuplicateBound { from, to }
        }
        Rule::UnknownField => {
            let (list, names, place) = match at {
                At::Input(place) => ("input", &topology.input, *place),
                At::Output(place) => ("output", &topology.output, *place),
                _ => return None,
            };
            let field = names.as_ref()?.get(place)?;
            let known = topology.fields.iter().map(|field| field.name.as_str());
            CompilationError::UnknownField {
                list,
                field: field.clone(),
                did_you_mean: did_you_mean(field, known).map(str::to_owned),
            }
        }
        Rule::CycleWithoutExit { .. }
        | Rule::DeadEnd
        | Rule::DuplicateEdge { .. }
        | Rule::DuplicateJoin { .. }
        | Rule::DuplicateJoinSource { .. }
        | Rule::DuplicateTarget { .. }
        | Rule::EmptyGraph
        | Rule::EndlessCycle { .. }
        | Rule::EndlessMap
        | Rule::JoinOnExclusiveArms { .. }
        | Rule::JoinOnOwnDownstream
        | Rule::NeverRead { .. }
        | Rule::ParallelWrites { .. }
        | Rule::ReadBeforeWrite { .. }
        | Rule::UndeclaredGoto
        | Rule::UnreachableNode { .. } => return None,
    })
}
