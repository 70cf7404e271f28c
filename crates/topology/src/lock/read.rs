//! Reads the text of a lock.

use std::fmt;

use super::shapes::parse;
use super::words::{Word, words};
use crate::{
    Arm, Branch, Destinations, Edge, EdgeBound, FieldInfo, Join, KeyInfo, KeyKind, NodeInfo,
    NodeKind, NodeName, StateInfo, Topology,
};

/// A line that is none of a lock.
///
/// Its debug form is its message.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyntaxError {
    /// The line.
    pub line: usize,
    /// Its text.
    pub text: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: `{}` is no line of a lock; restore the file from the last release, or solve its merge conflict",
            self.line, self.text
        )
    }
}

crate::debug_is_message!(SyntaxError);

impl std::error::Error for SyntaxError {}

/// Reads the graphs of a lock. They have what [`write`](super::write) writes, and nothing else.
///
/// # Errors
///
/// [`SyntaxError`] for the first line that is none of a lock.
///
/// # Examples
///
/// ```
/// use langgraph::graph::lock;
///
/// let graphs = lock::read("graph orders\n  node approve\n")?;
/// assert_eq!((&*graphs[0].name, &*graphs[0].nodes[0].name), ("orders", "approve"));
/// # Ok::<(), lock::SyntaxError>(())
/// ```
pub fn read(text: &str) -> Result<Vec<Topology>, SyntaxError> {
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        let depth = text.chars().take_while(|c| *c == ' ').count();
        let Some(words) = words(text) else {
            return Err(unknown(number, text));
        };
        lines.push(LockLine {
            number,
            text,
            depth,
            words,
        });
    }
    let mut graphs = Vec::new();
    let mut rest = lines.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        let [word, name] = first.words.as_slice() else {
            return Err(first.unknown());
        };
        if !word.is("graph") || first.depth != 0 {
            return Err(first.unknown());
        }
        let (graph, behind) = graph(name.text.clone(), behind, 0)?;
        graphs.push(graph);
        rest = behind;
    }
    Ok(graphs)
}

struct LockLine<'t> {
    number: usize,
    text: &'t str,
    /// The spaces before it.
    depth: usize,
    words: Vec<Word>,
}

impl LockLine<'_> {
    fn unknown(&self) -> SyntaxError {
        unknown(self.number, self.text)
    }
}

fn unknown(line: usize, text: &str) -> SyntaxError {
    let text = text.trim().to_owned();
    SyntaxError { line, text }
}

/// The lines that are left.
type Rest<'l, 't> = &'l [LockLine<'t>];

/// Reads the lines that are deeper than `depth`.
fn graph<'l, 't>(
    name: String,
    mut lines: Rest<'l, 't>,
    depth: usize,
) -> Result<(Topology, Rest<'l, 't>), SyntaxError> {
    let mut graph = Topology {
        name,
        ..Topology::default()
    };
    let own = lines.first().map(|line| line.depth);
    while let Some((line, behind)) = lines.split_first() {
        if line.depth <= depth {
            break;
        }
        if Some(line.depth) != own {
            return Err(line.unknown());
        }
        lines = if let Some(node) = node(&line.words) {
            let (node, behind) = inside(node, behind, line.depth)?;
            graph.nodes.push(node);
            behind
        } else {
            part(&mut graph, &line.words).ok_or_else(|| line.unknown())?;
            behind
        };
    }
    Ok((graph, lines))
}

/// Reads the keys of a node and the parts of its subgraph.
fn inside<'l, 't>(
    mut node: NodeInfo,
    mut lines: Rest<'l, 't>,
    depth: usize,
) -> Result<(NodeInfo, Rest<'l, 't>), SyntaxError> {
    while let Some((line, behind)) = lines.split_first() {
        if line.depth <= depth {
            break;
        }
        let Some(key) = key(&line.words) else { break };
        node.keys.push(key);
        lines = behind;
    }
    if let NodeKind::Subgraph(inner) = &mut node.kind {
        let name = std::mem::take(&mut inner.name);
        (**inner, lines) = graph(name, lines, depth)?;
    }
    Ok((node, lines))
}

fn key(words: &[Word]) -> Option<KeyInfo> {
    let (words, shape) = shape(words)?;
    let [kind, key, ty] = words else { return None };
    let kind = match () {
        () if kind.is("interrupt") => KeyKind::Interrupt,
        () if kind.is("once") => KeyKind::Once,
        () if kind.is("task") => KeyKind::Task,
        () if kind.is("approval") => KeyKind::Approval,
        () => return None,
    };
    let mut key = KeyInfo::new(key.known(), kind).typed(ty.known());
    key.shape = shape;
    Some(key)
}

/// Reads `= { a: u8 }` at the end of a line, and returns the words before it.
fn shape(words: &[Word]) -> Option<(&[Word], String)> {
    let Some(at) = words.iter().position(|word| word.is("=")) else {
        return Some((words, String::new()));
    };
    let (before, shape) = words.split_at(at);
    let shape: Vec<&str> = shape.iter().skip(1).map(|word| &*word.text).collect();
    let shape = shape.join(" ");
    parse(&shape).is_some().then_some((before, shape))
}

