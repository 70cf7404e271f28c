//! An agent as a tool of an MCP server. A question of its run becomes a question of the server: the
//! client asks its user, and the run goes on. The program starts itself as the server, calls the tool,
//! and answers the question with its second argument.
//! Run it with `cargo run -p langgraph-mcp --example serve_agent -- "Refund order 7" approve`. Other
//! clients start the server with `-- --stdio`, or find it at an address with `-- --http 8000`.

use std::error::Error;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{Message, ToolCall};
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{HumanInTheLoop, MessagesState, react_agent};
use langgraph_mcp::{Elicited, GraphTool, McpClient, McpServer, Question};
use serde_json::json;
use tokio::process::Command;

/// Looks up an order.
#[tool]
async fn find_order(
    /// The number on the receipt.
    number: u64,
) -> String {
    format!("order {number}: one teapot, 40 euros, paid")
}

/// Pays an order back.
#[tool]
async fn refund(
    /// The number on the receipt.
    number: u64,
) -> String {
    format!("order {number} is paid back")
}

/// The model of a desk that knows two words: it refunds when it is asked to, and else looks up.
struct Desk;

#[async_trait]
impl ChatModel for Desk {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let Some(last) = request.messages.last() else {
            return Ok(ChatResponse::new(Message::assistant("How can I help?")));
        };
        if last.is_tool() {
            let answer = Message::assistant(format!("Here it is: {}.", last.text()));
            return Ok(ChatResponse::new(answer));
        }
        let question = last.text();
        let digits: String = question.chars().filter(char::is_ascii_digit).collect();
        let reply = match digits.parse::<u64>() {
            Err(_) => Message::assistant("Which order?"),
            Ok(number) => {
                let wants_money = question.to_lowercase().contains("refund");
                let name = if wants_money { "refund" } else { "find_order" };
                let call = ToolCall::new("call_1", name, json!({"number": number}));
                Message::assistant_with_tool_calls("", [call])
            }
        };
        Ok(ChatResponse::new(reply))
    }
}

/// The server: one tool, `refund_desk`, behind which a graph runs.
fn server() -> Result<McpServer, Box<dyn Error>> {
    let agent = react_agent(Desk, (find_order, refund)).with(HumanInTheLoop::new("refund"));
    let graph = agent.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    let desk = GraphTool::chat("refund_desk", "Looks up orders and refunds them.", graph);
    Ok(McpServer::new("refund desk", "1.0.0").tool(desk))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next();
    let second = arguments.next();
    match first.as_deref() {
        Some("--stdio") => Ok(server()?.stdio().await?),
        Some("--http") => {
            let port = second.as_deref().unwrap_or("0").parse()?;
            let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
            println!("http://{}/mcp", listener.local_addr()?);
            server()?.listen(listener).await;
            Ok(())
        }
        question => {
            let question = question.unwrap_or("Refund order 7");
            ask(question, second.as_deref().unwrap_or("approve")).await
        }
    }
}

/// Calls the tool as any client would: here from a graph, whose run pauses for the question.
async fn ask(question: &str, decision: &str) -> Result<(), Box<dyn Error>> {
    let mut itself = Command::new(std::env::current_exe()?);
    itself.arg("--stdio");
    let client = McpClient::connect(itself).await?;

    let mut graph = StateGraph::<MessagesState>::new();
    graph
        .add_node("tools", ToolNode::new(client.tools().await?))
        .add_sequence(&["tools"]);
    let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));

    let call = ToolCall::new("c1", "refund_desk", json!({"message": question}));
    let input = MessagesState {
        messages: vec![Message::assistant_with_tool_calls("", [call])],
        ..MessagesState::default()
    };
    let thread = graph.thread("t");
    let mut outcome = thread.run(input).await?;
    while let Some(asked) = outcome.interrupts().first() {
        let question: Question = serde_json::from_value(asked.payload.clone())?;
        println!("the server asks: {}", question.message);
        println!("the answer: {decision}");
        let answer = Elicited::Accept(json!({"decision": decision}));
        outcome = thread.resume(asked.key.clone(), answer).await?;
    }
    let answer = outcome.state().messages.last();
    println!("{}", answer.map(Message::text).unwrap_or_default());
    client.close().await;
    Ok(())
}
