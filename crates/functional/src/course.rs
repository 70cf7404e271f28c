//! What has run, as a graph.

use std::collections::BTreeMap;

use langgraph::graph::Topology;
use langgraph::prelude::*;
use langgraph::stream::Event;

use crate::task::TaskState;

/// The tasks that an entrypoint has called, as a graph: each call is a node, and its edges come from the calls that
/// had ended when it began. Calls side by side are branches.
///
/// An entrypoint itself is a graph of one node, whatever it will call. This is its picture afterwards, or while it
/// runs. It reads the events of mode [`Tasks`](StreamMode::Tasks), with
/// [subgraphs](langgraph::stream::StreamOptions::subgraphs); after an interrupt, the same value reads the next run too.
/// Tasks that tasks have called are left out.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::stream::StreamOptions;
/// use langgraph_functional::{Course, EntrypointExt, entrypoint, task};
///
/// #[task]
/// async fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// #[entrypoint]
/// async fn sums(cx: &Context) -> Result<i64, NodeError> {
///     let (first, second) = tokio::try_join!(add(1, 2).on(cx), add(3, 4).on(cx))?;
///     add(first, second).on(cx).await
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = sums.compile()?;
/// let mut events = graph.run(sums()).stream(StreamOptions::new(StreamMode::Tasks).subgraphs());
/// let mut course = Course::default();
/// while let Some(event) = events.next().await {
///     course.read(&event?);
/// }
/// let picture = course.topology()?;
/// println!("{}", picture.draw().terminal());
/// let names: Vec<_> = picture.nodes.iter().map(|node| &*node.name).collect();
/// assert_eq!(names, ["add", "add 2", "add 3"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Course {
    calls: Vec<Call>,
    /// How often each task was called.
    counts: BTreeMap<String, usize>,
    /// The calls that run, by the names of their tasks.
    running: Vec<(String, usize)>,
    /// The calls that the next one follows.
    before: Vec<usize>,
    /// The calls that have ended since a call began.
    ended: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Call {
    name: String,
    after: Vec<usize>,
}

impl Course {
    /// Reads an event of a run. Events of other modes change nothing.
    pub fn read<S: State>(&mut self, event: &Event<S>) {
        let (1, EventKind::Inner(inner)) = (event.namespace.len(), &event.kind) else {
            return;
        };
        match inner.typed::<TaskState>() {
            Some(EventKind::TaskStarted(task)) => self.begin(&task.node),
            Some(EventKind::TaskFinished(task)) => {
                // One that waits for an answer, or has failed, begins again.
                let done = task.error.is_none() && task.interrupts.is_empty();
                self.end(&task.node, done);
            }
            _ => {}
        }
    }

    fn begin(&mut self, task: &str) {
        if !self.ended.is_empty() {
            self.before = std::mem::take(&mut self.ended);
            self.before.sort_unstable();
        }
        let count = self.counts.entry(task.to_owned()).or_default();
        *count += 1;
        let name = match *count {
            1 => task.to_owned(),
            count => format!("{task} {count}"),
        };
        self.running.push((task.to_owned(), self.calls.len()));
        self.calls.push(Call {
            name,
            after: self.before.clone(),
        });
    }

    fn end(&mut self, task: &str, done: bool) {
        let running = self.running.iter().position(|(name, _)| name == task);
        if let Some(found) = running.map(|found| self.running.remove(found).1)
            && done
        {
            self.ended.push(found);
        }
    }

    /// Returns the graph of the calls, for a drawing.
    ///
    /// # Errors
    ///
    /// If there is nothing to draw: no task was called.
    pub fn topology(&self) -> Result<Topology, CompilationErrors> {
        let mut graph = StateGraph::<TaskState>::new();
        for call in &self.calls {
            graph.add_node(call.name.as_str(), |_: &TaskState| ());
            if call.after.is_empty() {
                graph.add_edge(START, call.name.as_str());
            }
            for before in call.after.iter().filter_map(|at| self.calls.get(*at)) {
                graph.add_edge(before.name.as_str(), call.name.as_str());
            }
        }
        Ok(graph.compile()?.topology().clone())
    }
}
