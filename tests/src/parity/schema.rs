//! The kinds of fields: what a write to each does.

use langgraph::error::ReducerError;
use langgraph::message::Message;
use langgraph::state::AddMessagesStrict;
use langgraph::state::{Append, Field, Max, MergeMap, Reducer};
use serde_json::{Map, Value};

use super::case::{FieldSpec, GraphSpec};

/// What a write to a field does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Last,
    Append,
    Sum,
    Max,
    Merge,
    Messages,
    Ephemeral,
    Untracked,
}

/// The fields of one graph.
#[derive(Debug, Default)]
pub(super) struct Schema {
    /// As the library sees them.
    pub(super) fields: Vec<Field>,
    kinds: Vec<Kind>,
    input: Option<Vec<String>>,
    output: Option<Vec<String>>,
}

impl Schema {
    pub(super) fn of(graph: &GraphSpec) -> Result<Self, String> {
        let kinds = graph.fields.iter().map(Kind::of);
        let kinds: Vec<_> = kinds.collect::<Result<_, _>>()?;
        let fields = graph.fields.iter().zip(&kinds).map(|(field, kind)| {
            let named = Field::named(field.name.clone());
            match kind {
                Kind::Last => named,
                Kind::Ephemeral => named.ephemeral(),
                Kind::Untracked => named.untracked(),
                _ => named.reduced(),
            }
        });
        Ok(Self {
            fields: fields.collect(),
            kinds,
            input: graph.input_fields.clone(),
            output: graph.output_fields.clone(),
        })
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = (&str, Kind)> {
        let names = self.fields.iter().map(Field::name);
        names.zip(self.kinds.iter().copied())
    }

    pub(super) fn is_output(&self, name: &str) -> bool {
        self.has(name) && named(self.output.as_ref(), name)
    }

    pub(super) fn is_input(&self, name: &str) -> bool {
        self.has(name) && named(self.input.as_ref(), name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name() == name)
    }

    /// The values before any write.
    pub(super) fn initial(&self) -> Map<String, Value> {
        let initial = |(name, kind): (&str, Kind)| Some((name.to_owned(), kind.initial()?));
        self.kinds().filter_map(initial).collect()
    }
}

fn named(list: Option<&Vec<String>>, name: &str) -> bool {
    list.is_none_or(|list| list.iter().any(|listed| listed == name))
}

impl Kind {
    fn of(field: &FieldSpec) -> Result<Self, String> {
        Ok(match field.kind.as_str() {
            "last" => Self::Last,
            "append" => Self::Append,
            "sum" => Self::Sum,
            "max" => Self::Max,
            "merge" => Self::Merge,
            "messages" => Self::Messages,
            "ephemeral" => Self::Ephemeral,
            "untracked" => Self::Untracked,
            other => return Err(format!("no fields of kind `{other}`")),
        })
    }

    fn initial(self) -> Option<Value> {
        match self {
            Self::Append | Self::Messages => Some(Value::Array(Vec::new())),
            Self::Sum | Self::Max => Some(Value::from(0)),
            Self::Merge => Some(Value::Object(Map::new())),
            Self::Last | Self::Ephemeral | Self::Untracked => None,
        }
    }

    /// Merges `update` into the field's value.
    pub(super) fn merge(
        self,
        current: Option<Value>,
        update: Value,
    ) -> Result<Value, ReducerError> {
        let current = current.or_else(|| self.initial()).unwrap_or_default();
        match self {
            Self::Last | Self::Ephemeral | Self::Untracked => Ok(update),
            Self::Append => {
                let mut list: Vec<Value> = typed(current)?;
                Append.try_merge(&mut list, typed(update)?)?;
                Ok(Value::Array(list))
            }
            Self::Sum => sum(&current, &update),
            Self::Max => {
                let mut number: i64 = typed(current)?;
                Max.try_merge(&mut number, typed(update)?)?;
                Ok(Value::from(number))
            }
            Self::Merge => {
                let mut map = current;
                MergeMap.try_merge(&mut map, update)?;
                Ok(map)
            }
            Self::Messages => {
                let mut history = messages(current)?;
                AddMessagesStrict.try_merge(&mut history, messages(update)?)?;
                from_messages(&history)
            }
        }
    }

    /// Gives messages without an id one.
    pub(super) fn prepare(self, update: &mut Value) {
        if self != Self::Messages {
            return;
        }
        let Ok(mut list) = messages(update.clone()) else {
            return;
        };
        AddMessagesStrict.prepare(&mut list);
        // The update keeps the form in which it was written.
        let written = match update {
            Value::Array(items) => items.as_mut_slice(),
            one => std::slice::from_mut(one),
        };
        for (item, message) in written.iter_mut().zip(list) {
            if let (Some(map), Some(id)) = (item.as_object_mut(), message.into_fields().id) {
                map.insert("id".to_owned(), Value::from(id));
            }
        }
    }
}

fn typed<T: for<'de> serde::Deserialize<'de>>(value: Value) -> Result<T, ReducerError> {
    serde_json::from_value(value).map_err(|error| ReducerError::new(error.to_string()))
}

fn sum(current: &Value, update: &Value) -> Result<Value, ReducerError> {
    if let (Some(current), Some(update)) = (current.as_i64(), update.as_i64()) {
        return Ok(Value::from(current + update));
    }
    match (current.as_f64(), update.as_f64()) {
        (Some(current), Some(update)) => Ok(Value::from(current + update)),
        _ => Err(ReducerError::new(format!("{current} + {update}"))),
    }
}

const REMOVE_ALL: &str = "__remove_all__";

/// A message, or a list of them.
fn messages(value: Value) -> Result<Vec<Message>, ReducerError> {
    match value {
        Value::Array(items) => items.into_iter().map(message).collect(),
        one => Ok(vec![message(one)?]),
    }
}

fn message(value: Value) -> Result<Message, ReducerError> {
    match (value.get("role"), value.get("id")) {
        (Some(role), Some(id)) if role == "remove" && id == REMOVE_ALL => Ok(Message::remove_all()),
        _ => typed(value),
    }
}

fn from_messages(history: &[Message]) -> Result<Value, ReducerError> {
    serde_json::to_value(history).map_err(|error| ReducerError::new(error.to_string()))
}
