//! What of an update is stored, and fields that need nothing for it.

use langgraph::prelude::*;

use super::{AgentStateUpdate, KindsUpdate, Opaque};

#[test]
fn an_update_is_stored_as_the_fields_it_writes() {
    let update = AgentStateUpdate::default()
        .log(vec!["a".to_owned()])
        .score(None);
    let json = serde_json::to_value(&update).unwrap();
    assert_eq!(json, serde_json::json!({"log": ["a"], "score": null}));
    let back: AgentStateUpdate = serde_json::from_value(json).unwrap();
    assert_eq!(back, update);
}

#[test]
fn an_unknown_stored_field_is_passed_over() {
    let json = serde_json::json!({"gone": {"deep": [1]}, "score": 4});
    let update: AgentStateUpdate = serde_json::from_value(json).unwrap();
    assert_eq!(update, AgentStateUpdate::default().score(Some(4)));
}

#[test]
fn an_untracked_field_is_never_stored() {
    let update = KindsUpdate::default().plain(1).handle(Opaque::default());
    assert_eq!(
        serde_json::to_value(&update).unwrap(),
        serde_json::json!({"plain": 1})
    );
    let back: KindsUpdate =
        serde_json::from_value(serde_json::json!({"plain": 1, "handle": {}})).unwrap();
    assert!(back.handle.is_none());
}

/// No serde, no `Debug`, no `PartialEq`: a state all the same.
#[derive(State, Clone, Default)]
struct NotStored {
    opaque: Opaque,
    #[reducer(|_, update| update)]
    merged: Opaque,
}

#[tokio::test]
async fn a_field_needs_no_serde_and_no_debug() {
    let mut graph = StateGraph::<NotStored>::new();
    graph
        .add_node("count", |state: &NotStored| {
            state
                .opaque
                .0
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            NotStoredUpdate::default().opaque(state.opaque.clone())
        })
        .add_sequence(&["count"]);
    let state = graph
        .compile()
        .unwrap()
        .invoke(NotStored::default())
        .await
        .unwrap();
    assert_eq!(state.opaque.0.load(std::sync::atomic::Ordering::Relaxed), 1);
}
