//! The options of a run that clients may choose.

use langgraph::State;
use langgraph::graph::{Breakpoints, Topology};
use langgraph::run::{EventStream, Run};
use langgraph::stream::StreamOptions;
use langgraph::thread::OnOpenInterrupt;

use super::{Breaks, Invocation};

/// Starts a run with the options of its invocation. Also returns the thread.
pub(super) fn streamed<S: State>(
    topology: &Topology,
    run: Run<S>,
    spec: Box<Invocation>,
) -> (String, EventStream<S>) {
    // The box is gone when the run begins.
    let spec = *spec;
    let mut run = run
        .cancel(spec.cancel)
        .on_open_interrupt(OnOpenInterrupt::Drop)
        .resource(spec.context);
    for (key, value) in spec.metadata {
        run = run.metadata(key, value);
    }
    if let Some(limit) = spec.timeout {
        run = run.timeout(limit);
    }
    if let Some(limit) = spec.limit {
        run = run.limit(limit);
    }
    if let Some(tasks) = spec.max_concurrency {
        run = run.max_concurrency(tasks);
    }
    if let Some(durability) = spec.durability {
        run = run.durability(durability);
    }
    if let Some(before) = spec.before {
        run = run.interrupt_before(breakpoints(topology, before));
    }
    if let Some(after) = spec.after {
        run = run.interrupt_after(breakpoints(topology, after));
    }
    let mut options = StreamOptions::new(spec.modes).buffer(64);
    if spec.subgraphs {
        options = options.subgraphs();
    }
    (spec.thread, run.stream(options))
}

/// Returns the breakpoints of a request. Names of no node of the graph are left out, as by the
/// reference: clients send those of all graphs that they know.
fn breakpoints(topology: &Topology, breaks: Breaks) -> Breakpoints {
    match breaks {
        Breaks::All => Breakpoints::All,
        Breaks::Nodes(mut nodes) => {
            nodes.retain(|name| topology.node_at(name).is_some());
            Breakpoints::Nodes(nodes)
        }
    }
}
