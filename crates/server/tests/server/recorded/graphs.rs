//! The graphs behind the recorded exchanges, with the same nodes.

use std::time::Duration;

use futures_util::stream;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::{FinishReason, Message, MessageChunk, ToolCallChunk, Usage};
use langgraph::node::{Context, Send as SendTo, Target};
use langgraph::{CompiledStateGraph, END, START, State, node};
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, FnTool, MessagesState, ModelError, ModelNode,
    ModelStream, ToolNode, async_trait, pending_tool_calls,
};
use langgraph_server::{GraphHandle, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

/// The state of the first graphs.
#[derive(State, Clone, Debug, Default)]
pub(crate) struct Toy {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(append)]
    steps: Vec<String>,
}

/// The state of the graphs of the raw exchanges.
#[derive(State, Clone, Debug, Default)]
pub(crate) struct Toys {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(append)]
    steps: Vec<String>,
    #[reducer(append)]
    ui: Vec<Value>,
}

/// Says a text word by word, as LangChain's fake model does.
async fn say_words(text: &str, cx: &Context) -> Message {
    let id = format!("lc_run--{}", Uuid::now_v7());
    let words = text.split_inclusive(' ');
    let pieces = words.flat_map(|word| match word.strip_suffix(' ') {
        Some(word) => vec![word, " "],
        None => vec![word],
    });
    for piece in pieces {
        let chunk = MessageChunk::text(piece).with_id(&*id);
        cx.emit_chunk(chunk).await;
    }
    let last = MessageChunk::finish(FinishReason::Stop).with_id(&*id);
    cx.emit_chunk(last).await;
    Message::assistant(text).with_id(id)
}

#[node]
async fn model(_: &Toy, cx: &Context) -> ToyUpdate {
    let said = say_words("Hello there, how can I help?", cx).await;
    ToyUpdate::default()
        .messages(vec![said])
        .steps(vec!["model".to_owned()])
}

#[node]
async fn work(_: &Toy, cx: &Context) -> Result<ToyUpdate, NodeError> {
    cx.emit(json!({"progress": 1})).await?;
    Ok(ToyUpdate::default().steps(vec!["work".to_owned()]))
}

#[node(interrupts)]
async fn approve(state: &Toy, cx: &Context) -> Result<ToyUpdate, NodeError> {
    let question = json!({"question": "approve?", "steps": state.steps});
    let answer: String = cx.interrupt("approve", &question)?;
    Ok(ToyUpdate::default().steps(vec![format!("approve:{answer}")]))
}

