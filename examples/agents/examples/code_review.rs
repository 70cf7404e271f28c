//! Reviewers read a change in parallel and vote. A budget limits what they may spend: a reviewer that it
//! refuses abstains. A tie goes to the maintainer, and a change that is sent back is revised and read again.
//! Run it with `cargo run --example code_review`.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::Usage;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{Budget, ModelErrorKind, Price, Prices, ScriptedModel, Turn};
use langgraph_examples::show;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const ROUNDS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Ballot {
    Approve,
    Reject,
    Abstain,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Opinion {
    ballot: Ballot,
    comment: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Vote {
    round: usize,
    reviewer: String,
    opinion: Opinion,
}

#[derive(State, Clone, Debug, Default)]
struct Review {
    change: String,
    round: usize,
    #[reducer(append)]
    votes: Vec<Vote>,
    #[reducer(append)]
    log: Vec<String>,
}

fn reviewers(_: &Review) -> Vec<String> {
    ["security", "performance", "style"]
        .map(str::to_owned)
        .into()
}

impl Review {
    /// The votes of the round at hand.
    fn votes_now(&self) -> impl Iterator<Item = &Vote> {
        self.votes.iter().filter(|vote| vote.round == self.round)
    }
}

#[node]
async fn open(review: &Review) -> ReviewUpdate {
    ReviewUpdate::default().round(review.round + 1)
}

/// One reviewer's opinion.
#[node]
async fn read(reviewer: String, review: &Review, cx: &Context) -> Result<ReviewUpdate, NodeError> {
    let model = cx.model()?;
    let question = ChatRequest::new(vec![
        Message::system(format!("You review changes for {reviewer}. Vote.")),
        Message::user(review.change.as_str()),
    ]);
    let opinion = match model.structured::<Opinion>(question).send(cx).await {
        Ok(answer) => answer.value,
        Err(error) if *error.kind() == ModelErrorKind::BudgetExceeded => Opinion {
            ballot: Ballot::Abstain,
            comment: "the budget is spent".into(),
        },
        Err(error) => return Err(error.into()),
    };
    Ok(ReviewUpdate::default().votes(vec![Vote {
        round: review.round,
        reviewer,
        opinion,
    }]))
}

#[derive(Debug)]
enum Verdict {
    Merge,
    Revise,
    Tie,
    GiveUp,
}

/// The majority of those that voted.
fn verdict(review: &Review) -> Verdict {
    let count = |ballot| {
        review
            .votes_now()
            .filter(|vote| vote.opinion.ballot == ballot)
            .count()
    };
    match (count(Ballot::Approve), count(Ballot::Reject)) {
        (yes, no) if yes > no => Verdict::Merge,
        (yes, no) if yes < no && review.round < ROUNDS => Verdict::Revise,
        (yes, no) if yes < no => Verdict::GiveUp,
        _ => Verdict::Tie,
    }
}

#[node]
async fn count(review: &Review) -> ReviewUpdate {
    let votes = review.votes_now().map(|vote| {
        format!(
            "round {}, {}: {:?}, {}",
            review.round, vote.reviewer, vote.opinion.ballot, vote.opinion.comment
        )
    });
    ReviewUpdate::default().log(votes.collect())
}

#[node]
async fn revise(review: &Review) -> ReviewUpdate {
    ReviewUpdate::default().change(format!(
        "{}, with the comments of round {}",
        review.change, review.round
    ))
}

enum Decision {
    Merge,
    Reject,
}

/// A tie is decided by the maintainer.
fn maintainer(review: &Review, cx: &Context) -> Result<Decision, NodeError> {
    let merge: bool = cx.interrupt("tie", &review.log)?;
    Ok(if merge {
        Decision::Merge
    } else {
        Decision::Reject
    })
}

#[node]
async fn tie(_: &Review) {}

#[node]
async fn merge(review: &Review) -> ReviewUpdate {
    ReviewUpdate::default().log(vec![format!("merged: {}", review.change)])
}

#[node]
async fn close(review: &Review) -> ReviewUpdate {
    ReviewUpdate::default().log(vec![format!("closed: {}", review.change)])
}

fn vote(ballot: &str, comment: &str) -> Turn {
    let text = format!(r#"{{"ballot": "{ballot}", "comment": "{comment}"}}"#);
    Turn::text(text).with_usage(Usage::new(1_000, 200))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = graph! {
        type State = Review;

        let read = worker(read).retry(2);

        START => open => for reviewer in reviewers { read(reviewer) } => count => match verdict {
            Verdict::Merge => merge => END,
            Verdict::Revise => revise => open,
            Verdict::GiveUp => close => END,
            Verdict::Tie => tie => match maintainer {
                Decision::Merge => merge,
                Decision::Reject => close,
            },
        };
    }
    .compile()?;
    if show::graph(graph.topology()) {
        return Ok(());
    }

    let model = ScriptedModel::new([
        vote("Reject", "the password is logged"),
        vote("Approve", "no allocation in the loop"),
        vote("Reject", "a name of one letter"),
        vote("Approve", "the password is hidden"),
        vote("Reject", "now it allocates"),
    ])
    .named("reviewer");

    // Two rounds of three reviewers want six calls: one of them has to abstain.
    let prices = Prices::new().model("reviewer", Price::per_million(3.0, 15.0));
    let budget = Arc::new(Budget::per_thread().model_calls(5).money(0.10, prices));

    let graph = graph
        .checkpointer(Arc::new(MemorySaver::new()))
        .model(model)
        .resource(Arc::clone(&budget));

    let thread = graph.thread("change-7");
    let outcome = thread
        .run(ReviewUpdate::default().change("log in with a token".into()))
        .await?;
    println!(
        "the maintainer decides: {}",
        outcome.interrupts()[0].payload
    );
    let review = thread.resume("tie", true).await?.finished()?;
    for line in review.log {
        println!("{line}");
    }
    let account = budget
        .account("change-7")
        .await
        .map_err(|error| error.to_string())?;
    println!(
        "{} opinions, {} micros spent",
        account.spent.model_calls, account.spent.micros
    );
    Ok(())
}
