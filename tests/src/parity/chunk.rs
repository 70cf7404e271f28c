//! Converts the events of a run to the chunks that Python streams.

use std::collections::{HashMap, HashSet};

use langgraph::graph::NodeName;
use langgraph::interrupt::Interrupt;
use langgraph::state::Write;
use langgraph::stream::{Event, EventKind, StreamMode, StreamModes};
use serde_json::{Map, Value, json};

use super::case::{GraphSpec, NodeSpec};
use super::compare::sorted;
use super::messages;
use super::schema::Schema;
use super::snapshot;
use super::state::Dynamic;
use super::window::{Chunk, groups};
use super::writes;

/// The requested chunks and their form.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub(super) modes: &'a [String],
    /// The case requested a list of modes, so each chunk names its mode.
    pub(super) tagged: bool,
    pub(super) subgraphs: bool,
}

impl Wanted<'_> {
    /// The modes to ask the library for.
    pub(super) fn modes(&self) -> Result<StreamModes, String> {
        let mut modes = StreamModes::NONE;
        for mode in self.modes {
            modes |= match mode.as_str() {
                // An interrupt appears beside the values, so the start of its task is needed.
                "values" => StreamMode::Values | StreamMode::Tasks,
                "updates" => StreamMode::Updates.into(),
                "tasks" => StreamMode::Tasks.into(),
                "checkpoints" => StreamMode::Checkpoints.into(),
                "custom" => StreamMode::Custom.into(),
                other => return Err(format!("no stream mode `{other}`")),
            };
        }
        Ok(modes)
    }

    fn wants(&self, mode: &str) -> bool {
        self.modes.iter().any(|wanted| wanted == mode)
    }
}

/// Converts events to chunks.
#[derive(Debug)]
pub(super) struct Chunks<'a> {
    wanted: Wanted<'a>,
    root: &'a GraphSpec,
    /// The known facts about each running graph, by its path.
    graphs: HashMap<Vec<NodeName>, Seen>,
    reported: Vec<Chunk>,
    /// The task that streams the current event, if any.
    task: Option<(usize, String)>,
    /// The superstep of the root graph.
    step: usize,
    /// Graphs that stopped at a breakpoint.
    paused: HashSet<Vec<NodeName>>,
    /// The number of breakpoint events of the root graph.
    stopped: usize,
    /// The number of trailing chunks that are starts of tasks from edges.
    started_by_edge: usize,
}

#[derive(Debug, Default)]
struct Seen {
    values: Option<Map<String, Value>>,
    touched: usize,
}

impl<'a> Chunks<'a> {
    pub(super) fn new(wanted: Wanted<'a>, root: &'a GraphSpec) -> Self {
        Self {
            wanted,
            root,
            graphs: HashMap::new(),
            reported: Vec::new(),
            task: None,
            step: 0,
            paused: HashSet::new(),
            stopped: 0,
            started_by_edge: 0,
        }
    }

    /// Returns the chunks, in groups within which the order may vary.
    pub(super) fn groups(mut self) -> Value {
        self.task = None;
        for _ in 0..self.stopped {
            self.push(&[], "updates", json!({ "__interrupt__": [] }));
        }
        groups(self.reported)
    }

    /// Adds the chunks of `event` in Python.
    pub(super) fn see(&mut self, event: Event<Dynamic>) {
        let path = event.namespace.to_vec();
        if path.is_empty() {
            self.step = event.step;
        }
        self.task = racing(&event).map(|task| (self.step, task));
        match event.kind {
            EventKind::Values(state) => self.values(&path, &state),
            EventKind::Update {
                node,
                update: writes,
                cached,
            } => {
                if leaves(&writes) {
                    return;
                }
                let shown = self.writes(&path, &writes);
                let mut chunk = Map::from_iter([(node.to_string(), shown)]);
                if cached {
                    chunk.insert("__metadata__".to_owned(), json!({ "cached": true }));
                }
                self.push(&path, "updates", Value::Object(chunk));
            }
            EventKind::Custom { value, .. } => self.push(&path, "custom", value),
            EventKind::TaskStarted(task) => {
                if task.input.argument.is_none() {
                    self.graph(&path).values = Some(task.input.values().clone());
                }
                let fields = self
                    .node(&path, &task.node)
                    .and_then(|node| node.input_fields.as_ref());
                let input = messages::marked(task.input.input(fields));
                let chunk = json!({ "type": "start", "name": &*task.node, "input": input });
                self.start(&path, task.input.argument.is_some(), chunk);
            }
            // In Python, a task that did not run starts, and never finishes.
            EventKind::TaskFinished(task) if task.cached => {}
            EventKind::TaskFinished(task) => {
                let inside = [path.as_slice(), std::slice::from_ref(&task.node)].concat();
                // A subgraph that has finished writes all its fields.
                let node = self.node(&path, &task.node);
                let stopped = node.is_some_and(|node| node.subgraph.is_some())
                    && task.writes.is_empty()
                    && task.error.is_none()
                    && task.interrupts.is_empty();
                if leaves(&task.writes) || self.paused.remove(&inside) || stopped {
                    return;
                }
                let schema = self.schema(&path);
                let result = writes::shown(&task.writes, |name| schema.has(name));
                let chunk = json!({
                    "type": "finish",
                    "name": &*task.node,
                    "result": messages::unmarked(Value::Object(result)),
                    "error": task.error.as_deref().map(innermost),
                    "interrupts": payloads(&task.interrupts),
                });
                self.push(&path, "tasks", chunk);
            }
            EventKind::Checkpoint(snapshot) => {
                let chunk = json!({
                    "values": messages::marked(snapshot.values.input(None)),
                    "next": snapshot::next(&snapshot),
                    "step": snapshot.step,
                    "source": snapshot.source,
                });
                self.push(&path, "checkpoints", chunk);
            }
            EventKind::Interrupt(interrupts) => self.interrupt(&path, &interrupts),
            _ => {}
        }
    }

