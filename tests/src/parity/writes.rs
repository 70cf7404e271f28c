//! Writes as a case spells them, and as the library takes them.

use langgraph::Command;
use langgraph::state::Write;
use serde_json::{Map, Value};

use super::schema::Schema;
use super::state::{Dynamic, DynamicUpdate};

const OVERWRITE: &str = "$overwrite";

/// A command that writes `writes`.
pub(super) fn command(writes: Map<String, Value>) -> Command<Dynamic> {
    let (update, overwrite) = split(writes);
    add(Command::default(), update, overwrite)
}

/// An input; it resets what the state counts per run.
pub(super) fn input(schema: &Schema, writes: Map<String, Value>) -> Command<Dynamic> {
    let known = writes.into_iter().filter(|(name, _)| schema.is_input(name));
    let (update, overwrite) = split(known.collect());
    let update = DynamicUpdate {
        input: true,
        ..update.unwrap_or_default()
    };
    add(Command::default(), Some(update), overwrite)
}

/// An input that only adds: none if it sets a field.
#[cfg(feature = "restate")]
pub(super) fn plain_input(schema: &Schema, writes: Map<String, Value>) -> Option<DynamicUpdate> {
    let known = writes.into_iter().filter(|(name, _)| schema.is_input(name));
    let (update, overwrite) = split(known.collect());
    let update = DynamicUpdate {
        input: true,
        ..update.unwrap_or_default()
    };
    overwrite.is_none().then_some(update)
}

fn add(
    mut command: Command<Dynamic>,
    update: Option<DynamicUpdate>,
    overwrite: Option<DynamicUpdate>,
) -> Command<Dynamic> {
    if let Some(update) = update {
        command = command.and_update(update);
    }
    if let Some(overwrite) = overwrite {
        command = command.and_overwrite(overwrite);
    }
    command
}

/// Parts what is merged from what is set.
fn split(writes: Map<String, Value>) -> (Option<DynamicUpdate>, Option<DynamicUpdate>) {
    let (mut update, mut overwrite) = (Map::new(), Map::new());
    for (name, value) in writes {
        match overwritten(&value) {
            Some(value) => overwrite.insert(name, value.clone()),
            None => update.insert(name, value),
        };
    }
    let part = |map: Map<String, Value>| (!map.is_empty()).then(|| map.into());
    (part(update), part(overwrite))
}

fn overwritten(value: &Value) -> Option<&Value> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.get(OVERWRITE)
}

/// The fields that `writes` hold, as the case spells them.
pub(super) fn shown(writes: &[Write<Dynamic>], shows: impl Fn(&str) -> bool) -> Map<String, Value> {
    let mut all = Map::new();
    for write in writes {
        let Some(update) = write.update() else {
            continue;
        };
        for (name, value) in update.values.iter().filter(|(name, _)| shows(name)) {
            let value = match write {
                Write::Overwrite(_) => {
                    Value::Object(Map::from_iter([(OVERWRITE.to_owned(), value.clone())]))
                }
                _ => value.clone(),
            };
            all.insert(name.clone(), value);
        }
    }
    all
}
