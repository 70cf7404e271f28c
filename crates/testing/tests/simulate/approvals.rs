//! Mistakes with interrupts and their answers: each is found.

use std::time::Duration;

use langgraph::prelude::*;
use langgraph_testing::simulate::{Fault, SimulationEventKind, effect, keyed_effect, simulate};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{exactly, found};

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Post {
    #[reducer(append)]
    answers: Vec<String>,
    #[state(untracked)]
    approved: bool,
}

async fn answered(cx: &Context, question: &str) -> Result<PostUpdate, NodeError> {
    let answer: String = cx.interrupt("approve", question)?;
    Ok(PostUpdate::default().answers(vec![answer]))
}

#[node]
async fn title(_: &Post, cx: &Context) -> Result<PostUpdate, NodeError> {
    answered(cx, "title").await
}

#[node]
async fn text(_: &Post, cx: &Context) -> Result<PostUpdate, NodeError> {
    answered(cx, "text").await
}

fn post() -> CompiledStateGraph<Post> {
    graph! { START => title => text => END }.compile().unwrap()
}

fn answers_fit(post: Option<&Post>) -> Result<(), String> {
    match post {
        Some(post) if post.answers != ["title", "text"] => {
            Err(format!("answers {:?}", post.answers))
        }
        _ => Ok(()),
    }
}

#[test]
fn an_answer_that_is_sent_twice_by_key_answers_another_interrupt() {
    let result = simulate(&post())
        .seeds(0..10_000)
        .faults([Fault::DoubleAnswer])
        .answer(|interrupt| interrupt.payload.clone())
        .answers_by_key()
        .invariant(|history| answers_fit(history.threads()[0].state()))
        .run();
    let failure = found(result, r#"answers ["title", "title"]"#).to_string();
    assert!(failure.contains("double answer"), "{failure}");
}

#[test]
fn an_answer_that_is_sent_again_by_key_answers_another_interrupt() {
    let result = simulate(&post())
        .seeds(0..10_000)
        .faults([Fault::StaleAnswer])
        .answer(|interrupt| interrupt.payload.clone())
        .answers_by_key()
        .invariant(|history| answers_fit(history.threads()[0].state()))
        .run();
    let failure = found(result, r#"answers ["title", "title"]"#).to_string();
    assert!(failure.contains("stale answer"), "{failure}");
}

#[test]
fn answers_by_id_reach_their_interrupt_only() {
    simulate(&post())
        .seeds(0..500)
        .answer(|interrupt| interrupt.payload.clone())
        .invariant(|history| {
            let thread = &history.threads()[0];
            assert!(thread.is_done());
            answers_fit(thread.state())
        })
        .run()
        .unwrap();
}

#[test]
fn an_approval_in_a_field_that_is_not_stored_is_lost_after_a_crash() {
    #[node]
    async fn approve(_: &Post, cx: &Context) -> Result<PostUpdate, NodeError> {
        let approved: bool = cx.interrupt("approve", "Publish?")?;
        Ok(PostUpdate::default().approved(approved))
    }
    #[node]
    async fn publish(post: &Post, cx: &Context) {
        if post.approved {
            keyed_effect("publish", &cx.idempotency_key("publish"), json!("a post"));
        }
    }
    let graph = graph! { START => approve => publish => END };
    let result = simulate(&graph.compile().unwrap())
        .seeds(0..10_000)
        .invariant(|history| exactly(history, "publish", 1))
        .run();
    found(result, "`publish` happened 0 times");
}

#[test]
fn an_interrupt_whose_error_is_ignored_does_not_hold_the_payment() {
    #[node]
    async fn charge(_: &u64, cx: &Context) -> u64 {
        let approved: bool = cx.interrupt("approve", "Pay?").unwrap_or(true);
        if approved {
            keyed_effect("charge", &cx.idempotency_key("charge"), 100);
        }
        1
    }
    let graph = graph! { START => charge => END };
    let result = simulate(&graph.compile().unwrap())
        .seeds(0..10_000)
        .answer(|_| false)
        .invariant(|history| exactly(history, "charge", 0))
        .run();
    found(result, "`charge` happened 1 times");
}

#[test]
fn an_offer_that_has_expired_is_charged_after_a_late_answer() {
    const VALID: Duration = Duration::from_secs(600);
    #[node]
    async fn offer(_: &u64, cx: &Context) {
        keyed_effect("offer", &cx.idempotency_key("offer"), 100);
    }
    #[node]
    async fn charge(_: &u64, cx: &Context) -> Result<u64, NodeError> {
        let accepted: bool = cx.interrupt("accept", "100 cents?")?;
        if accepted {
            keyed_effect("charge", &cx.idempotency_key("charge"), 100);
        }
        Ok(u64::from(accepted))
    }
    let graph = graph! { START => offer => charge => END };
    let result = simulate(&graph.compile().unwrap())
        .seeds(0..10_000)
        .invariant(|history| {
            let at = |name: &str| {
                let mut events = history.events().iter();
                let found = events.find(|event| match &event.kind {
                    SimulationEventKind::Effect(effect) => effect.name == name,
                    _ => false,
                });
                found.map(|event| event.at)
            };
            match (at("offer"), at("charge")) {
                (Some(offer), Some(charge)) if charge.saturating_sub(offer) > VALID => {
                    Err(format!(
                        "charged {} s after the offer",
                        charge.saturating_sub(offer).as_secs()
                    ))
                }
                _ => Ok(()),
            }
        })
        .run();
    let failure = found(result, "s after the offer").to_string();
    assert!(failure.contains("late answer"), "{failure}");
}

#[test]
fn an_effect_of_a_rival_run_is_seen() {
    #[node]
    async fn count(_: &u64) {
        effect("count", 1);
    }
    let graph = graph! { START => count => END };
    let report = simulate(&graph.compile().unwrap())
        .seeds(0..300)
        .faults([Fault::Rival])
        .invariant(|history| exactly(history, "count", 1))
        .run();
    assert!(report.unwrap().faults > 50);
}
