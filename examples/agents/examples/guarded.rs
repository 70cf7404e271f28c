//! Guards before and after an agent, and a person who reads its answer before it goes out.
//! Run it with `cargo run --example guarded -- "What is the code?" approve`.

use langgraph::checkpoint::MemorySaver;
use langgraph::message::Message;
use langgraph_agent::{ScriptedModel, react_agent};
use langgraph_examples::show;
use langgraph_middleware::{GuardVerdict, Moderation};
use langgraph_patterns::{Review, ReviewAnswer, Reviewed, ReviewedStateUpdate};
use std::sync::Arc;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let question = arguments
        .next()
        .unwrap_or_else(|| "What is the code?".to_owned());
    let decision = arguments.next().unwrap_or_else(|| "approve".to_owned());

    let model = ScriptedModel::new(["The code is 1234.", "Please ask at the desk."]);
    let moderation = Moderation::new()
        .input(|said: &Message| {
            if said.text().contains("password") {
                GuardVerdict::Refuse("I never speak about passwords.".to_owned())
            } else {
                GuardVerdict::Pass
            }
        })
        .output(|said: &Message| GuardVerdict::Replace(said.text().replace("1234", "****")));
    let agent = react_agent(model, ()).with(moderation).compile()?;
    let agent = Reviewed::new(agent)
        .compile()?
        .checkpointer(Arc::new(MemorySaver::new()));
    if show::graph(agent.topology()) {
        return Ok(());
    }

    let thread = agent.thread("desk");
    let mut outcome = thread.run(ReviewedStateUpdate::user(question)).await?;
    let mut decision = match &*decision {
        "approve" => ReviewAnswer::Approve,
        feedback => ReviewAnswer::revise(feedback),
    };
    while let Some(review) = outcome.interrupts().first().and_then(Review::of) {
        println!("for review: {}", review.answer);
        outcome = thread.answer(decision).await?;
        decision = ReviewAnswer::Approve;
    }
    let state = outcome.finished()?;
    println!(
        "goes out: {}",
        state.messages.last().map(Message::text).unwrap_or_default()
    );
    Ok(())
}