    fn values(&mut self, path: &[NodeName], state: &Dynamic) {
        let inner = !path.is_empty();
        let seen = self.graph(path);
        seen.values = Some(state.values().clone());
        let news = seen.touched != state.touched;
        seen.touched = state.touched;
        if !inner {
            self.push(path, "values", Value::Object(state.values().clone()));
        } else if news {
            self.push(path, "values", Value::Object(state.output()));
        }
    }

    fn interrupt(&mut self, path: &[NodeName], interrupts: &[Interrupt]) {
        if interrupts.is_empty() {
            // In Python only the root graph reports a breakpoint, at the end.
            if path.is_empty() {
                self.stopped += 1;
            } else {
                self.paused.insert(path.to_vec());
            }
            return;
        }
        let asked = payloads(interrupts);
        self.push(path, "updates", json!({ "__interrupt__": asked }));
        let schema = self.schema(path);
        let known = self.graphs.get(path).and_then(|seen| seen.values.clone());
        let mut values = known.unwrap_or_else(|| schema.initial());
        if !path.is_empty() {
            values.retain(|name, _| schema.is_output(name));
        }
        values.insert("__interrupt__".to_owned(), asked);
        self.push(path, "values", Value::Object(values));
    }

    /// The fields that a task wrote; `null` if none.
    fn writes(&self, path: &[NodeName], written: &[Write<Dynamic>]) -> Value {
        let schema = self.schema(path);
        let shown = writes::shown(written, |name| {
            schema.has(name) && (path.is_empty() || schema.is_output(name))
        });
        if shown.is_empty() {
            return Value::Null;
        }
        messages::unmarked(Value::Object(shown))
    }

    fn graph(&mut self, path: &[NodeName]) -> &mut Seen {
        self.graphs.entry(path.to_vec()).or_default()
    }

    /// The graph at that place.
    fn spec(&self, path: &[NodeName]) -> &'a GraphSpec {
        let mut graph = self.root;
        for name in path {
            let node = graph.nodes.iter().find(|node| *node.name == **name);
            if let Some(inner) = node.and_then(|node| node.subgraph.as_deref()) {
                graph = inner;
            }
        }
        graph
    }

    /// The fields of the graph at that place.
    fn schema(&self, path: &[NodeName]) -> Schema {
        Schema::of(self.spec(path)).unwrap_or_default()
    }

    /// A node of the graph at that place.
    fn node(&self, path: &[NodeName], name: &str) -> Option<&'a NodeSpec> {
        let nodes = &self.spec(path).nodes;
        nodes
            .iter()
            .map(|node| &**node)
            .find(|node| node.name == name)
    }

    /// In Python the tasks that were sent start first.
    fn start(&mut self, path: &[NodeName], sent: bool, chunk: Value) {
        let (before, by_edge) = (self.reported.len(), self.started_by_edge);
        self.push(path, "tasks", chunk);
        if self.reported.len() == before {
            return;
        }
        self.started_by_edge = if sent {
            if let Some(chunk) = self.reported.pop() {
                self.reported.insert(before - by_edge, chunk);
            }
            by_edge
        } else {
            by_edge + 1
        };
    }

    fn push(&mut self, path: &[NodeName], mode: &str, payload: Value) {
        if !self.wanted.wants(mode) {
            return;
        }
        self.started_by_edge = 0;
        let payload = if mode == "values" {
            messages::marked(payload)
        } else {
            payload
        };
        let path: Vec<&str> = path.iter().map(|name| &**name).collect();
        let value = match (self.wanted.subgraphs, self.wanted.tagged) {
            (false, false) => payload,
            (false, true) => json!([mode, payload]),
            (true, false) => json!([path, payload]),
            (true, true) => json!([path, mode, payload]),
        };
        let task = self.task.clone();
        self.reported.push(Chunk { value, task });
    }
}

/// Returns the task that streamed `event`, if other tasks may run in parallel.
fn racing(event: &Event<Dynamic>) -> Option<String> {
    let node = match &event.kind {
        EventKind::Update { cached: true, .. } | EventKind::TaskStarted(_) => None,
        EventKind::Interrupt(interrupts) => interrupts.first().map(|asked| &*asked.node),
        _ => event.node(),
    };
    if event.namespace.is_empty() {
        return node.map(str::to_owned);
    }
    let path = event.namespace.iter().map(|name| &**name);
    Some(path.chain(node).collect::<Vec<_>>().join("/"))
}

/// Returns the error of the innermost node.
fn innermost(error: &str) -> &str {
    let inner = error.strip_prefix("node `");
    let inner = inner.and_then(|rest| rest.split_once("` failed: "));
    inner.map_or(error, |(_, inner)| innermost(inner))
}

/// A task with a command for the parent streams nothing in its own graph.
fn leaves(written: &[Write<Dynamic>]) -> bool {
    let mut updates = written.iter().filter_map(Write::update);
    updates.any(|update| update.leaves)
}

/// Returns the payloads of interrupts, in the format's order.
pub(super) fn payloads(interrupts: &[Interrupt]) -> Value {
    sorted(interrupts.iter().map(|i| i.payload.clone()).collect())
}
