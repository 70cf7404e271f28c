//! How traces go on in other processes.

use std::sync::OnceLock;

use crate::TraceContext;

/// Connects the spans of this process with those of others.
///
/// Implement it for your tracing system; [`set_propagation`] sets the one of a process.
pub trait Propagation: Send + Sync + 'static {
    /// Returns where in a trace the current span is.
    fn current(&self) -> Option<TraceContext>;

    /// Calls `open`. The span that it creates is a child of `parent`.
    fn within(&self, parent: &TraceContext, open: &mut dyn FnMut());
}

static PROPAGATION: OnceLock<Box<dyn Propagation>> = OnceLock::new();

/// Sets how traces go on in other processes, once for this process. Returns false if it is set.
///
/// Without it, a served run passes the trace context of its request on to the agents that it asks.
pub fn set_propagation(propagation: impl Propagation) -> bool {
    PROPAGATION.set(Box::new(propagation)).is_ok()
}

/// Returns where in a trace `span` is.
pub(crate) fn context_of(span: &tracing::Span) -> Option<TraceContext> {
    let propagation = PROPAGATION.get()?;
    span.in_scope(|| propagation.current())
}

/// Creates a span as a child of the requester's.
pub(crate) fn span_within(
    parent: Option<&TraceContext>,
    create: impl Fn() -> tracing::Span,
) -> tracing::Span {
    let (Some(propagation), Some(parent)) = (PROPAGATION.get(), parent) else {
        return create();
    };
    let mut span = None;
    propagation.within(parent, &mut || span = Some(create()));
    span.unwrap_or_else(create)
}
