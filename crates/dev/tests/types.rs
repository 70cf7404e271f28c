//! The types of graphs in other languages.

#![allow(clippy::unwrap_used, dead_code)] // fields are only described

use expect_test::expect_file;
use langgraph::prelude::*;
use langgraph_dev::{Graphs, Language, types};
use langgraph_server::GraphHandle;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::json;

#[derive(State, Clone, Debug, Default)]
struct Order {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    item: String,
    count: Option<u32>,
    notes: Vec<String>,
    is_paid: bool,
    price: f64,
}

/// How the agent answers.
#[derive(Deserialize, JsonSchema)]
struct Style {
    /// What the model is given first.
    /// It may be empty.
    prompt: String,
    tone: Option<Tone>,
    examples: Vec<Example>,
    limits: std::collections::BTreeMap<String, u32>,
    pair: (String, bool),
    action: Action,
    #[serde(rename = "max-tokens")]
    max_tokens: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Tone {
    Friendly,
    Dry,
}

/// A question and its answer.
#[derive(Deserialize, JsonSchema)]
struct Example {
    question: String,
    answer: String,
    next: Option<Box<Example>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Action {
    Stop,
    Retry { after: u32 },
}

fn compiled() -> CompiledStateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    graph
        .add_node("check", |_: &Order| ())
        .add_node("ship it", |_: &Order| ())
        .add_sequence(&["check", "ship it"]);
    graph.compile().unwrap()
}

async fn graphs() -> Graphs {
    let mut graphs = Graphs::default();
    graphs.add("order", compiled()).await.unwrap();
    let styled = async {
        let handle = GraphHandle::new(compiled())
            .context::<Style>()
            .input_schema(schema_for!(Example))
            .output_schema(json!({"type": "object", "properties": {
                "of": {"type": "object", "properties": {"x": {"type": ["integer", "null"]}}},
                "any": {}, "one": {"const": 1}, "class": {"allOf": [{"type": "string"}]},
            }}));
        Ok::<_, std::io::Error>(handle)
    };
    graphs.add("my-agent", styled).await.unwrap();
    graphs
}

#[tokio::test]
async fn typescript() {
    let text = types(&graphs().await, Language::TypeScript);
    expect_file!["types/types.ts"].assert_eq(&text);
}

#[tokio::test]
async fn python() {
    let text = types(&graphs().await, Language::Python);
    expect_file!["types/types.py"].assert_eq(&text);
}

#[tokio::test]
async fn a_graph_that_cannot_be_made_is_named() {
    let mut graphs = Graphs::default();
    let failed = Err::<CompiledStateGraph<Order>, _>("no key is set");
    let error = graphs.add("order", failed).await.unwrap_err();
    assert_eq!(error.to_string(), "the graph `order`: no key is set");
}

#[tokio::test]
async fn an_unknown_name_says_which_there_are() {
    let graphs = graphs().await;
    assert_eq!(graphs.select(Some("order")).unwrap().len(), 1);
    let error = graphs.select(Some("orders")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no graph `orders`, but `order`, `my-agent`"
    );
}
