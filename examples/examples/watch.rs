//! Watching a graph: its picture, its steps as they happen, and a node that prints the state.
//! The debug node writes nothing, so it can stand anywhere without changing the result.
//! Run it with `cargo run --example watch`.

use langgraph::prelude::*;
use langgraph_examples::show;

#[derive(State, Clone, Debug, Default)]
struct Count {
    value: i64,
}

#[node]
async fn double(state: &Count) -> CountUpdate {
    CountUpdate::default().value(state.value * 2)
}

#[node]
async fn debug(state: &Count) {
    println!("debug: {state:?}");
}

enum Size {
    Small,
    Large,
}

fn size(state: &Count) -> Size {
    if state.value < 20 {
        Size::Small
    } else {
        Size::Large
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = graph! {
        type State = Count;
        START => double => debug => match size {
            Size::Small => double,
            Size::Large => END,
        };
    }
    .compile()?;
    if show::graph(graph.topology()) {
        return Ok(());
    }
    println!("{}", graph.topology().draw().mermaid());
    let mut events = graph
        .run(CountUpdate::default().value(5))
        .stream(StreamMode::Updates);
    while let Some(event) = events.next().await {
        let event = event?;
        if let (Some(node), Some(update)) = (event.node(), event.update()) {
            println!("step {}: {node} wrote {update:?}", event.step);
        }
    }
    println!("{:?}", events.finish().await?.finished()?);
    Ok(())
}
