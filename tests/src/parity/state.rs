//! A state whose fields are only known at run time: a JSON object, and its schema beside it.

use std::sync::Arc;

use langgraph::State;
use langgraph::error::{NodeError, ReducerError};
use langgraph::node::{IntoOutput, Output};
use langgraph::state::StateCodec;
use langgraph::state::{Field, FieldSet};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema::Schema;

/// The state of every graph of the cases.
#[derive(Clone, Debug)]
pub(super) struct Dynamic {
    pub(super) schema: Arc<Schema>,
    /// Fields that were never written are absent.
    values: Map<String, Value>,
    /// The argument of a Send, which replaces the state.
    pub(super) argument: Option<Value>,
    /// The number of writes to output fields since the last input. In Python a run without any
    /// returns nothing.
    pub(super) touched: usize,
    /// A command for the parent ended the graph; in Python its writes are lost then.
    pub(super) left: bool,
}

/// What is written.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DynamicUpdate {
    pub(super) values: Map<String, Value>,
    /// It is an input.
    pub(super) input: bool,
    /// The argument of a Send to a graph was not an object, so it holds no input.
    pub(super) no_object: bool,
    /// It comes beside a command for the graph around.
    pub(super) leaves: bool,
    /// It is a whole state.
    pub(super) whole: Option<Beside>,
}

/// What a state has beside its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Beside {
    /// At most one: `null` is an argument too.
    argument: Vec<Value>,
    touched: usize,
    left: bool,
}

impl From<Map<String, Value>> for DynamicUpdate {
    fn from(values: Map<String, Value>) -> Self {
        Self {
            values,
            ..Self::default()
        }
    }
}

impl From<Dynamic> for DynamicUpdate {
    fn from(state: Dynamic) -> Self {
        Self {
            values: state.values,
            whole: Some(Beside {
                argument: state.argument.into_iter().collect(),
                touched: state.touched,
                left: state.left,
            }),
            ..Self::default()
        }
    }
}

/// Why an input that is not an object is refused.
pub(super) const NO_OBJECT: &str = "an input has to be an object";

impl Dynamic {
    pub(super) fn new(schema: Arc<Schema>) -> Self {
        Self {
            values: schema.initial(),
            schema,
            argument: None,
            touched: 0,
            left: false,
        }
    }

    /// The state of a task that a Send starts.
    pub(super) fn sent(schema: &Arc<Schema>, argument: Value) -> Self {
        Self {
            argument: Some(argument),
            ..Self::new(Arc::clone(schema))
        }
    }

    /// Every field that has a value.
    pub(super) fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// The output fields that have a value.
    pub(super) fn output(&self) -> Map<String, Value> {
        self.restricted(|name| self.schema.is_output(name))
    }

    /// What a node sees: the argument of its Send, or these of the fields.
    pub(super) fn input(&self, fields: Option<&Vec<String>>) -> Value {
        match (&self.argument, fields) {
            (Some(argument), _) => argument.clone(),
            (None, None) => Value::Object(self.values.clone()),
            (None, Some(fields)) => {
                Value::Object(self.restricted(|name| fields.iter().any(|field| field == name)))
            }
        }
    }

    fn restricted(&self, keep: impl Fn(&str) -> bool) -> Map<String, Value> {
        let kept = self.values.iter().filter(|(name, _)| keep(name));
        kept.map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    fn note(&mut self, update: &DynamicUpdate) {
        if update.input {
            self.touched = 0;
        }
        self.left |= update.leaves;
        let outputs = update.values.keys();
        self.touched += outputs.filter(|name| self.schema.is_output(name)).count();
    }
}

impl IntoOutput<Dynamic> for DynamicUpdate {
    fn into_output(self) -> Result<Output<Dynamic>, NodeError> {
        Ok(Output::update(self))
    }
}

impl State for Dynamic {
    type Update = DynamicUpdate;

    fn fields(&self) -> &[Field] {
        &self.schema.fields
    }

    fn written(&self, update: &DynamicUpdate) -> FieldSet {
        let written = |(_, field): &(usize, &Field)| update.values.contains_key(field.name());
        let fields = self.schema.fields.iter().enumerate().filter(written);
        fields.map(|(index, _)| index).collect()
    }

    fn try_merge(&mut self, mut update: DynamicUpdate) -> Result<(), ReducerError> {
        if update.no_object {
            return Err(ReducerError::new(NO_OBJECT));
        }
        self.note(&update);
        let schema = Arc::clone(&self.schema);
        for (name, kind) in schema.kinds() {
            if let Some(value) = update.values.remove(name) {
                let current = self.values.remove(name);
                let merged = kind
                    .merge(current, value)
                    .map_err(|error| error.in_field(name))?;
                self.values.insert(name.to_owned(), merged);
            }
        }
        Ok(())
    }

    fn overwrite(&mut self, update: DynamicUpdate) {
        if let Some(whole) = update.whole {
            self.argument = whole.argument.into_iter().next();
            self.touched = whole.touched;
            self.left = whole.left;
        } else {
            self.note(&update);
        }
        let known = update
            .values
            .into_iter()
            .filter(|(name, _)| self.schema.has(name));
        self.values.extend(known);
    }

    fn discard(&self, update: &mut DynamicUpdate, fields: &FieldSet) {
        for field in fields.iter().filter_map(|i| self.schema.fields.get(i)) {
            update.values.remove(field.name());
        }
    }

    fn reset(&mut self, fields: &FieldSet) {
        let mut initial = self.schema.initial();
        for field in fields.iter().filter_map(|i| self.schema.fields.get(i)) {
            match initial.remove(field.name()) {
                Some(value) => self.values.insert(field.name().to_owned(), value),
                None => self.values.remove(field.name()),
            };
        }
    }

    fn codec() -> Option<StateCodec<Self>> {
        Some(StateCodec::serde())
    }

    fn prepare(&self, update: &mut DynamicUpdate) {
        for (name, kind) in self.schema.kinds() {
            if let Some(value) = update.values.get_mut(name) {
                kind.prepare(value);
            }
        }
    }
}
