//! A draft is criticised and rewritten until the critic is content.
//! Run it with `cargo run --example reflection`.

use langgraph::message::Message;
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_agent::ScriptedModel;
use langgraph_examples::show;
use langgraph_patterns::{Reflection, ReflectionStateUpdate};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let writer = ScriptedModel::new(["Tea is nice.", "Tea is an infusion of leaves."]);
    let critic = ScriptedModel::new([
        r#"{"good": false, "feedback": "Say what tea is."}"#,
        r#"{"good": true}"#,
    ]);
    let agent = Reflection::new(writer, critic)
        .criterion("It defines the word.")
        .compile()?;
    if show::graph(agent.topology()) {
        return Ok(());
    }
    let run = agent.run(ReflectionStateUpdate::user("What is tea?"));
    let mut events = run.stream(StreamMode::Values);
    let mut shown = (String::new(), String::new());
    while let Some(event) = events.next().await {
        let EventKind::Values(state) = event?.kind else {
            continue;
        };
        if state.draft != shown.0 {
            println!("draft {}: {}", state.drafts, state.draft);
        }
        if !state.feedback.is_empty() && state.feedback != shown.1 {
            println!("critic: {}", state.feedback);
        }
        shown = (state.draft.clone(), state.feedback.clone());
    }
    let state = events.finish().await?.finished()?;
    println!(
        "answer: {}",
        state.messages.last().map(Message::text).unwrap_or_default()
    );
    Ok(())
}
