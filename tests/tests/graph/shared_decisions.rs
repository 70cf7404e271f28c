//! Decisions that several nodes lead to: `a | b => match ..`, and decisions with a name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::prelude::*;

use crate::list::{List, ListUpdate};

enum Desk {
    Flights,
    Hotels,
    Nobody,
}

fn whose_turn(state: &List) -> Desk {
    match state.items.first().map(String::as_str) {
        Some("flights") => Desk::Flights,
        Some(_) => Desk::Hotels,
        None => Desk::Nobody,
    }
}

fn serve(name: &str, state: &List) -> ListUpdate {
    ListUpdate::default()
        .items(state.items.get(1..).unwrap_or_default().to_vec())
        .log(vec![name.to_owned()])
}

#[node]
async fn flights(state: &List) -> ListUpdate {
    serve("flights", state)
}

#[node]
async fn hotels(state: &List) -> ListUpdate {
    serve("hotels", state)
}

#[node]
async fn close(_: &List) -> ListUpdate {
    ListUpdate::default().log(vec!["close".to_owned()])
}

fn calls() -> ListUpdate {
    ListUpdate::default().items(["hotels", "flights", "hotels"].map(str::to_owned).to_vec())
}

const EXPECTED: [&str; 4] = ["hotels", "flights", "hotels", "close"];

#[tokio::test]
async fn a_decision_follows_any_of_several_nodes() {
    let graph = graph! {
        START | flights | hotels => match whose_turn {
            Desk::Flights => flights,
            Desk::Hotels => hotels,
            Desk::Nobody => close => END,
        };
    };
    let state = graph.compile().unwrap().invoke(calls()).await.unwrap();
    assert_eq!(state.log, EXPECTED);
}

#[tokio::test]
async fn a_decision_has_a_name_and_options_of_its_nodes_come_after_it() {
    let graph = graph! {
        let turn = match whose_turn {
            Desk::Flights => flights => turn,
            Desk::Hotels => hotels => turn,
            Desk::Nobody => close => END,
        };
        let hotels = hotels.retry(2);

        START => turn;
    };
    let state = graph.compile().unwrap().invoke(calls()).await.unwrap();
    assert_eq!(state.log, EXPECTED);
}

/// The router captures something that cannot be cloned: it is evaluated once, and shared.
#[tokio::test]
async fn a_router_of_several_nodes_may_own_what_it_captures() {
    struct Count(Arc<AtomicU32>);
    let asked = Arc::new(AtomicU32::new(0));
    let count = Count(Arc::clone(&asked));
    let whose = move |state: &List| {
        count.0.fetch_add(1, Ordering::Relaxed);
        whose_turn(state)
    };
    let graph = graph! {
        START | flights | hotels => match whose {
            Desk::Flights => flights,
            Desk::Hotels => hotels,
            Desk::Nobody => close => END,
        };
    };
    graph.compile().unwrap().invoke(calls()).await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_node_follows_any_of_several_nodes_without_waiting_for_the_others() {
    let graph = graph! {
        START => if |state: &List| state.items.is_empty() { flights } else { hotels };
        flights | hotels => close => END;
    };
    let graph = graph.compile().unwrap();
    for (input, first) in [(ListUpdate::default(), "flights"), (calls(), "hotels")] {
        assert_eq!(graph.invoke(input).await.unwrap().log, [first, "close"]);
    }
}

/// A `let` that selects a value stays ordinary Rust.
#[tokio::test]
async fn a_match_that_selects_a_node_is_no_decision() {
    enum Mode {
        Fast,
        Slow,
    }
    for (mode, waits) in [(Mode::Fast, "flights"), (Mode::Slow, "hotels")] {
        let (quick, slow) = (Box::new(flights.retry(2)), Box::new(hotels.retry(3)));
        let graph = graph! {
            let desk = match mode { Mode::Fast => quick, Mode::Slow => slow };
            let desk = *desk;

            START => desk => END;
        };
        assert_eq!(
            graph.compile().unwrap().invoke(()).await.unwrap().log,
            [waits]
        );
    }
}

/// The builder adds one branch per source, with one picture.
#[test]
fn the_builder_and_the_macro_give_one_topology() {
    let by_list = graph! {
        START => [flights, hotels];
        flights | hotels => if |state: &List| state.items.is_empty() { END } else { close };
        close => END;
    };
    let by_name = graph! {
        let rest = if |state: &List| state.items.is_empty() { END } else { close };

        START => [flights, hotels];
        flights => rest;
        hotels => rest;
        close => END;
    };
    assert_eq!(by_list.topology(), by_name.topology());
    let sources: Vec<&str> = by_list
        .topology()
        .branches
        .iter()
        .map(|branch| &*branch.source)
        .collect();
    assert_eq!(sources, ["flights", "hotels"]);
}
