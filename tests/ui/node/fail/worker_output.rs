#![allow(unused)]

use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Jokes {
    topics: Vec<String>,
    #[reducer(append)]
    jokes: Vec<String>,
}

fn topics(state: &Jokes) -> Vec<String> {
    state.topics.clone()
}

#[node]
async fn write(topic: String) -> String {
    topic
}

#[node]
async fn write_again(topic: String, state: &Jokes) -> String {
    topic
}

fn main() {
    let _ = graph! {
        type State = Jokes;

        START => for topic in topics { write(topic) } => END;
    };
    let mut graph = StateGraph::<Jokes>::new();
    graph.add_worker("write", |topic: String| async move { topic });
}
