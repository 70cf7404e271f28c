//! What stands in where nothing is set: servers on this machine, and a model of a few rules.
#![allow(dead_code, reason = "no example uses all of it")]

use std::error::Error;
use std::future::Future;
use std::sync::Arc;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use langgraph::message::{Message, ToolCall};
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    ReactState, ToolDefinition, Tools, WhatNext, act, observe, think, what_next,
};
use langgraph_examples::{model, show};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService, stdio};
use rmcp::{ServerHandler, ServiceExt as _};
use serde_json::Value;
use tokio::net::TcpListener;

/// A tool of a server on this machine.
#[derive(Clone)]
pub(crate) struct LocalTool {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// The schema of its arguments.
    pub(crate) parameters: Value,
    pub(crate) run: fn(&JsonObject) -> Result<Answer, String>,
}

/// What a tool of a server on this machine answers.
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The same for programs, if the server gives it.
    pub(crate) structured: Option<Value>,
}

impl Answer {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            structured: None,
        }
    }
}

#[derive(Clone)]
struct LocalServer(Arc<Vec<LocalTool>>);

impl ServerHandler for LocalServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        let mut listed = ListToolsResult::default();
        for tool in &*self.0 {
            let schema = tool.parameters.as_object().cloned().unwrap_or_default();
            listed
                .tools
                .push(Tool::new(tool.name, tool.description, schema));
        }
        std::future::ready(Ok(listed))
    }

    fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        let found = self.0.iter().find(|tool| tool.name == call.name);
        std::future::ready(match found {
            None => Err(ErrorData::invalid_params(
                format!("no tool `{}`", call.name),
                None,
            )),
            Some(tool) => Ok(match (tool.run)(&call.arguments.unwrap_or_default()) {
                Ok(answer) => {
                    let mut result = CallToolResult::success(vec![ContentBlock::text(answer.text)]);
                    result.structured_content = answer.structured;
                    result.into()
                }
                Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]).into(),
            }),
        })
    }
}

/// Serves tools over standard input and output until the client is gone.
pub(crate) async fn serve_stdio(tools: Vec<LocalTool>) -> Result<(), Box<dyn Error>> {
    let server = LocalServer(Arc::new(tools)).serve(stdio()).await?;
    server.waiting().await?;
    Ok(())
}

/// Serves tools at an address of this machine, for as long as the program runs.
pub(crate) async fn serve_http(tools: Vec<LocalTool>) -> Result<String, Box<dyn Error>> {
    let server = LocalServer(Arc::new(tools));
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = format!("http://{}/mcp", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let connection = auto::Builder::new(TokioExecutor::new());
                // Clients go when they like.
                let _ = connection
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    Ok(address)
}

/// A model of a few rules: what it says next in a conversation, with the tools of that server.
#[derive(Clone, Copy)]
pub(crate) struct Rules(pub(crate) fn(&[Message], &[ToolDefinition]) -> Message);

#[async_trait]
impl ChatModel for Rules {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let said = (self.0)(&request.messages, &request.tools);
        Ok(ChatResponse::new(said))
    }
}

/// The model that the environment asks for, or that of a few rules.
pub(crate) fn model_or(rules: Rules) -> Result<Arc<dyn ChatModel>, ModelError> {
    let chosen = model::choose()?;
    let offline = chosen.name.starts_with("the built-in");
    Ok(if offline {
        Arc::new(rules)
    } else {
        chosen.model
    })
}

/// A reply that calls one tool.
pub(crate) fn calls(conversation: &[Message], name: &str, arguments: Value) -> Message {
    let id = format!("call_{}", conversation.len());
    Message::assistant_with_tool_calls("", [ToolCall::new(id, name, arguments)])
}

/// Thinks, acts and observes until there is an answer, and prints each step.
pub(crate) async fn react(
    model: impl ChatModel + 'static,
    tools: Tools,
    question: String,
) -> Result<(), Box<dyn Error>> {
    let model = ModelNode::new(model).tools(&tools);
    let agent = graph! {
        type State = ReactState;

        let think = think(model);
        let act = act(&tools);

        START => think => act => observe => match what_next {
            WhatNext::Think => think,
            WhatNext::Stop => END,
        };
    }
    .compile()?;
    let state = agent.invoke(ReactState::user(question)).await?;
    for step in state.messages.iter().skip(1).flat_map(show::steps) {
        println!("{step}");
    }
    println!(
        "{}",
        state.messages.last().map(Message::text).unwrap_or_default()
    );
    Ok(())
}
