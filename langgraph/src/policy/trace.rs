//! `tracing` spans of nodes.

use tracing::{Instrument as _, Span, debug, info, info_span, warn};

use super::{Middleware, NodeCall};
use crate::error::AgentError;
use crate::node::NodeRun;
use crate::state::State;

/// A [`Middleware`] that puts each attempt at a node into a `tracing` span.
///
/// The span has the name `node`, the target `langgraph` and the level `INFO`. Its fields are
/// `node`, `step`, `attempt`, and `thread` if there is one. The end of the attempt is an event in
/// it: `DEBUG` with the number of `writes`, `INFO` if it interrupts, or `WARN` with the `error`, once: at
/// the innermost node. Nodes of subgraphs have spans if their graph has this middleware too, inside the
/// span of the node that is the subgraph.
///
/// Needs the feature `tracing`.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph::policy::TraceNodes;
///
/// let mut graph = StateGraph::<i64>::new();
/// graph
///     .add_node("double", |n: &i64| n * 2)
///     .add_sequence(&["double"])
///     .middleware(TraceNodes);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TraceNodes;

impl<S: State> Middleware<S> for TraceNodes {
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        let span = info_span!(
            target: "langgraph",
            "node",
            node = call.node(),
            step = call.step(),
            attempt = call.attempt(),
            thread = call.context().thread_id(),
            otel.name = %format_args!("node {}", call.node()),
            otel.status_code = tracing::field::Empty,
        );
        let cx = call.context();
        let attempt = async move {
            let answer = call.run().await;
            match &answer {
                Ok(output) => {
                    debug!(target: "langgraph", writes = output.writes().len(), "finished");
                }
                Err(_) if cx.has_open_interrupt() => info!(target: "langgraph", "interrupted"),
                Err(error) => {
                    Span::current().record("otel.status_code", "ERROR");
                    // A node of a subgraph has reported its own error.
                    if !error.is::<AgentError>() {
                        warn!(target: "langgraph", %error, "failed");
                    }
                }
            }
            answer
        };
        NodeRun::future(attempt.instrument(span))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Write as _};
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::TraceNodes;
    use crate::error::NodeError;
    use crate::graph::NodeExt as _;
    use crate::graph::StateGraph;
    use crate::policy::RetryPolicy;

    /// Writes spans and events as text.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<String>>>);

    struct Text(String);

    impl Visit for Text {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            // Without the names of OpenTelemetry.
            if !field.name().contains('.') {
                write!(self.0, " {field}={value:?}").unwrap();
            }
        }
    }

    impl Subscriber for Lines {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "langgraph"
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut text = Text(span.metadata().name().to_owned());
            span.record(&mut text);
            self.0.lock().unwrap().push(text.0);
            Id::from_u64(1)
        }

        fn event(&self, event: &Event<'_>) {
            let mut text = Text(event.metadata().level().to_string());
            event.record(&mut text);
            self.0.lock().unwrap().push(text.0);
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[tokio::test]
    async fn b20_each_attempt_is_a_span_and_how_it_ended_an_event() {
        let lines = Lines::default();
        let _guard = tracing::subscriber::set_default(lines.clone());
        let flaky = |n: &i64, cx: &crate::Context| match cx.attempt() {
            1 => Err(NodeError::msg("no luck")),
            _ => Ok(n + 1),
        };
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("flaky", flaky.retry(RetryPolicy::attempts(2).immediately()))
            .add_sequence(&["flaky"])
            .middleware(TraceNodes);
        assert_eq!(graph.compile().unwrap().invoke(1).await.unwrap(), 2);
        let expected = [
            "node node=\"flaky\" step=1 attempt=1",
            "WARN message=failed error=no luck",
            "node node=\"flaky\" step=1 attempt=2",
            "DEBUG message=finished writes=1",
        ];
        // Around them are the spans of the run and of its superstep.
        let mut lines = lines.0.lock().unwrap().clone();
        lines.retain(|line| !line.starts_with("run ") && !line.starts_with("superstep "));
        assert_eq!(lines, expected);
    }
}
