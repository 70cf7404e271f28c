//! The types of graphs in other languages.

#![allow(clippy::unwrap_used, dead_code)] // fields are only described

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect_file;
use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Approval, DecisionKind, ModelNode, ScriptedModel, ToolDecision, ToolDefinition, ToolOutput,
    ToolRoute, Turn, tool, tools_condition,
};
use langgraph_dev::{Graphs, Language, types};
use langgraph_server::GraphHandle;
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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

/// Who gets the money.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Desk {
    Address { customer: String },
}

/// Pays money back.
#[tool]
async fn refund(order: String, cents: u64, reason: Option<String>) -> String {
    format!("{cents} for {order}, {reason:?}")
}

/// Deletes an account.
#[tool]
async fn close(account: String) -> String {
    format!("closed {account}")
}

/// Counts the stock, and says how far it is, as a tool of an MCP server does.
struct CountStock(ToolDefinition);

impl CountStock {
    fn new() -> Self {
        let arguments = json!({"type": "object", "properties": {}});
        Self(ToolDefinition::new("count-stock", "Counts.", arguments))
    }
}

#[async_trait]
impl Tool for CountStock {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, _: Value, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let counted = json!({"type": "counted", "share": 0.5, "shelf": null});
        cx.emit(counted).await.map_err(ToolError::fatal)?;
        Ok(ToolOutput::text("12"))
    }

    fn custom_events(&self) -> Option<Value> {
        Some(json!({
            "description": "How far it is.",
            "type": "object",
            "properties": {
                "type": {"const": "counted"},
                "share": {"type": "number"},
                "shelf": {"type": ["string", "null"]},
            },
            "required": ["type", "share", "shelf"],
        }))
    }
}

#[node]
async fn address(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let customer = "Ada".to_owned();
    let address: String = cx.interrupt("address", &Desk::Address { customer })?;
    Ok(OrderUpdate::default().item(address))
}

/// An agent whose tools need approvals: any decision about a refund, and one of two about an account.
fn desk() -> GraphHandle<Order> {
    let refunds = Approval::of(["refund"])
        .expires_in(Duration::from_secs(60), ToolDecision::reject("too late"));
    let accounts = Approval::of(["close"]).allow([DecisionKind::Approve, DecisionKind::Reject]);
    let tools = ToolNode::new((now, refund, close, CountStock::new()))
        .approve(refunds)
        .approve(accounts);
    let refund = ToolCall::new("c1", "refund", json!({"order": "o1", "cents": 500}));
    let script = [Turn::tool_calls([refund]), Turn::text("Done.")];
    let graph = graph! {
        type State = Order;

        let model = ModelNode::new(ScriptedModel::new(script)).tools(tools.tools());

        START => model => match tools_condition {
            ToolRoute::Tools => tools => model,
            ToolRoute::End => address => END,
        };
    };
    GraphHandle::new(graph.compile().unwrap())
        .interrupt::<Desk, String>("address")
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
    graphs.add("desk", desk()).await.unwrap();
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

/// Fails unless a value has the fields of an interface, optional ones among them.
#[track_caller]
fn assert_declared(text: &str, interface: &str, value: &Value) {
    let (_, body) = text
        .split_once(&format!("interface {interface} {{\n"))
        .unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let names = body.lines().filter_map(|line| line.split_once(": "));
    let mut declared: Vec<_> = names
        .map(|(name, _)| name.trim().trim_end_matches('?'))
        .collect();
    declared.sort_unstable();
    let mut found: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    found.sort_unstable();
    assert_eq!(declared, found, "{interface}");
}

#[tokio::test]
async fn approvals_have_the_fields_of_their_types() {
    let text = types(&graphs().await, Language::TypeScript);
    let new_agent = || {
        let agent = desk().graph().clone();
        agent.checkpointer(Arc::new(MemorySaver::new()))
    };
    let agent = new_agent();
    let order = OrderUpdate::default().messages(vec![Message::user("Pay it back.")]);
    let paused = agent.run(order).thread("t").await.unwrap();
    let asked = &paused.interrupts()[0].payload;
    assert_declared(&text, "DeskRefundApproval", asked);
    assert_declared(&text, "DeskRefundRequest", &asked["call"]);

    let digest = asked["digest"].as_str().unwrap();
    for (interface, decision) in [
        ("DeskToolApproved", ToolDecision::Approve),
        ("DeskRefundEdited", ToolDecision::edit([("cents", 100)])),
        ("DeskToolRejected", ToolDecision::reject("no")),
        ("DeskToolAnswered", ToolDecision::answer("done")),
    ] {
        let answer = json!(decision.by("ada").digest(digest));
        assert_declared(&text, interface, &answer);
    }
    let edited =
        json!({"type": "edit", "arguments": {"order": "o1", "cents": 100}, "digest": digest});
    let outcome = agent.thread("t").resume("c1", edited).await.unwrap();
    assert!(outcome.state().messages[2].text().contains("100 for o1"));

    let order = OrderUpdate::default().messages(vec![Message::user("Pay it back.")]);
    let agent = new_agent();
    agent.run(order).thread("t").await.unwrap();
    let answered = agent.thread("t").resume("c1", json!({"type": "approve"}));
    let mut events = answered.stream(StreamMode::Custom);
    let mut reported = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom { value, .. } = event.unwrap().kind {
            reported.push(value);
        }
    }
    assert_declared(&text, "DeskRefundApprovalAnswered", &reported[0]);
    assert_declared(&text, "DeskRefundRequest", &reported[0]["call"]);
}

#[tokio::test]
async fn events_of_tools_have_the_fields_of_their_types() {
    let text = types(&graphs().await, Language::TypeScript);
    let mut graph = StateGraph::<Order>::new();
    graph
        .add_node("tools", ToolNode::new((CountStock::new(),)))
        .add_sequence(&["tools"]);
    let call = ToolCall::new("c1", "count-stock", json!({}));
    let order =
        OrderUpdate::default().messages(vec![Message::assistant_with_tool_calls("", vec![call])]);
    let mut events = graph
        .compile()
        .unwrap()
        .run(order)
        .stream(StreamMode::Custom);
    let mut emitted = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom { value, .. } = event.unwrap().kind {
            emitted.push(value);
        }
    }
    assert_declared(&text, "DeskCountStockEvent", &emitted[0]);
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
        "there is no graph `orders`, but `order`, `my-agent`, `shop`, `signature`, `desk`"
    );
}
