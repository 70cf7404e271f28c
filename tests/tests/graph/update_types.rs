//! Reducers whose updates have a type of their own.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::state::FieldWrite;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Desk {
    Flights,
    Hotels,
}

/// `Some(desk)` puts a desk on the stack, `None` takes one off.
fn stack(mut desks: Vec<Desk>, update: Option<Desk>) -> Vec<Desk> {
    match update {
        Some(desk) => desks.push(desk),
        None => drop(desks.pop()),
    }
    desks
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Support {
    #[reducer(stack, update = Option<Desk>)]
    desks: Vec<Desk>,
    #[reducer(|sum, add: &'static str| sum + add.len(), update = &'static str)]
    #[state(untracked)]
    letters: usize,
}

#[node]
async fn to_flights(_: &Support) -> SupportUpdate {
    SupportUpdate::default()
        .desks(Some(Desk::Flights))
        .letters("abc")
}

/// What a node declares to write is an update, too.
#[node(writes(desks))]
async fn to_hotels(_: &Support) -> Option<Desk> {
    Some(Desk::Hotels)
}

#[node]
async fn leave(_: &Support) -> SupportUpdate {
    SupportUpdate::default().desks(None)
}

fn graph() -> StateGraph<Support> {
    graph! { START => [to_flights, to_hotels] => leave => END }
}

/// Parallel nodes push onto one stack, which neither could read and write as a whole.
#[tokio::test]
async fn parallel_nodes_push_and_pop() {
    let state = graph().compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(state.desks, [Desk::Flights]);
    assert_eq!(state.letters, 3);
}

#[tokio::test]
async fn such_updates_and_snapshots_are_read_back() {
    let graph = graph().compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    for length in 1..6 {
        let done = graph.run(()).thread("t").await.unwrap().finished().unwrap();
        assert_eq!(done.desks.len(), length);
        let stored = graph.thread("t").state().await.unwrap().unwrap();
        assert_eq!(stored.values.desks, done.desks);
    }
    let set = SupportUpdate::default().overwrite_desks(vec![Desk::Hotels; 9]);
    graph.thread("t").update(set).await.unwrap();
    assert_eq!(
        graph
            .thread("t")
            .state()
            .await
            .unwrap()
            .unwrap()
            .values
            .desks
            .len(),
        9
    );
    graph
        .thread("t")
        .prune(langgraph::thread::Keep::Newest(1))
        .await
        .unwrap();
    assert_eq!(
        graph
            .thread("t")
            .state()
            .await
            .unwrap()
            .unwrap()
            .values
            .desks
            .len(),
        9
    );
}

/// A whole state as an input sets the field: its values are no updates.
#[tokio::test]
async fn a_whole_state_as_input_sets_the_field() {
    let whole = Support {
        desks: vec![Desk::Hotels, Desk::Hotels],
        letters: 0,
    };
    let state = graph().compile().unwrap().invoke(whole).await.unwrap();
    assert_eq!(state.desks, [Desk::Hotels, Desk::Hotels, Desk::Flights]);
}

#[test]
fn an_overwrite_by_a_command_begins_anew() {
    let mut state = Support {
        desks: vec![Desk::Hotels, Desk::Hotels],
        letters: 0,
    };
    state.overwrite(SupportUpdate::default().desks(Some(Desk::Flights)));
    assert_eq!(state.desks, [Desk::Flights]);
}

/// An update written out field by field needs nothing besides the fields of the state.
#[test]
fn a_literal_of_an_update_has_the_fields_of_the_state() {
    let push = SupportUpdate {
        desks: Some(FieldWrite::Update(Some(Desk::Flights))),
        letters: None,
    };
    assert_eq!(push, SupportUpdate::default().desks(Some(Desk::Flights)));
    let state = Support::default().merge(push).unwrap();
    assert_eq!(state.desks, [Desk::Flights]);
    let SupportUpdate { desks, letters } = SupportUpdate::from(state);
    assert_eq!(desks, Some(FieldWrite::Whole(vec![Desk::Flights])));
    assert_eq!(letters, Some(FieldWrite::Whole(0)));
}
