//! A pipeline: every node sees what the ones before it wrote, and writes only what it changes.
//! The text is cleaned, answered, and signed.
//! Run it with `cargo run --example pipeline -- "  hello   THERE "`.

use langgraph::prelude::*;
use langgraph_examples::show;

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Letter {
    text: String,
    reply: String,
    #[reducer(append)]
    log: Vec<String>,
}

#[node]
async fn preprocess(state: &Letter) -> LetterUpdate {
    let words: Vec<&str> = state.text.split_whitespace().collect();
    LetterUpdate::default()
        .text(words.join(" ").to_lowercase())
        .log(vec!["preprocess".to_owned()])
}

#[node]
async fn chat(state: &Letter) -> LetterUpdate {
    LetterUpdate::default()
        .reply(format!("You wrote \"{}\".", state.text))
        .log(vec!["chat".to_owned()])
}

#[node]
async fn postprocess(state: &Letter) -> LetterUpdate {
    LetterUpdate::default()
        .reply(format!("{} Yours, the graph", state.reply))
        .log(vec!["postprocess".to_owned()])
}

/// The graph.
pub(crate) fn letters() -> Result<CompiledStateGraph<Letter>, CompilationErrors> {
    graph! {
        type State = Letter;
        START => preprocess => chat => postprocess => END;
    }
    .compile()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "  hello   THERE ".to_owned());
    let graph = letters()?;
    if show::graph(graph.topology()) {
        return Ok(());
    }
    let state = graph.invoke(LetterUpdate::default().text(text)).await?;
    println!("{}", state.reply);
    println!("by way of {}", state.log.join(", "));
    Ok(())
}
