//! The builder: a graph of one node, its edges written one by one, compiled and invoked.
//! The graph that `graph!` writes gives the same result.
//! Run it with `cargo run --example state_graph_echo -- "hello there"`.

use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Echo {
    said: String,
    #[reducer(append)]
    heard: Vec<String>,
}

/// Writes one field; the field's reducer appends it.
#[node]
async fn echo(state: &Echo) -> EchoUpdate {
    EchoUpdate::default().heard(vec![state.said.clone()])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let said = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "hello".to_owned());
    let input = EchoUpdate::default().said(said);

    let mut builder = StateGraph::<Echo>::new();
    builder
        .add_node("echo", echo)
        .add_edge(START, "echo")
        .add_edge("echo", END);
    let built = builder.compile()?.invoke(input.clone()).await?;

    let wired = graph! {
        type State = Echo;
        START => echo => END;
    };
    let wired = wired.compile()?.invoke(input).await?;

    assert_eq!(built, wired);
    println!("{}", built.heard.join("\n"));
    Ok(())
}
