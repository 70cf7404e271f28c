//! `tracing` spans of runs and supersteps: nothing without the feature `tracing`.

use crate::node::Scope;

/// A span around a part of a run. It costs nothing without a subscriber.
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
mod imp {
    use std::future::Future;

    use tracing::Instrument as _;

    use super::{Scope, Span};

    impl Span {
        /// Returns true if there is a subscriber for spans.
        pub(crate) fn is_watched() -> bool {
            tracing::enabled!(target: "langgraph", tracing::Level::INFO)
        }

        /// The span of a run.
        pub(crate) fn run(id: &str, graph: &str, thread: Option<&str>) -> Self {
            let span = tracing::info_span!(
                target: "langgraph",
                "run",
                run = id,
                graph,
                thread,
                otel.name = %format_args!("invoke_agent {graph}"),
                gen_ai.operation.name = "invoke_agent",
                gen_ai.agent.name = graph,
                gen_ai.conversation.id = thread,
            );
            Self { span }
        }

        /// The span of a checkpoint that is stored.
        pub(crate) fn checkpoint(step: i64) -> Self {
            let span = tracing::info_span!(target: "langgraph", "checkpoint", step);
            Self { span }
        }

        /// The span of a superstep.
        pub(crate) fn superstep(scope: &Scope, step: usize, tasks: usize) -> Self {
            let path = || scope.path.join("/");
            let path = (!scope.path.is_root()).then(path);
            let run = scope.shared.run_id();
            Self {
                span: tracing::info_span!(
                    target: "langgraph", "superstep", run, step, tasks, path
                ),
            }
        }

        /// No span.
        pub(crate) fn none() -> Self {
            let span = tracing::Span::none();
            Self { span }
        }

        /// The span that is entered now, for a task that is spawned in it.
        pub(crate) fn current() -> Self {
            let span = tracing::Span::current();
            Self { span }
        }

        /// Does `work` inside the span.
        pub(crate) fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
            self.span.in_scope(work)
        }

        /// The future inside the span.
        pub(crate) fn around<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
            future.instrument(self.span)
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod imp {
    use super::{Scope, Span};

    impl Span {
        pub(crate) const fn is_watched() -> bool {
            false
        }

        pub(crate) const fn superstep(_: &Scope, _: usize, _: usize) -> Self {
            Self {}
        }

        pub(crate) const fn none() -> Self {
            Self {}
        }

        pub(crate) const fn checkpoint(_: i64) -> Self {
            Self {}
        }

        pub(crate) const fn current() -> Self {
            Self {}
        }

        #[allow(clippy::unused_self)] // a span has a scope with the feature
        pub(crate) fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
            work()
        }

        pub(crate) fn around<F>(self, future: F) -> F {
            let Self {} = self;
            future
        }
    }
}

#[cfg(test)]
#[cfg(feature = "tracing")]
mod tests;
