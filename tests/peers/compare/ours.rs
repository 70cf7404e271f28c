//! This crate.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::node::NodeRun;
use langgraph::prelude::*;

use crate::state::{Chat, Counter, count, model, question, tool, wants_tool};
use crate::workload::{
    Chain, FanOut, Loop, Observed, React, Stored, Work, Workload, names, new_thread, work,
};

pub fn make(workload: Workload, size: usize) -> Option<Work> {
    Some(match workload {
        Chain => summed(chain(size), size),
        Loop => summed(turns(size), size),
        FanOut => summed(fan_out(size), 3),
        React => {
            let graph = agent(size);
            work(move || {
                let run = graph.run(question()).limit(2 * size + 1);
                async move { run.await.unwrap().finished().unwrap().messages.len() }
            })
        }
        Observed => {
            let graph = agent(size);
            work(move || {
                let run = graph.run(question()).limit(2 * size + 1);
                async move {
                    let mut events = run.stream(StreamMode::Updates);
                    let mut updates = 0;
                    while let Some(event) = events.next().await {
                        updates +=
                            usize::from(matches!(event.unwrap().kind, EventKind::Update { .. }));
                    }
                    events.finish().await.unwrap().finished().unwrap();
                    updates
                }
            })
        }
        Stored => {
            let graph = agent(size).checkpointer(Arc::new(MemorySaver::new()));
            work(move || {
                let run = graph.run(question()).thread(new_thread());
                let run = run.limit(2 * size + 1);
                async move { run.await.unwrap().finished().unwrap().messages.len() }
            })
        }
    })
}

fn summed(graph: CompiledStateGraph<Counter>, limit: usize) -> Work {
    work(move || {
        let run = graph.run(()).limit(limit);
        async move { run.await.unwrap().finished().unwrap().total }
    })
}

fn chain(nodes: usize) -> CompiledStateGraph<Counter> {
    let mut graph = StateGraph::<Counter>::new();
    for name in names(nodes) {
        graph.add_node(name, count);
    }
    graph.add_sequence(&names(nodes)).compile().unwrap()
}

fn turns(turns: usize) -> CompiledStateGraph<Counter> {
    let more = move |state: &Counter| state.total < turns;
    let graph = graph! {
        type State = Counter;
        START => count => if more { count } else { END };
    };
    graph.compile().unwrap()
}

fn fan_out(width: usize) -> CompiledStateGraph<Counter> {
    let mut graph = StateGraph::<Counter>::new();
    graph.add_node("source", count).add_node("join", count);
    graph.add_edge(START, "source").add_edge("join", END);
    for name in names(width) {
        graph.add_node(name.clone(), count).add_edge("source", name);
    }
    graph.add_edge(names(width), "join").compile().unwrap()
}

fn agent(turns: usize) -> CompiledStateGraph<Chat> {
    let model = Model { turns };
    let graph = graph! {
        type State = Chat;
        START => model => if wants_tool { tool => model } else { END };
    };
    graph.compile().unwrap()
}

struct Model {
    turns: usize,
}

impl Node<Chat> for Model {
    fn run<'a>(&'a self, state: &'a Chat, _: &'a Context) -> NodeRun<'a, Chat> {
        NodeRun::future(model(state, self.turns))
    }

    fn may_goto(&self) -> bool {
        false
    }
}
