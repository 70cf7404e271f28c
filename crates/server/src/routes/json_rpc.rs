//! JSON-RPC 2.0, as MCP and A2A use it.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ApiError;

/// A request, or a notification, which has no id.
#[derive(Debug, Deserialize)]
pub(super) struct RpcCall {
    pub(super) jsonrpc: String,
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) method: String,
    #[serde(default)]
    pub(super) params: Value,
}

/// Why a call has no result.
#[derive(Debug)]
pub(super) struct RpcFailure {
    pub(super) code: i64,
    pub(super) message: String,
}

impl RpcFailure {
    pub(super) fn new(code: i64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message)
    }

    pub(super) fn unknown_method(method: &str) -> Self {
        Self::new(-32601, format!("unknown method `{method}`"))
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }
}

impl From<ApiError> for RpcFailure {
    fn from(error: ApiError) -> Self {
        let code = if error.status().is_server_error() {
            -32603
        } else {
            -32602
        };
        Self::new(code, error.detail())
    }
}

/// Returns the response to the call of that id.
pub(super) fn response(id: &Value, answer: Result<Value, RpcFailure>) -> Value {
    match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcFailure { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    }
}

/// Reads a body. One that is no call of JSON-RPC 2.0 is refused.
pub(super) fn read(body: &[u8]) -> Result<RpcCall, RpcFailure> {
    let value: Value =
        serde_json::from_slice(body).map_err(|error| RpcFailure::new(-32700, error.to_string()))?;
    let call: RpcCall = serde_json::from_value(value)
        .map_err(|error| RpcFailure::invalid_request(error.to_string()))?;
    if call.jsonrpc != "2.0" {
        return Err(RpcFailure::invalid_request(format!(
            "expected `jsonrpc` 2.0, found `{}`",
            call.jsonrpc
        )));
    }
    Ok(call)
}
