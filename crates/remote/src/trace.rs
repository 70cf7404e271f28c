//! Trace context on its way between processes.

use serde::{Deserialize, Serialize};

/// Where in a trace a request was sent: the W3C headers `traceparent` and `tracestate`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TraceContext {
    /// The ids of the trace and of the span, as `00-TRACE-SPAN-FLAGS`.
    pub traceparent: String,
    /// What tracing systems add to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracestate: Option<String>,
}

impl TraceContext {
    /// Creates a trace context from the two headers.
    pub fn new(traceparent: impl Into<String>, tracestate: Option<String>) -> Self {
        Self {
            traceparent: traceparent.into(),
            tracestate,
        }
    }
}
