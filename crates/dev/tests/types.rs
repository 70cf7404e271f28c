//! The types of graphs in other languages.

#![allow(clippy::unwrap_used, dead_code)] // fields are only described

use expect_test::expect_file;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::tool;
use langgraph_dev::{Graphs, Language, types};
use langgraph_server::GraphHandle;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
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

/// What is for sale.
#[derive(Serialize, JsonSchema)]
struct Sale {
    item: String,
    price: f64,
    discount: Option<Discount>,
}

#[derive(Serialize, JsonSchema)]
struct Discount {
    percent: u8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Verdict {
    Sell { price: f64 },
    Keep,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Progress {
    Started,
    Sold { item: String, count: u32 },
}

/// Finds items.
///
/// The best ones come first.
#[tool]
async fn find_items(words: Vec<String>, limit: Option<u32>) -> String {
    format!("{words:?}, {limit:?}")
}

/// The time.
#[tool]
async fn now() -> String {
    "12:00".to_owned()
}

#[node]
async fn ask(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let sale = Sale {
        item: "lamps".to_owned(),
        price: 1.5,
        discount: None,
    };
    let verdict = cx.interrupt::<Verdict>("sale", &sale)?;
    let count: u32 = cx.interrupt("how many?", "How many?")?;
    cx.emit(Progress::Started).await?;
    let item = match verdict {
        Verdict::Sell { price } => price.to_string(),
        Verdict::Keep => "kept".to_owned(),
    };
    cx.emit(Progress::Sold { item, count }).await?;
    Ok(OrderUpdate::default())
}

#[node]
async fn sign(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let name: Option<String> = cx.interrupt("name", "Who signs?")?;
    Ok(OrderUpdate::default().item(name.unwrap_or_default()))
}

/// What its interrupt asks is not declared.
fn signature() -> CompiledStateGraph<Order> {
    let graph = graph! {
        type State = Order;

        START => sign => END;
    };
    graph.compile().unwrap()
}

/// A shop with tools, interrupts, one of them in a subgraph, and custom events.
fn shop() -> GraphHandle<Order> {
    let signed = signature();
    let tools = ToolNode::new((find_items, now));
    let graph = graph! {
        type State = Order;

        START => ask => tools => signed => END;
    };
    GraphHandle::new(graph.compile().unwrap())
        .interrupt::<Sale, Verdict>("sale")
        .interrupt::<String, u32>("how many?")
        .interrupt::<String, Option<String>>("name")
        .custom_events::<Progress>()
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
    graphs.add("shop", shop()).await.unwrap();
    graphs.add("signature", signature()).await.unwrap();
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
        "there is no graph `orders`, but `order`, `my-agent`, `shop`, `signature`"
    );
}
