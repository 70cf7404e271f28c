//! A plan whose steps run side by side, as a map: with a bar for each step in a terminal, and plain lines
//! elsewhere. Run it with `cargo run --example plan_and_execute`.

use indicatif::{ProgressBar, ProgressStyle};
use langgraph::message::Message;
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_agent::{MessagesState, MessagesStateUpdate, ScriptedModel};
use langgraph_examples::show;
use langgraph_patterns::{PlanAndExecute, PlanStateUpdate};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Looks up a tea, which takes its time.
async fn look_up(state: &MessagesState) -> MessagesStateUpdate {
    let task = state
        .messages
        .first()
        .map(Message::text)
        .unwrap_or_default();
    let tea = task.lines().next().unwrap_or_default().to_owned();
    tokio::time::sleep(Duration::from_millis(20 * tea.len() as u64)).await;
    MessagesStateUpdate::default().messages(vec![Message::assistant(format!("{tea}: found"))])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let planner = ScriptedModel::new([
        r#"{"steps": ["sencha", "mint tea", "masala chai", "earl grey"]}"#,
        r#"{"answer": "Green, green with mint, black with spices, black with bergamot.", "steps": []}"#,
    ]);
    let mut agent = StateGraph::<MessagesState>::new();
    agent
        .add_node("look_up", look_up)
        .add_sequence(&["look_up"]);
    let graph = PlanAndExecute::new(planner, agent.compile()?).compile()?;
    if show::graph(graph.topology()) {
        return Ok(());
    }

    let mut events = graph
        .run(PlanStateUpdate::of("Compare teas."))
        .stream(StreamMode::Progress);
    let bar = std::io::stderr().is_terminal().then(|| {
        let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}");
        ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    });
    while let Some(event) = events.next().await {
        let EventKind::Progress(map) = event?.kind else {
            continue;
        };
        match &bar {
            Some(bar) => {
                bar.set_length(map.total as u64);
                bar.set_message(map.node.to_string());
                bar.set_position(map.done as u64);
            }
            None => println!("{}: {} of {}", map.node, map.done, map.total),
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let state = events.finish().await?.finished()?;
    for done in &state.done {
        println!("{}", done.result);
    }
    println!("{}", state.answer.unwrap_or_default());
    Ok(())
}
