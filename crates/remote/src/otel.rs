//! OpenTelemetry's traces across processes: the run of a remote agent is a child of the node that
//! called it.
//!
//! The runtime and its remote nodes emit `tracing` spans. With a layer of `tracing-opentelemetry`,
//! these are OpenTelemetry's. [`propagate`] continues them in other processes: the W3C trace
//! context travels with each request, over every transport.
//!
//! ```
//! use opentelemetry::trace::TracerProvider as _;
//! use opentelemetry_sdk::trace::SdkTracerProvider;
//! use tracing_subscriber::prelude::*;
//!
//! // With an exporter of your choice.
//! let provider = SdkTracerProvider::builder().build();
//! let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("assistant"));
//! tracing_subscriber::registry().with(layer).init();
//! langgraph_remote::otel::propagate();
//! ```

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

use crate::{Propagation, TraceContext, set_propagation};

/// Continues traces in other processes. Returns false if this process has a propagation already.
pub fn propagate() -> bool {
    set_propagation(W3c)
}

/// The headers `traceparent` and `tracestate` of the W3C.
#[derive(Debug)]
struct W3c;

impl Propagation for W3c {
    fn current(&self) -> Option<TraceContext> {
        let mut headers = HashMap::new();
        TraceContextPropagator::new().inject_context(&Span::current().context(), &mut headers);
        let state = headers
            .remove("tracestate")
            .filter(|state| !state.is_empty());
        Some(TraceContext::new(headers.remove("traceparent")?, state))
    }

    fn within(&self, parent: &TraceContext, open: &mut dyn FnMut()) {
        let mut headers = HashMap::from([("traceparent".to_owned(), parent.traceparent.clone())]);
        if let Some(state) = &parent.tracestate {
            headers.insert("tracestate".to_owned(), state.clone());
        }
        let context = TraceContextPropagator::new().extract(&headers);
        let _attached = context.attach();
        open();
    }
}