#[node]
async fn slow(_: &Toy, cx: &Context) -> Result<ToyUpdate, NodeError> {
    for i in 0..30 {
        cx.emit(json!({"i": i})).await?;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(ToyUpdate::default().steps(vec!["slow".to_owned()]))
}

fn chain<S: State + Default>(build: impl FnOnce(&mut StateGraph<S>)) -> CompiledStateGraph<S> {
    let mut graph = StateGraph::new();
    build(&mut graph);
    graph.compile().unwrap()
}

/// The server of the exchanges with LangGraph's clients.
pub(crate) fn first() -> Server {
    let chat = chain::<Toy>(|graph| {
        graph.add_node("model", model).add_node("work", work);
        graph.add_sequence(&["model", "work"]);
    });
    let hitl = chain::<Toy>(|graph| {
        graph.add_node("model", model).add_node("approve", approve);
        graph.add_node("work", work);
        graph.add_sequence(&["model", "approve", "work"]);
    });
    let slow = chain::<Toy>(|graph| {
        graph.add_node("slow", slow).add_sequence(&["slow"]);
    });
    Server::new()
        .show_node_errors()
        .graph("chat", chat)
        .graph("hitl", hitl)
        .graph("slow", slow)
}

#[node]
async fn before(_: &Toys) -> ToysUpdate {
    ToysUpdate::default().steps(vec!["before".to_owned()])
}

#[node]
async fn say(_: &Toys, cx: &Context) -> ToysUpdate {
    let said = say_words("inner words", cx).await;
    ToysUpdate::default()
        .messages(vec![said])
        .steps(vec!["say".to_owned()])
}

fn ask(name: &'static str) -> impl Fn(&Toys, &Context) -> Result<ToysUpdate, NodeError> + Clone {
    move |_, cx| {
        let answer: String = cx.interrupt("ask", &json!({"from": name}))?;
        Ok(ToysUpdate::default().steps(vec![format!("{name}:{answer}")]))
    }
}

fn boom(_: &Toys) -> Result<ToysUpdate, NodeError> {
    Err(NodeError::msg("boom: it broke"))
}

#[node]
async fn generate(_: &Toys, cx: &Context) -> Result<ToysUpdate, NodeError> {
    let message = Message::assistant("here is a card").with_id("m-ui");
    let card = json!({
        "type": "ui", "id": Uuid::now_v7(), "name": "weather", "props": {"city": "Rome"},
        "metadata": {"merge": false, "run_id": cx.run_id(), "message_id": "m-ui"},
    });
    cx.emit(card.clone()).await?;
    Ok(ToysUpdate::default().messages(vec![message]).ui(vec![card]))
}

#[node]
async fn idle(_: &Toys) -> ToysUpdate {
    tokio::time::sleep(Duration::from_secs(4)).await;
    ToysUpdate::default().steps(vec!["slow".to_owned()])
}

#[derive(Deserialize, JsonSchema)]
struct DeleteFile {
    path: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// A model that calls two tools, in the pieces of a real one, and is done then.
struct Fake;

fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> MessageChunk {
    MessageChunk::tool_call(ToolCallChunk {
        index,
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        arguments: arguments.to_owned(),
    })
}

fn pieces(request: &ChatRequest) -> Vec<MessageChunk> {
    let done = request.messages.iter().any(Message::is_tool);
    let mut pieces = if done {
        vec![MessageChunk::text("all "), MessageChunk::text("done")]
    } else {
        vec![
            MessageChunk::text("let me"),
            call(0, Some("c1"), Some("delete_file"), ""),
            call(0, None, None, r#"{"path": "#),
            call(0, None, None, r#""/x"}"#),
            call(1, Some("c2"), Some("add"), r#"{"a": 1, "b": 2}"#),
            MessageChunk::default().with_usage(Usage::new(10, 5)),
        ]
    };
    pieces.push(MessageChunk::finish(if done {
        FinishReason::Stop
    } else {
        FinishReason::ToolCalls
    }));
    pieces
}

#[async_trait]
impl ChatModel for Fake {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let mut message = langgraph::message::MessageAccumulator::new();
        message.extend(pieces(&request));
        Ok(ChatResponse::new(message.finish()))
    }

    fn stream(&self, request: ChatRequest) -> ModelStream<'_> {
        let id = format!("lc_run--{}", Uuid::now_v7());
        let pieces = pieces(&request).into_iter();
        Box::pin(stream::iter(
            pieces.map(move |piece| Ok(piece.with_id(&*id))),
        ))
    }
}

/// The agent of LangChain's `create_agent`: nodes `model` and `tools`, a task for each call.
fn agent(approves: bool) -> CompiledStateGraph<MessagesState> {
    let delete = |DeleteFile { path }: DeleteFile| async move { format!("deleted {path}") };
    let delete = FnTool::new("delete_file", "Delete a file.", delete);
    let add = FnTool::new("add", "Add.", |Add { a, b }: Add| async move { a + b });
    let mut tools = ToolNode::new((delete, add));
    let model = ModelNode::new(Fake).tools(tools.tools());
    if approves {
        tools = tools.approve("delete_file");
    }
    chain(|graph| {
        graph.add_node("model", model).add_edge(START, "model");
        let worker = graph.add_worker("tools", tools);
        let calls = move |state: &MessagesState| {
            let calls = pending_tool_calls(state);
            if calls.is_empty() {
                return vec![Target::Node(END.into())];
            }
            let sends = calls.into_iter().map(|call| SendTo::to(&worker, call));
            sends.map(Target::Send).collect()
        };
        graph.add_conditional_edges("model", calls, ["tools", END]);
        graph.add_edge("tools", "model");
    })
}

/// The server of the raw exchanges.
pub(crate) fn raw() -> Server {
    let inner = chain::<Toys>(|graph| {
        graph.add_node("say", say).add_sequence(&["say"]);
    });
    let sub = chain::<Toys>(|graph| {
        graph.add_node("before", before).add_node("inner", inner);
        graph.add_sequence(&["before", "inner"]);
    });
    let inner = chain::<Toys>(|graph| {
        graph.add_node("ask_in", ask("ask_in"));
        graph.add_sequence(&["ask_in"]);
    });
    let par = chain::<Toys>(|graph| {
        graph.add_node("a", ask("a")).add_node("b", ask("b"));
        graph.add_node("c", inner);
        for name in ["a", "b", "c"] {
            graph.add_edge(START, name).add_edge(name, END);
        }
    });
    let err = chain::<Toys>(|graph| {
        graph.add_node("before", before).add_node("boom", boom);
        graph.add_sequence(&["before", "boom"]);
    });
    let ui = chain::<Toys>(|graph| {
        graph.add_node("gen", generate).add_sequence(&["gen"]);
    });
    let slow = chain::<Toys>(|graph| {
        graph.add_node("slow", idle).add_sequence(&["slow"]);
    });
    Server::new()
        .show_node_errors()
        .graph("sub", GraphHandle::new(sub).subgraph_state::<Toys>())
        .graph("par", GraphHandle::new(par).subgraph_state::<Toys>())
        .graph("err", err)
        .graph("ui", ui)
        .graph("agent", agent(true))
        .graph("tools", agent(false))
        .graph("slow", slow)
}