fn node(words: &[Word]) -> Option<NodeInfo> {
    let [word, name, options @ ..] = words else {
        return None;
    };
    if !word.is("node") {
        return None;
    }
    let mut node = NodeInfo::new(&name.text);
    for option in options.chunks(2) {
        let [word, value] = option else { return None };
        match &*word.text {
            "worker" => {
                node.kind = NodeKind::Worker;
                node.item = value.known();
            }
            "subgraph" => {
                let inner = Topology {
                    name: value.text.clone(),
                    ..Topology::default()
                };
                node.kind = NodeKind::Subgraph(Box::new(inner));
            }
            "remote" => {
                let agent = value.text.clone();
                node.kind = NodeKind::Remote { agent };
            }
            "alias" => node.aliases.push(value.text.clone()),
            _ => return None,
        }
    }
    Some(node)
}

/// Reads a line that is no node. `None` if it is no part of a graph.
fn part(graph: &mut Topology, words: &[Word]) -> Option<()> {
    let (word, rest) = words.split_first()?;
    match &*word.text {
        "state" => graph.state = Some(state(rest)?),
        "field" => graph.fields.push(field(rest)?),
        "edge" => {
            let (from, to) = arrow(rest, "+")?;
            let ([from], [to]) = (&*from, &*to) else {
                return None;
            };
            let (from, to) = (from.clone(), to.clone());
            graph.edges.push(Edge { from, to });
        }
        "join" => {
            let (sources, to) = arrow(rest, "+")?;
            let [target] = &*to else { return None };
            let target = target.clone();
            graph.joins.push(Join { sources, target });
        }
        "route" => graph.branches.push(route(rest)?),
        "goto" => {
            let (from, targets) = arrow(rest, "&")?;
            let [source] = &*from else { return None };
            let source = source.clone();
            graph.destinations.push(Destinations { source, targets });
        }
        "bound" => graph.edge_bounds.push(bound(rest)?),
        _ => return None,
    }
    Some(())
}

/// Reads `a -> b at_most 5 else c`.
fn bound(words: &[Word]) -> Option<EdgeBound> {
    let [from, arrow, to, word, at_most, exit @ ..] = words else {
        return None;
    };
    if !arrow.is("->") || !word.is("at_most") {
        return None;
    }
    let bound = EdgeBound::new(&from.text, &to.text, at_most.text.parse().ok()?);
    match exit {
        [] => Some(bound),
        [word, exit] if word.is("else") => Some(bound.or_else(&exit.text)),
        _ => None,
    }
}

fn state(words: &[Word]) -> Option<StateInfo> {
    let (name, options) = words.split_first()?;
    let mut state = StateInfo::new(name.text.clone());
    for option in options.chunks(2) {
        let [word, value] = option else { return None };
        match &*word.text {
            "version" => state.version = value.text.parse().ok()?,
            "alias" => state.aliases.push(value.text.clone()),
            _ => return None,
        }
    }
    Some(state)
}

fn field(words: &[Word]) -> Option<FieldInfo> {
    let (words, shape) = shape(words)?;
    let [name, ty, options @ ..] = words else {
        return None;
    };
    let mut field = FieldInfo::new(name.text.clone(), false).typed(ty.known());
    field.shape = shape;
    for option in options.chunks(2) {
        let [word, value] = option else { return None };
        match &*word.text {
            "reducer" => {
                field.reduced = true;
                field.reducer = value.known();
            }
            "alias" => field.aliases.push(value.text.clone()),
            _ => return None,
        }
    }
    Some(field)
}

/// Reads `a -> b & c by label`, or `a -> ?`.
fn route(words: &[Word]) -> Option<Branch> {
    let [source, arrow, rest @ ..] = words else {
        return None;
    };
    let source: NodeName = source.text.as_str().into();
    if !arrow.is("->") {
        return None;
    }
    if let [any] = rest
        && any.is("?")
    {
        return Some(Branch { source, arms: None });
    }
    let by = rest.iter().position(|word| word.is("by"))?;
    let (targets, behind) = rest.split_at(by);
    let (label, map) = match behind {
        [_, label] => (label, false),
        [_, label, each] if each.is("each") => (label, true),
        _ => return None,
    };
    let arm = Arm {
        label: label.text.clone(),
        targets: names(targets, "&")?,
        map,
    };
    let arms = Some(vec![arm]);
    Some(Branch { source, arms })
}

/// Reads the names before and after `->`.
fn arrow(words: &[Word], between: &str) -> Option<(Vec<NodeName>, Vec<NodeName>)> {
    let at = words.iter().position(|word| word.is("->"))?;
    let (before, behind) = words.split_at(at);
    let (_, after) = behind.split_first()?;
    Some((names(before, between)?, names(after, between)?))
}

/// Reads names with a sign between them.
fn names(words: &[Word], between: &str) -> Option<Vec<NodeName>> {
    let mut names = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if index % 2 == 0 {
            names.push(word.text.as_str().into());
        } else if !word.is(between) {
            return None;
        }
    }
    (words.is_empty() || words.len() % 2 == 1).then_some(names)
}
