//! The programs of tasks and entrypoints, and their expressions.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

/// An entrypoint and its tasks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // the format describes them
pub(in super::super) struct FunctionSpec {
    #[serde(default = "yes")]
    pub checkpointer: bool,
    pub tasks: BTreeMap<String, Vec<Statement>>,
    pub body: Vec<Statement>,
}

fn yes() -> bool {
    true
}

impl FunctionSpec {
    /// The statements of a function; the entrypoint is `workflow`.
    pub(super) fn body(&self, name: &str) -> &[Statement] {
        let task = self.tasks.get(name);
        task.map_or(&self.body, Vec::as_slice)
    }

    /// True if a task calls tasks. In another process these keep no record, and run again.
    pub(super) fn is_nested(&self) -> bool {
        self.tasks.values().any(|body| calls(body))
    }
}

fn calls(block: &[Statement]) -> bool {
    block.iter().any(|statement| match statement {
        Statement::Call(_) | Statement::Each(_) | Statement::Parallel(_) => true,
        Statement::For(each) => calls(&each.block),
        Statement::When(when) => calls(&when.then) || calls(&when.otherwise),
        _ => false,
    })
}

/// A statement; its first key says what it does.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(in super::super) enum Statement {
    Call(Call),
    Each(Each),
    Parallel(Parallel),
    Interrupt(Interrupt),
    For(For),
    When(When),
    Fail(Fail),
    Emit(Emit),
    Push(Push),
    Return(Return),
    Set(Set),
}

macro_rules! statements {
    ($($name:ident { $($(#[$attribute:meta])* $field:ident: $ty:ty,)* })*) => {$(
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(clippy::struct_field_names, reason = "a statement is known by its first field")]
        pub(in super::super) struct $name {
            $($(#[$attribute])* pub(super) $field: $ty,)*
        }
    )*};
}

statements! {
    Call { call: String, arg: Value, catch: Option<Value>, #[serde(rename = "as")] into: Option<String>, }
    Each { call: String, each: Value, #[serde(rename = "as")] into: Option<String>, }
    Parallel { parallel: Vec<Call>, #[serde(rename = "as")] into: Option<String>, }
    Interrupt { interrupt: Value, #[serde(rename = "as")] into: Option<String>, }
    For {
        #[serde(rename = "for")] name: String,
        #[serde(rename = "in")] list: Value,
        #[serde(rename = "do")] block: Vec<Statement>,
    }
    When {
        when: Value,
        then: Vec<Statement>,
        #[serde(default, rename = "else")] otherwise: Vec<Statement>,
    }
    Fail { fail: String, times: Option<u64>, }
    Emit { emit: Value, }
    Push { push: String, value: Value, }
    Return { #[serde(rename = "return")] value: Value, #[serde(default, deserialize_with = "present")] save: Option<Value>, }
    Set { #[serde(rename = "as")] name: String, value: Value, }
}

/// `null` is a value here, and not the same as none.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The variables of a function.
#[derive(Debug, Default)]
pub(super) struct Variables(BTreeMap<String, Value>);

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Appends to a list.
    pub(super) fn push(&mut self, name: &str, value: Value) {
        let list = self.0.entry(name.to_owned()).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(value);
        }
    }

    /// Evaluates an expression.
    pub(super) fn value(&self, expression: &Value) -> Value {
        match expression {
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => match operator(map) {
                Some(("$", Value::String(name))) => self.0.get(name).cloned().unwrap_or_default(),
                Some(("$add", items)) => {
                    let number = |item: &Value| item.as_i64().unwrap_or_default();
                    self.list(items).iter().map(number).sum::<i64>().into()
                }
                Some(("$concat", items)) => {
                    let items = self.list(items);
                    let texts = items.iter().filter_map(Value::as_str);
                    texts.collect::<String>().into()
                }
                Some(("$eq", items)) => {
                    let items = self.list(items);
                    (items.first() == items.last()).into()
                }
                _ => {
                    let each = map
                        .iter()
                        .map(|(key, item)| (key.clone(), self.value(item)));
                    Value::Object(each.collect())
                }
            },
            other => other.clone(),
        }
    }

    /// Evaluates an expression that is a list.
    pub(super) fn list(&self, expression: &Value) -> Vec<Value> {
        match self.value(expression) {
            Value::Array(items) => items,
            _ => Vec::new(),
        }
    }
}

fn operator(map: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (key, value) = map.iter().next()?;
    key.starts_with('$').then_some((key.as_str(), value))
}
