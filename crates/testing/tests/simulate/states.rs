//! Mistakes with states, reducers and models: each is found.

use futures_util::StreamExt as _;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{ChatRequest, ModelError, ScriptedModel};
use langgraph_testing::simulate::{Fault, simulate};
use serde::{Deserialize, Serialize};

use crate::found;

/// A draft whose approval is not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Draft {
    text: String,
    #[serde(skip_deserializing)]
    approved: bool,
}

/// Adds one more each time it is called, as no reducer may.
fn counted(mut all: Vec<u64>, new: Vec<u64>) -> Vec<u64> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static CALLS: AtomicU64 = AtomicU64::new(0);
    all.extend(new);
    all.push(CALLS.fetch_add(1, Ordering::Relaxed));
    all
}

#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Board {
    draft: Draft,
    #[reducer(counted)]
    counts: Vec<u64>,
}

#[node]
async fn approve(board: &Board) -> BoardUpdate {
    let mut draft = board.draft.clone();
    draft.approved = true;
    BoardUpdate::default().draft(draft)
}

#[node]
async fn count(_: &Board) -> BoardUpdate {
    BoardUpdate::default().counts(vec![1])
}

#[test]
fn a_field_that_is_not_read_back_is_found() {
    let graph = graph! { START => approve => END }.compile().unwrap();
    let result = simulate(&graph).seeds(0..10_000).run();
    found(
        result,
        "the state that a run has returned is not the one that is read: `draft` was",
    );
}

#[test]
fn a_reducer_with_a_memory_of_its_own_is_found() {
    let graph = graph! { START => count => END }.compile().unwrap();
    let result = simulate(&graph).seeds(0..10_000).run();
    found(result, "the same seed gives another history: after `count`");
}

const REPLY: &str = "The capital of France is Paris.";

fn chatting(graph: Result<CompiledStateGraph<String>, CompilationErrors>, says: &str) {
    let result = simulate(&graph.unwrap())
        .seeds(0..10_000)
        .faults([Fault::Model])
        .model(|_| ScriptedModel::new([REPLY; 8]))
        .invariant(|history| {
            let thread = &history.threads()[0];
            let calls = thread.model_calls().count();
            match thread.state() {
                _ if calls > 2 => Err(format!("{calls} calls are paid")),
                Some(text) if thread.is_done() && text != REPLY => {
                    Err(format!("the reply is {text:?}"))
                }
                _ => Ok(()),
            }
        })
        .run();
    let failure = found(result, says).to_string();
    assert!(failure.contains("failing model"), "{failure}");
}

#[test]
fn half_an_answer_that_is_taken_for_a_whole_one_is_found() {
    #[node]
    async fn chat(_: &String, cx: &Context) -> Result<String, NodeError> {
        let request = ChatRequest::new(vec![Message::user("The capital of France?")]);
        let mut pieces = cx.model()?.stream(request);
        let mut text = String::new();
        while let Some(Ok(piece)) = pieces.next().await {
            text += &piece.text;
        }
        Ok(text)
    }
    chatting(
        graph! { START => chat => END }.compile(),
        "the reply is \"\"",
    );
}

#[test]
fn retries_that_pass_the_budget_of_calls_are_found() {
    #[node]
    async fn chat(_: &String, cx: &Context) -> Result<String, NodeError> {
        let question = [Message::user("The capital of France?")];
        let reply = cx.model()?.invoke(&question, cx).await?;
        Ok(reply.text().into_owned())
    }
    let retry: RetryPolicy = ModelError::retries(5);
    let graph = graph! {
        let chat = chat.retry(retry);
        START => chat => END;
    };
    chatting(graph.compile(), "calls are paid");
}
