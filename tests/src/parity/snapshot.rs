//! Checkpoints in the form of a case.

use langgraph::checkpoint::{Snapshot, TaskSnapshot};
use langgraph::interrupt::Interrupt;
use serde_json::{Map, Value, json};

use super::case::{Checkpointing, GraphSpec};
use super::chunk::payloads;
use super::state::Dynamic;
use super::{messages, writes};

/// Returns the result of `get_state`; `null` without a thread. With `graph`, it includes the
/// subgraphs: one that has not started has an empty state.
pub(super) fn state(snapshot: Option<&Snapshot<Dynamic>>, graph: Option<&GraphSpec>) -> Value {
    let Some(snapshot) = snapshot else {
        return json!({
            "values": {}, "next": [], "step": null, "source": null, "interrupts": [], "tasks": [],
        });
    };
    let mut shown = common(snapshot);
    shown.insert("tasks".to_owned(), tasks(snapshot, graph));
    Value::Object(shown)
}

/// Returns the snapshot with only its first `count` tasks.
pub(super) fn of_the_first(count: usize, mut snapshot: Snapshot<Dynamic>) -> Snapshot<Dynamic> {
    for task in snapshot.tasks.drain(count.min(snapshot.tasks.len())..) {
        if task.result.is_none()
            && let Some(place) = snapshot.next.iter().rposition(|name| *name == task.node)
        {
            snapshot.next.remove(place);
        }
        let asked = |id: &String| task.interrupts.iter().any(|interrupt| interrupt.id == *id);
        snapshot
            .interrupts
            .retain(|interrupt| !asked(&interrupt.id));
    }
    snapshot
}

/// Returns the result of `get_history`.
pub(super) fn history(history: &[Snapshot<Dynamic>]) -> Value {
    let entry = |snapshot: &Snapshot<Dynamic>| {
        let mut shown = common(snapshot);
        let parent = snapshot
            .parent
            .and_then(|parent| history.iter().position(|other| other.id == parent));
        shown.insert("parent".to_owned(), parent.into());
        Value::Object(shown)
    };
    history.iter().map(entry).collect()
}

fn common(snapshot: &Snapshot<Dynamic>) -> Map<String, Value> {
    let shown = json!({
        "values": messages::marked(snapshot.values.input(None)),
        "next": next(snapshot),
        "step": snapshot.step,
        "source": snapshot.source,
        "interrupts": payloads(&snapshot.interrupts),
    });
    match shown {
        Value::Object(shown) => shown,
        _ => Map::new(),
    }
}

/// The tasks in Python's order: sends first.
fn ordered(snapshot: &Snapshot<Dynamic>) -> impl Iterator<Item = &TaskSnapshot<Dynamic>> {
    let these = |sent: bool| snapshot.tasks.iter().filter(move |task| task.sent == sent);
    these(true).chain(these(false))
}

/// What is asked, in Python's order.
pub(super) fn open(snapshot: &Snapshot<Dynamic>) -> Vec<Interrupt> {
    let asked = ordered(snapshot).flat_map(|task| &task.interrupts);
    asked.cloned().collect()
}

/// What runs next, in Python's order.
pub(super) fn next(snapshot: &Snapshot<Dynamic>) -> Vec<&str> {
    let mut left: Vec<&str> = snapshot.next.iter().map(|name| &**name).collect();
    let mut next = Vec::new();
    let whole = left.len() == snapshot.tasks.len();
    for task in ordered(snapshot).filter(|task| whole || task.result.is_none()) {
        if let Some(place) = left.iter().position(|name| *name == &*task.node) {
            next.push(left.remove(place));
        }
    }
    // A name without a task is shown too, so that it is noticed.
    next.extend(left);
    next
}

fn tasks(snapshot: &Snapshot<Dynamic>, graph: Option<&GraphSpec>) -> Value {
    let schema = &snapshot.values.schema;
    let tasks = ordered(snapshot).map(|task| {
        let result = task
            .result
            .as_ref()
            .map(|result| writes::shown(result, |name| schema.has(name)));
        let mut shown = json!({
            "name": &*task.node,
            "result": messages::unmarked(result.map_or(Value::Null, Value::Object)),
            "error": task.error.is_some(),
            "interrupts": payloads(&task.interrupts),
        });
        let mut nodes = graph.iter().flat_map(|graph| &graph.nodes);
        let node = nodes.find(|node| *node.name == *task.node);
        if let Some(inner) = node.and_then(|node| node.subgraph.as_deref())
            && !matches!(inner.checkpointer, Checkpointing::None)
        {
            shown["state"] = state(task.inside::<Dynamic>(), Some(inner));
        }
        shown
    });
    tasks.collect()
}
