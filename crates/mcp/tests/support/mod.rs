//! A server that does what servers do, at an address of this machine.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// What tests see of the server.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) calls: AtomicUsize,
    /// A slow call has begun, and was cancelled.
    pub(crate) slow: Notify,
    pub(crate) cancelled: Notify,
}

#[derive(Clone, Default)]
struct Server {
    seen: Arc<Seen>,
}

fn tool(name: &'static str, description: &'static str, properties: &Value) -> Tool {
    let Value::Object(schema) = json!({"type": "object", "properties": properties}) else {
        unreachable!("it is an object")
    };
    Tool::new(name, description, schema)
}

fn answer(parts: Vec<ContentBlock>) -> CallToolResponse {
    CallToolResult::success(parts).into()
}

fn guests() -> InputRequiredResult {
    let schema = json!({
        "type": "object",
        "properties": {"guests": {"type": "integer"}},
        "required": ["guests"],
    });
    let form = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "For how many?".into(),
        requested_schema: serde_json::from_value(schema).unwrap(),
    });
    let requests = InputRequests::from([("guests".to_owned(), InputRequest::Elicitation(form))]);
    InputRequiredResult::new(Some(requests), Some("the table at the window".into()))
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.instructions = Some("Ask before you book.".into());
        info
    }

    fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        // Two pages.
        let mut listed = ListToolsResult::default();
        if page.and_then(|page| page.cursor).is_none() {
            let numbers = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
            listed.tools = vec![
                tool("add", "Adds two numbers.", &numbers),
                tool("facts", "Knows three things.", &json!({})),
                tool("fail", "Fails.", &json!({})),
            ];
            listed.next_cursor = Some("more".into());
        } else {
            listed.tools = vec![
                tool("picture", "Draws.", &json!({})),
                tool("slow", "Takes its time.", &json!({})),
                tool("book_table", "Books a table.", &json!({})),
            ];
        }
        std::future::ready(Ok(listed))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.seen.calls.fetch_add(1, Ordering::SeqCst);
        let arguments = call.arguments.unwrap_or_default();
        match &*call.name {
            "add" => match (arguments.get("a"), arguments.get("b")) {
                (Some(Value::Number(a)), Some(Value::Number(b))) => {
                    let sum = a.as_i64().unwrap() + b.as_i64().unwrap();
                    Ok(answer(vec![ContentBlock::text(sum.to_string())]))
                }
                _ => Err(ErrorData::invalid_params("`a` and `b` are numbers", None)),
            },
            "facts" => {
                let mut result = CallToolResult::success(Vec::new());
                result.structured_content = Some(json!({"facts": [1, 2, 3]}));
                Ok(result.into())
            }
            "fail" => {
                let why = ContentBlock::text("the kitchen is closed");
                Ok(CallToolResult::error(vec![why]).into())
            }
            "picture" => Ok(answer(vec![
                ContentBlock::text("a dot"),
                ContentBlock::image("aGk=", "image/png"),
            ])),
            "slow" => {
                self.seen.slow.notify_one();
                cx.ct.cancelled().await;
                self.seen.cancelled.notify_one();
                Err(ErrorData::internal_error("cancelled", None))
            }
            "book_table" => match (call.input_responses, call.request_state.as_deref()) {
                (None, None) => Ok(guests().into()),
                (Some(answers), Some("the table at the window")) => {
                    let answer_is = answers["guests"].to_string();
                    Ok(answer(vec![ContentBlock::text(answer_is)]))
                }
                other => Err(ErrorData::invalid_params(format!("{other:?}"), None)),
            },
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }
}

/// Starts the server; returns its address, and what it has seen.
pub(crate) async fn start() -> (String, Arc<Seen>) {
    let server = Server::default();
    let seen = Arc::clone(&server.seen);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let connection = auto::Builder::new(TokioExecutor::new());
                let stream = TokioIo::new(stream);
                // Clients go when they like.
                let _ = connection.serve_connection(stream, service).await;
            });
        }
    });
    (address, seen)
}
