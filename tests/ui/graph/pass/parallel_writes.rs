#![deny(warnings)]

use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Trip {
    plan: String,
    days: u32,
    #[reducer(append)]
    log: Vec<String>,
}

#[derive(Clone)]
struct Plain {
    text: String,
}

#[node(writes(plan, log))]
async fn by_train(_: &Trip) -> (String, Vec<String>) {
    ("by train".to_owned(), vec![])
}

#[node(writes(log, days), state = Trip)]
async fn count(_: Trip, _: &Context) -> (Vec<String>, u32) {
    (vec![], 3)
}

#[node(writes(plan))]
async fn by_boat(_: &Trip) -> String {
    "by boat".to_owned()
}

#[node]
async fn says_nothing<S: langgraph::State>(_: &S) {}

async fn plain(_: &Trip) {}

pub(crate) fn main() {
    let captured = |_: &Trip| TripUpdate::default().plan("captured".to_owned());
    let named = Plain {
        text: "closure".to_owned(),
    };
    let closure = move |_: &Trip| TripUpdate::default().plan(named.text.clone());
    let route = |_: &Trip| true;
    let graph = graph! {
        let late = by_boat.defer();

        START => [by_train, count, says_nothing, plain, captured, closure, late] => by_boat => if route {
            [says_nothing, count]
        } else {
            END
        };
    };
    let _ = graph.compile();
}
