//! Graphs and frames of the tests.

use std::sync::Arc;

use langgraph::node::NodeRun;
use langgraph::prelude::*;
use langgraph::stream::StreamModes;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Page {
    pub(crate) title: String,
}

/// Emits numbers, one for each permit, and says that it was dropped.
pub(crate) struct Count {
    pub(crate) to: u64,
    pub(crate) go: Arc<Semaphore>,
    /// Closed when the node is dropped before its end.
    pub(crate) alive: Arc<Semaphore>,
}

struct Alarm(Option<Arc<Semaphore>>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(alive) = &self.0 {
            alive.close();
        }
    }
}

impl Node<Page> for Count {
    fn run<'a>(&'a self, _: &'a Page, cx: &'a Context) -> NodeRun<'a, Page> {
        NodeRun::future(async move {
            let mut alarm = Alarm(Some(Arc::clone(&self.alive)));
            for number in 0..self.to {
                self.go.acquire().await?.forget();
                cx.emit(number).await?;
            }
            alarm.0 = None;
            Ok::<_, NodeError>(())
        })
    }
}

/// A run that emits `to` numbers, one for each permit.
pub(crate) struct Counting {
    pub(crate) graph: CompiledStateGraph<Page>,
    pub(crate) go: Arc<Semaphore>,
    pub(crate) alive: Arc<Semaphore>,
}

impl Counting {
    pub(crate) fn to(to: u64) -> Self {
        let (go, alive) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let count = Count {
            to,
            go: Arc::clone(&go),
            alive: Arc::clone(&alive),
        };
        let mut graph = StateGraph::<Page>::new();
        graph.add_node("count", count).add_sequence(&["count"]);
        let graph = graph.compile().unwrap();
        Self { graph, go, alive }
    }

    pub(crate) fn events(&self) -> langgraph::run::EventStream<Page> {
        self.graph.run(()).stream(StreamMode::Custom)
    }

    /// True when the run was dropped on its way.
    pub(crate) fn was_dropped(&self) -> bool {
        self.alive.is_closed()
    }
}

/// A graph of one node.
pub(crate) fn one<N, K>(name: &str, node: N) -> CompiledStateGraph<Page>
where
    N: langgraph::graph::IntoNode<Page, K>,
{
    let mut graph = StateGraph::<Page>::new();
    graph.add_node(name, node).add_sequence(&[name]);
    graph.compile().unwrap()
}

pub(crate) const NONE: StreamModes = StreamModes::NONE;

/// A server-sent event: its id, its name and its data.
pub(crate) fn fields(text: &str) -> (String, String, serde_json::Value) {
    let body = text
        .strip_suffix("\n\n")
        .expect("an event ends in an empty line");
    let lines: Vec<_> = body
        .lines()
        .map(|line| line.split_once(": ").unwrap())
        .collect();
    let [("event", event), ("data", data), ("id", id)] = lines[..] else {
        panic!("{text}");
    };
    let data = serde_json::from_str(data).unwrap();
    (id.to_owned(), event.to_owned(), data)
}
