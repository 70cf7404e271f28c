//! Checkpoints in the form of a case.

use langgraph::checkpoint::Snapshot;
use serde_json::{Map, Value, json};

use super::chunk::payloads;
use super::state::Dynamic;
use super::{messages, writes};

/// What `get_state` answers; without a thread, nothing.
pub(super) fn state(snapshot: Option<&Snapshot<Dynamic>>) -> Value {
    let Some(snapshot) = snapshot else {
        return json!({
            "values": {}, "next": [], "step": null, "source": null, "interrupts": [], "tasks": [],
        });
    };
    let mut shown = common(snapshot);
    shown.insert("tasks".to_owned(), tasks(snapshot));
    Value::Object(shown)
}

/// What `get_history` answers.
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
    let next: Vec<&str> = snapshot.next.iter().map(|name| &**name).collect();
    let shown = json!({
        "values": messages::marked(snapshot.values.input(None)),
        "next": next,
        "step": snapshot.step,
        "source": snapshot.source,
        "interrupts": payloads(&snapshot.interrupts),
    });
    match shown {
        Value::Object(shown) => shown,
        _ => Map::new(),
    }
}

fn tasks(snapshot: &Snapshot<Dynamic>) -> Value {
    let schema = &snapshot.values.schema;
    let tasks = snapshot.tasks.iter().map(|task| {
        let result = task
            .result
            .as_ref()
            .map(|result| writes::shown(result, |name| schema.has(name)));
        json!({
            "name": &*task.node,
            "result": messages::unmarked(result.map_or(Value::Null, Value::Object)),
            "error": task.error.is_some(),
            "interrupts": payloads(&task.interrupts),
        })
    });
    tasks.collect()
}
