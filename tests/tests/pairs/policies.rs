//! Policies of a node in every order, wherever the node stands: the order in which they are set does not
//! matter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::{ConfiguredNode, ConfiguredWorker, worker};
use langgraph::policy::{CachePolicy, NodeCall, NodeFailure, RetryPolicy, middleware};
use langgraph::prelude::*;
use langgraph::stream::StreamMode;
use langgraph_tests::fixtures::lines::{Boom, Log, LogUpdate, line, ms, single};

use crate::orders::orders;

#[derive(Clone, Copy, Debug)]
enum Policy {
    Retry,
    Timeout,
    Cache,
    Handler,
    Middleware,
}

const POLICIES: [Policy; 5] = [
    Policy::Retry,
    Policy::Timeout,
    Policy::Cache,
    Policy::Handler,
    Policy::Middleware,
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Alone,
    Thread,
    Stream,
    Subgraph,
    Map,
}

/// How often the node and its middleware began.
#[derive(Default)]
struct Counts {
    node: AtomicU32,
    middleware: AtomicU32,
}

impl Counts {
    fn take(&self) -> (u32, u32) {
        (
            self.node.swap(0, Ordering::SeqCst),
            self.middleware.swap(0, Ordering::SeqCst),
        )
    }
}

/// Fails, then never ends, then answers.
async fn flaky(_: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    attempt("node", cx).await
}

async fn flaky_item(item: u32, _: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    attempt(&item.to_string(), cx).await
}

async fn attempt(what: &str, cx: &Context) -> Result<LogUpdate, NodeError> {
    cx.resource::<Counts>()?.node.fetch_add(1, Ordering::SeqCst);
    match cx.attempt() {
        1 => Err(Boom("not yet").into()),
        2 => std::future::pending().await,
        _ => Ok(line(format!("{what} done"))),
    }
}

fn handled(_: &Log, _: &NodeFailure) -> LogUpdate {
    line("handled")
}

#[allow(clippy::needless_pass_by_value)] // what a middleware takes
fn counts(call: NodeCall<'_, Log>) -> langgraph::node::NodeRun<'_, Log> {
    if let Ok(counts) = call.context().resource::<Counts>() {
        counts.middleware.fetch_add(1, Ordering::SeqCst);
    }
    call.run()
}

fn retry(attempts: u32) -> RetryPolicy {
    RetryPolicy::attempts(attempts).immediately()
}

fn node(order: &[Policy], attempts: u32) -> ConfiguredNode<Log> {
    let node = flaky.metadata("kind", "flaky");
    order.iter().fold(node, |node, policy| match policy {
        Policy::Retry => node.retry(retry(attempts)),
        Policy::Timeout => node.timeout(ms(100)),
        Policy::Cache => node.cache(CachePolicy::input()),
        Policy::Handler => node.on_error(handled),
        Policy::Middleware => node.middleware(middleware(counts)),
    })
}

fn item_node(order: &[Policy], attempts: u32) -> ConfiguredWorker<Log, u32> {
    let node = worker(flaky_item);
    order.iter().fold(node, |node, policy| match policy {
        Policy::Retry => node.retry(retry(attempts)),
        Policy::Timeout => node.timeout(ms(100)),
        Policy::Cache => node.cache(CachePolicy::item()),
        Policy::Handler => node.on_error(handled),
        Policy::Middleware => node.middleware(middleware(counts)),
    })
}

fn graph(place: Place, order: &[Policy], attempts: u32) -> CompiledStateGraph<Log> {
    let graph = match place {
        Place::Subgraph => {
            let inner = single(node(order, attempts)).compile().unwrap();
            single(inner)
        }
        Place::Map => {
            let mut graph = StateGraph::<Log>::new();
            let items = graph.add_worker("items", item_node(order, attempts));
            graph.add_map(START, |_: &Log| [0_u32, 1], &items);
            graph
        }
        _ => single(node(order, attempts)),
    };
    let graph = graph.compile().unwrap();
    match place {
        Place::Thread => graph.checkpointer(Arc::new(MemorySaver::new())),
        _ => graph,
    }
}

async fn run(graph: &CompiledStateGraph<Log>, place: Place, thread: &str) -> Vec<String> {
    let run = graph.run(Log::default());
    let outcome = match place {
        Place::Thread => run.thread(thread).await,
        Place::Stream => {
            let mut events = run.stream(StreamMode::Updates | StreamMode::Tasks);
            while let Some(event) = events.next().await {
                event.unwrap();
            }
            events.finish().await
        }
        _ => run.await,
    };
    outcome.unwrap().finished().unwrap().lines
}

#[tokio::test(start_paused = true)]
async fn policies_in_every_order_do_the_same_wherever_the_node_stands() {
    for place in [
        Place::Alone,
        Place::Thread,
        Place::Stream,
        Place::Subgraph,
        Place::Map,
    ] {
        let (tasks, done, handled) = match place {
            Place::Map => (2, vec!["0 done", "1 done"], vec!["handled", "handled"]),
            _ => (1, vec!["node done"], vec!["handled"]),
        };
        for order in orders(&POLICIES) {
            let what = format!("{place:?}, {order:?}");
            // The third attempt answers, and the answer is kept.
            let counts = Arc::new(Counts::default());
            let stays = graph(place, &order, 3).resource(Arc::clone(&counts));
            assert_eq!(run(&stays, place, "a").await, done, "{what}");
            assert_eq!(counts.take(), (3 * tasks, 3 * tasks), "{what}");
            assert_eq!(run(&stays, place, "b").await, done, "{what}");
            assert_eq!(counts.take(), (0, 0), "{what}");

            // Without it the handler answers, which is not kept.
            let fails = graph(place, &order, 2).resource(Arc::clone(&counts));
            for thread in ["a", "b"] {
                assert_eq!(run(&fails, place, thread).await, handled, "{what}");
                assert_eq!(counts.take(), (2 * tasks, 2 * tasks), "{what}");
            }
        }
    }
}
