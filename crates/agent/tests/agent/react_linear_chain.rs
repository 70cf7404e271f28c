//! Think, act, observe: in a line, and in a loop.

use langgraph::message::Role;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{ReactState, ScriptedModel, Turn, WhatNext, act, observe, think, what_next};

use super::support::{asks_the_time, clock};

#[tokio::test]
async fn g16_react_in_one_line_and_in_a_loop() {
    let tools = Tools::new().with(clock());
    let model = || {
        let turns = [asks_the_time("c1"), asks_the_time("c2"), Turn::text("noon")];
        ModelNode::new(ScriptedModel::new(turns)).tools(&tools)
    };
    let linear = graph! {
        type State = ReactState;
        let think = think(model());
        let act = act(&tools);
        START => think => act => observe => END;
    };
    let state = linear
        .compile()
        .unwrap()
        .invoke(ReactState::user("time?"))
        .await
        .unwrap();
    let roles: Vec<_> = state.messages.iter().map(Message::role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
    assert_eq!(state.turns, 1);

    let looping = graph! {
        type State = ReactState;
        let think = think(model());
        let act = act(&tools);
        START => think => act => observe => match what_next {
            WhatNext::Think => think,
            WhatNext::Stop => END,
        };
    };
    let looping = looping.compile().unwrap();
    let mut events = looping
        .run(ReactState::user("time?"))
        .stream(StreamMode::Updates);
    let mut trail = Vec::new();
    while let Some(event) = events.next().await {
        trail.extend(event.unwrap().node().map(str::to_owned));
    }
    let round = ["think", "act", "observe"];
    assert_eq!(trail, [round, round, round].concat());
    let state = events.finish().await.unwrap().finished().unwrap();
    assert_eq!(state.messages.len(), 6);
    assert_eq!(state.messages[5].text(), "noon");
    assert!(state.tool_calls.is_empty() && state.tool_results.is_empty());
}

#[tokio::test]
async fn g16_a_sequence_is_the_line_of_its_edges() {
    let build = |wire: fn(&mut StateGraph<ReactState>)| {
        let tools = Tools::new().with(clock());
        let model = ScriptedModel::new([asks_the_time("c1")]);
        let mut graph = StateGraph::<ReactState>::new();
        graph
            .add_node("think", think(ModelNode::new(model).tools(&tools)))
            .add_node("act", act(&tools))
            .add_node("observe", observe);
        wire(&mut graph);
        graph.compile().unwrap()
    };
    let sequence = build(|graph| {
        graph.add_sequence(&["think", "act", "observe"]);
    });
    let edges = build(|graph| {
        graph
            .add_edge(START, "think")
            .add_edge("think", "act")
            .add_edge("act", "observe")
            .add_edge("observe", END);
    });
    assert_eq!(sequence.topology().edges, edges.topology().edges);
    for graph in [sequence, edges] {
        let state = graph.invoke(ReactState::user("time?")).await.unwrap();
        let roles: Vec<_> = state.messages.iter().map(Message::role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool]);
        assert_eq!(state.messages[2].text(), "2024-01-01 12:00:00");
    }
}
