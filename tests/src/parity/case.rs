//! A case as its file says it, without its expectation.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::functional::FunctionSpec;

/// One case: a graph, and what is done with it.
///
/// The expectation is not part of it: it is read from the file again, after the run.
#[derive(Debug, Deserialize)]
pub(super) struct Case {
    /// `group/name`.
    pub name: String,
    /// Decisions of ours that may answer differently.
    #[serde(default)]
    pub differs: Vec<String>,
    /// What it needs.
    #[serde(default)]
    pub features: Vec<String>,
    /// What the actions run.
    #[serde(flatten)]
    pub subject: Subject,
    /// The actions, in order.
    pub runs: Vec<Action>,
}

/// What the actions of a case run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Subject {
    /// A graph.
    Graph(Arc<GraphSpec>),
    /// An entrypoint, and its tasks.
    Function(Arc<FunctionSpec>),
}

impl Case {
    /// Reads a case.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is no case.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        read(path)
    }

    /// True if it needs that.
    pub(super) fn needs(&self, feature: &str) -> bool {
        self.features.iter().any(|needs| needs == feature)
    }
}

/// The part of a case's file that only the comparison looks at.
#[derive(Debug, Deserialize)]
pub(super) struct Expectation {
    /// What Python answers.
    pub expect: Value,
}

impl Expectation {
    /// Reads the expectation of a case.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or has none.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        read(path)
    }
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// A graph.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // the format describes them
pub(super) struct GraphSpec {
    pub fields: Vec<FieldSpec>,
    pub input_fields: Option<Vec<String>>,
    pub output_fields: Option<Vec<String>>,
    pub nodes: Vec<Arc<NodeSpec>>,
    pub edges: Vec<EdgeSpec>,
    #[serde(default)]
    pub conditional: Vec<ConditionalSpec>,
    #[serde(default)]
    pub interrupt_before: Stops,
    #[serde(default)]
    pub interrupt_after: Stops,
    #[serde(default)]
    pub checkpointer: Checkpointing,
    pub default_retry: Option<RetrySpec>,
}

/// A field of a state.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub(super) struct FieldSpec {
    pub name: String,
    pub kind: String,
}

/// An edge, or a join.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub(super) struct EdgeSpec {
    pub from: OneOrMany<String>,
    pub to: String,
}

/// A conditional edge.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub(super) struct ConditionalSpec {
    pub from: String,
    pub route: Arc<Value>,
    pub targets: Option<PathMap>,
    /// Routers have no names here.
    #[serde(default, rename = "name")]
    pub _name: Option<String>,
}

/// What a route's labels stand for.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub(super) enum PathMap {
    Labels(BTreeMap<String, String>),
    Nodes(Vec<String>),
}

/// A node: operations, or a graph.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub(super) struct NodeSpec {
    pub name: String,
    #[serde(default)]
    pub ops: Vec<Op>,
    pub subgraph: Option<Arc<GraphSpec>>,
    #[serde(default)]
    pub defer: bool,
    pub retry: Option<OneOrMany<RetrySpec>>,
    pub input_fields: Option<Vec<String>>,
    pub destinations: Option<Vec<String>>,
    #[serde(default)]
    pub cache: bool,
    pub error_handler: Option<Vec<Op>>,
}

/// When a failed node is tried again.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub(super) struct RetrySpec {
    pub max_attempts: u32,
    pub retry_on: Option<Vec<FailKind>>,
}

/// What a failure says it is, for `retry_on`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub(super) enum FailKind {
    #[default]
    Error,
    Transient,
    Fatal,
}

/// One operation of a node.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
#[allow(missing_docs)]
pub(super) enum Op {
    Write {
        field: String,
        value: Value,
    },
    Goto {
        to: Value,
        graph: Option<ParentGraph>,
    },
    Command {
        graph: Option<ParentGraph>,
    },
    Raw {
        value: Value,
    },
    Interrupt {
        value: Value,
    },
    Fail {
        message: String,
        times: Option<u64>,
        #[serde(default)]
        kind: FailKind,
        /// How often it was reached in this case.
        #[serde(skip)]
        reached: AtomicU64,
    },
    Sleep {
        ms: u64,
    },
    Emit {
        value: Value,
    },
    When {
        cond: Value,
        then: Vec<Op>,
        #[serde(default, rename = "else")]
        otherwise: Vec<Op>,
    },
}

/// A command goes to the graph around.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub(super) enum ParentGraph {
    Parent,
}

/// Where a run stops.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub(super) enum Stops {
    Nodes(Vec<String>),
    /// `"*"`.
    All(String),
}

impl Default for Stops {
    fn default() -> Self {
        Self::Nodes(Vec::new())
    }
}

/// Where a graph's checkpoints go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Checkpointing {
    #[default]
    Inherit,
    Own,
    None,
}

impl<'de> Deserialize<'de> for Checkpointing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Bool(true) => Ok(Self::Inherit),
            Value::Bool(false) => Ok(Self::None),
            Value::String(text) if text == "inherit" => Ok(Self::Inherit),
            Value::String(text) if text == "own" => Ok(Self::Own),
            Value::String(text) if text == "none" => Ok(Self::None),
            other => Err(serde::de::Error::custom(format!("checkpointer: {other}"))),
        }
    }
}

/// One value, or a list.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs)]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// The values.
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// One action.
#[derive(Debug, Deserialize)]
#[allow(missing_docs)]
pub(super) struct Action {
    pub thread: Option<String>,
    pub at: Option<usize>,
    #[serde(default)]
    pub config: Config,
    #[serde(flatten)]
    pub what: Do,
}

/// What an action does.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[allow(missing_docs)]
pub(super) enum Do {
    Invoke {
        input: Value,
    },
    Command(CommandSpec),
    Stream {
        mode: OneOrMany<String>,
        #[serde(default)]
        input: Value,
        command: Option<CommandSpec>,
        #[serde(default)]
        subgraphs: bool,
    },
    GetState {
        #[serde(default)]
        subgraphs: bool,
    },
    GetHistory {},
    UpdateState(UpdateSpec),
    BulkUpdate {
        supersteps: Vec<Vec<UpdateSpec>>,
    },
}

/// An update from outside.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub(super) struct UpdateSpec {
    pub values: Option<Map<String, Value>>,
    pub as_node: Option<String>,
}

/// A Command as an input.
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub(super) struct CommandSpec {
    /// `null` is an answer here, and not the same as none.
    #[serde(default, deserialize_with = "present")]
    pub resume: Option<Value>,
    pub resume_map: Option<Vec<(Value, Value)>>,
    pub update: Option<Map<String, Value>>,
    pub goto: Option<Value>,
}

/// The options of a run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub(super) struct Config {
    pub recursion_limit: Option<i64>,
    pub interrupt_before: Option<Stops>,
    pub interrupt_after: Option<Stops>,
    pub durability: Option<String>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
