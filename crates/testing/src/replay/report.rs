//! What a replay has found.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// What a [`replay`](crate::replay) has found. It prints a line for each divergence and each task that
/// was not checked, and a line with the sums.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ReplayReport {
    /// The graph.
    pub graph: String,
    /// Its threads, by name.
    pub threads: Vec<ThreadReplay>,
    /// The graphs of other threads on the saver, which are not replayed.
    pub other_graphs: BTreeSet<String>,
}

/// What a replay has found about one thread.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ThreadReplay {
    /// The thread.
    pub thread: String,
    /// How many supersteps were replayed, those of graphs inside nodes too.
    pub supersteps: usize,
    /// How many of them were compared and are the same, without those that only take an input.
    pub compared: usize,
    /// The first difference.
    pub divergence: Option<Divergence>,
    /// The others, of a replay with [`every_divergence`](crate::Replay::every_divergence).
    pub later: Vec<Divergence>,
    /// What could not be replayed.
    pub unchecked: Vec<Unchecked>,
    /// Why nothing of the thread was replayed: what is stored of it cannot be read.
    pub unreadable: Option<String>,
}

/// Where a thread goes another way on today's graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Divergence {
    /// The path of nodes to the graph; empty at the root.
    pub graph: Vec<String>,
    /// The superstep of that graph.
    pub superstep: i64,
    /// The node; `__start__` for what the input starts, `__end__` for the state at the end of the thread.
    pub node: String,
    /// The field of the state; or `value` of a state without fields, `interrupt`, `goto`, `next` (the
    /// nodes that follow), `outcome`.
    pub field: String,
    /// What is stored.
    pub expected: Value,
    /// What today's graph gives.
    pub got: Value,
}

/// What could not be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Unchecked {
    /// The path of nodes to the graph; empty at the root.
    pub graph: Vec<String>,
    /// The superstep of that graph.
    pub superstep: i64,
    /// The node; none for the whole superstep.
    pub node: Option<String>,
    /// Why.
    pub reason: String,
}

impl ReplayReport {
    pub(super) fn new(graph: &str) -> Self {
        Self {
            graph: graph.to_owned(),
            threads: Vec::new(),
            other_graphs: BTreeSet::new(),
        }
    }

    /// Returns the threads that diverge.
    pub fn diverged(&self) -> impl Iterator<Item = (&str, &Divergence)> {
        let threads = self.threads.iter();
        threads.filter_map(|thread| Some((&*thread.thread, thread.divergence.as_ref()?)))
    }

    /// Returns true if something was compared, no thread diverges, and all can be read. It is false if the
    /// saver has no thread of the graph, because of another name perhaps, or if nothing of its threads was
    /// checked.
    pub fn is_same(&self) -> bool {
        let unreadable = self
            .threads
            .iter()
            .any(|thread| thread.unreadable.is_some());
        self.compared() > 0 && self.diverged().next().is_none() && !unreadable
    }

    /// Returns how many supersteps were compared and are the same.
    pub(crate) fn compared(&self) -> usize {
        self.threads.iter().map(|thread| thread.compared).sum()
    }
}

impl ThreadReplay {
    pub(super) fn new(thread: &str) -> Self {
        Self {
            thread: thread.to_owned(),
            supersteps: 0,
            compared: 0,
            divergence: None,
            later: Vec::new(),
            unchecked: Vec::new(),
            unreadable: None,
        }
    }

    /// Adds a divergence.
    pub(super) fn diverges(&mut self, divergence: Divergence) {
        match &self.divergence {
            None => self.divergence = Some(divergence),
            Some(_) => self.later.push(divergence),
        }
    }

    /// Returns all divergences that were looked for.
    pub(crate) fn divergences(&self) -> impl Iterator<Item = &Divergence> {
        self.divergence.iter().chain(&self.later)
    }
}

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for thread in &self.threads {
            for unchecked in &thread.unchecked {
                writeln!(f, "thread `{}`, {unchecked}", thread.thread)?;
            }
            if let Some(why) = &thread.unreadable {
                writeln!(f, "thread `{}` cannot be replayed: {why}", thread.thread)?;
            }
            for divergence in thread.divergences() {
                writeln!(f, "thread `{}`, {divergence}", thread.thread)?;
            }
        }
        let threads = self.threads.iter();
        write!(
            f,
            "graph `{}`: {} of {} threads diverge; {} supersteps replayed, {} not checked",
            self.graph,
            self.diverged().count(),
            self.threads.len(),
            threads
                .clone()
                .map(|thread| thread.supersteps)
                .sum::<usize>(),
            threads.map(|thread| thread.unchecked.len()).sum::<usize>(),
        )?;
        if self.compared() > 0 || self.diverged().next().is_some() {
            return Ok(());
        }
        write!(f, "; nothing was compared")?;
        if self.threads.is_empty() && !self.other_graphs.is_empty() {
            let others: Vec<_> = self.other_graphs.iter().map(|name| &**name).collect();
            write!(f, ", the threads belong to `{}`", others.join("`, `"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(f, &self.graph, self.superstep, Some(&self.node))?;
        let Self {
            field,
            expected,
            got,
            ..
        } = self;
        write!(f, ", `{field}`: expected {expected}, got {got}")
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(f, &self.graph, self.superstep, self.node.as_deref())?;
        write!(f, " is not checked: {}", self.reason)
    }
}

fn place(
    f: &mut fmt::Formatter<'_>,
    graph: &[String],
    superstep: i64,
    node: Option<&str>,
) -> fmt::Result {
    if !graph.is_empty() {
        write!(f, "graph in `{}`, ", graph.join("/"))?;
    }
    write!(f, "superstep {superstep}")?;
    match node {
        Some(node) => write!(f, ", node `{node}`"),
        None => Ok(()),
    }
}
