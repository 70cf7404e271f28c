//! A server that does what servers do, at an address of this machine.

#![allow(dead_code)] // each test uses a part

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock,
    ElicitRequest, ElicitRequestParams, ErrorData, InputRequest, InputRequests,
    InputRequiredResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    ServerRequest, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The method by which a client asks for version 2026-07-28.
const DISCOVER: &str = "server/discover";

/// What tests see of the server.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) calls: AtomicUsize,
    /// How many calls have asked a question during the call.
    pub(crate) asked: AtomicUsize,
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
                tool(
                    "ask",
                    "Asks during the call.",
                    &json!({"n": {"type": "integer"}}),
                ),
                tool("wait", "Takes a moment.", &json!({})),
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
            "ask" => {
                let n = arguments["n"].as_i64().unwrap();
                self.seen.asked.fetch_add(1, Ordering::SeqCst);
                // All of several calls are here before one asks.
                tokio::time::sleep(Duration::from_millis(100)).await;
                let form = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
                    meta: None,
                    message: format!("Question {n}?"),
                    requested_schema: serde_json::from_value(
                        json!({"type": "object", "properties": {"n": {"type": "integer"}}}),
                    )
                    .unwrap(),
                });
                let answer_is = cx
                    .peer
                    .send_request(ServerRequest::ElicitRequest(form))
                    .await;
                let Ok(ClientResult::ElicitResult(result)) = answer_is else {
                    return Err(ErrorData::internal_error("no answer", None));
                };
                let given = serde_json::to_value(result).unwrap()["content"]["n"].to_string();
                Ok(answer(vec![ContentBlock::text(format!("{n}: {given}"))]))
            }
            "wait" => {
                tokio::time::sleep(Duration::from_millis(400)).await;
                Ok(answer(vec![ContentBlock::text("waited")]))
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
    start_server(false).await
}

/// Starts a server of an older protocol version.
pub(crate) async fn start_legacy() -> (String, Arc<Seen>) {
    start_server(true).await
}

/// The answer of a server to a client that asks for version 2026-07-28, which it does not know.
fn unknown_method(request: &[u8]) -> http::Response<BoxBody<Bytes, Infallible>> {
    let request: Value = serde_json::from_slice(request).unwrap();
    let error = json!({"code": -32601, "message": "Method not found"});
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
    http::Response::builder()
        .header("content-type", "application/json")
        .body(Full::from(answer.to_string()).boxed())
        .unwrap()
}

async fn start_server(is_legacy: bool) -> (String, Arc<Seen>) {
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
            let service = service.clone();
            let service = service_fn(move |request: http::Request<Incoming>| {
                let service = service.clone();
                async move {
                    let (head, body) = request.into_parts();
                    let body = body.collect().await?.to_bytes();
                    let discovers = body
                        .windows(DISCOVER.len())
                        .any(|part| part == DISCOVER.as_bytes());
                    if is_legacy && discovers {
                        return Ok(unknown_method(&body));
                    }
                    let request = http::Request::from_parts(head, Full::new(body));
                    Ok::<_, hyper::Error>(service.handle(request).await)
                }
            });
            tokio::spawn(async move {
                let connection = auto::Builder::new(TokioExecutor::new());
                let stream = TokioIo::new(stream);
                // A client may leave at any time.
                let _ = connection.serve_connection(stream, service).await;
            });
        }
    });
    (address, seen)
}
