//! The listed programs, started by name, over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../../../examples/tests/listed/mod.rs"]
mod listed;

use listed::Running;

#[test]
fn a_graph_asks_a_graph_at_two_terminals() {
    let agent = listed::program("langgraph-a2a", "a2a_agent");
    let mut agent = Running::start(&mut agent.command(&["127.0.0.1:0"]));
    let url = agent.line();
    let asking = listed::program("langgraph-a2a", "a2a_ask");

    let mut story = Running::start(&mut asking.command(&[&*url, "story"]));
    assert_eq!(story.line(), "Once upon a time.");
    assert_eq!(story.line(), "reply: Once upon a time.");

    let mut letter = Running::start(&mut asking.command(&[&*url, "send a letter to Ada"]));
    assert_eq!(letter.line(), "the agent asks: Send `a letter to Ada`?");
    assert_eq!(letter.ask("yes"), "reply: sent: a letter to Ada");
}
