//! `cognis-graph`. A node says with its update where to go next; an edge is for drawings only.

use std::hint::black_box;
use std::sync::Arc;

use cognis_graph::cognis_core::message::{AiMessage, Message, ToolCall};
use cognis_graph::cognis_core::{Runnable, RunnableConfig};
use cognis_graph::{
    CompiledGraph, Goto, Graph, GraphState, InMemoryCheckpointer, NodeOut, StreamMode, StreamModes,
    node_fn,
};
use futures::StreamExt as _;

use crate::workload::{Chain, FanOut, Loop, Observed, React, Stored, Work, Workload, names, work};

pub fn make(workload: Workload, size: usize) -> Option<Work> {
    Some(match workload {
        Chain => summed(chain(size), size),
        Loop => summed(turns(size), size),
        FanOut => summed(fan_out(size), 3),
        React => talked(agent(size), size),
        Observed => observed(agent(size), size),
        // Runs are distinguished by an id, which is new for each.
        Stored => talked(
            agent(size).with_checkpointer(Arc::new(InMemoryCheckpointer::new())),
            size,
        ),
    })
}

fn limited(limit: usize) -> RunnableConfig {
    RunnableConfig::default().with_recursion_limit(limit.try_into().unwrap())
}

fn summed(graph: CompiledGraph<Counter>, limit: usize) -> Work {
    let graph = Arc::new(graph);
    work(move || {
        let graph = Arc::clone(&graph);
        async move {
            let state = graph.invoke(Counter::default(), limited(limit)).await;
            state.unwrap().total
        }
    })
}

fn talked(graph: CompiledGraph<Chat>, turns: usize) -> Work {
    let graph = Arc::new(graph);
    work(move || {
        let graph = Arc::clone(&graph);
        async move {
            let messages = vec![Message::human("What is 2 + 3?")];
            let state = graph
                .invoke(Chat { messages }, limited(2 * turns + 1))
                .await;
            state.unwrap().messages.len()
        }
    })
}

/// Its events of updates name the node, and hold nothing of the update.
fn observed(graph: CompiledGraph<Chat>, turns: usize) -> Work {
    let graph = Arc::new(graph);
    work(move || {
        let graph = Arc::clone(&graph);
        async move {
            let messages = vec![Message::human("What is 2 + 3?")];
            let modes = StreamModes::only(StreamMode::Updates);
            let config = limited(2 * turns + 1);
            let events = graph.stream_mode(Chat { messages }, modes, config).await;
            events.unwrap().count().await
        }
    })
}

#[derive(GraphState, Clone, Default)]
struct Counter {
    #[reducer(add)]
    total: usize,
}

fn counted(goto: Goto) -> NodeOut<Counter> {
    let total = black_box(1);
    let update = CounterUpdate { total };
    NodeOut { update, goto }
}

/// Adds a node that counts and goes where it always goes.
fn with_count(graph: Graph<Counter>, name: &str, goto: Goto) -> Graph<Counter> {
    let count = node_fn::<Counter, _, _>(name, move |_, _| {
        let goto = goto.clone();
        async move { Ok(counted(goto)) }
    });
    graph.node(name, count)
}

fn chain(nodes: usize) -> CompiledGraph<Counter> {
    let names = names(nodes);
    let mut graph = Graph::new().start_at(&*names[0]);
    for pair in names.windows(2) {
        graph = with_count(graph, &pair[0], Goto::node(&*pair[1]));
    }
    graph = with_count(graph, &names[nodes - 1], Goto::End);
    graph.compile().unwrap()
}

fn turns(turns: usize) -> CompiledGraph<Counter> {
    let count = node_fn::<Counter, _, _>("count", move |state, _| {
        let done = state.total + 1 >= turns;
        async move {
            let goto = if done { Goto::End } else { Goto::node("count") };
            Ok(counted(goto))
        }
    });
    Graph::new()
        .start_at("count")
        .node("count", count)
        .compile()
        .unwrap()
}

/// One of the nodes leads on to the join, and the others nowhere: they end in the same superstep, so the
/// join sees what all have written. Its `BarrierNode`, which counts arrivals, takes two and a half times
/// as long.
fn fan_out(width: usize) -> CompiledGraph<Counter> {
    let mut graph = Graph::new().start_at("source");
    graph = with_count(graph, "source", Goto::Multiple(names(width)));
    for (index, name) in names(width).iter().enumerate() {
        let goto = if index == 0 {
            Goto::node("join")
        } else {
            Goto::Halt
        };
        graph = with_count(graph, name, goto);
    }
    with_count(graph, "join", Goto::End).compile().unwrap()
}

#[derive(GraphState, Clone, Default)]
struct Chat {
    #[reducer(append)]
    messages: Vec<Message>,
}

fn said(messages: Vec<Message>, goto: Goto) -> NodeOut<Chat> {
    let update = ChatUpdate { messages };
    NodeOut { update, goto }
}

fn agent(turns: usize) -> CompiledGraph<Chat> {
    let model = node_fn::<Chat, _, _>("model", move |state, _| {
        let asks = state.messages.len() < 2 * turns;
        async move {
            Ok(if asks {
                let call = ToolCall {
                    id: "call".to_owned(),
                    name: "add".to_owned(),
                    arguments: serde_json::Value::Null,
                };
                let tool_calls = vec![call];
                let message = AiMessage {
                    tool_calls,
                    ..Default::default()
                };
                said(vec![Message::Ai(message)], Goto::node("tool"))
            } else {
                said(vec![Message::ai("done")], Goto::End)
            })
        }
    });
    let tool = node_fn::<Chat, _, _>("tool", |state, _| {
        let calls = state.messages.last().map_or(&[][..], Message::tool_calls);
        let results = calls.iter().map(|call| Message::tool(&call.id, "5"));
        let results = results.collect();
        async move { Ok(said(results, Goto::node("model"))) }
    });
    let graph = Graph::new().start_at("model").node("model", model);
    graph.node("tool", tool).compile().unwrap()
}
