//! The runtime crate under another name, in a module.
#![deny(warnings)]

mod vendor {
    pub(crate) use ::graphs;
}

use vendor::graphs::state::PlainUpdate;
use vendor::graphs::{Context, StateGraph, node};

#[node(crate = crate::vendor::graphs)]
async fn borrowed(n: &i64, _: &Context) -> i64 {
    n + 1
}

#[node(crate = crate::vendor::graphs, alias = "old")]
async fn owned(n: i64) -> PlainUpdate<i64> {
    PlainUpdate(Some(n + 1))
}

#[node(crate = crate::vendor::graphs)]
fn synchronous(n: &i64) -> i64 {
    n + 1
}

struct Method;

#[node(crate = crate::vendor::graphs)]
impl Method {
    async fn run(&self, n: &i64) -> i64 {
        n + 1
    }
}

fn main() {
    let mut graph = StateGraph::<i64>::new();
    graph
        .add_node("borrowed", borrowed)
        .add_node("owned", owned)
        .add_node("synchronous", synchronous)
        .add_node("method", Method)
        .add_sequence(&["borrowed", "owned", "synchronous", "method"]);
    assert_eq!(graph.compile().unwrap().invoke_blocking(0).unwrap(), 4);
}
