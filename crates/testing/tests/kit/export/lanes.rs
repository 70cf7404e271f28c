//! Stored threads, today's code and a candidate in one table.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::{
    FnTool, MessagesState, MessagesStateUpdate, ScriptedModel, Turn, react_agent,
};
use langgraph_testing::{Lane, lanes, replay};
use serde_json::json;

fn desk(turns: Vec<Turn>, prompt: &str) -> CompiledStateGraph<MessagesState> {
    let rate = FnTool::new("rate", "The rate.", || async { "1.1" });
    let agent = react_agent(ScriptedModel::new(turns), (rate,));
    agent.prompt(prompt).compile().unwrap()
}

fn call(id: &str) -> Turn {
    Turn::tool_calls([ToolCall::new(id, "rate", json!({}))])
}

async fn stored() -> Arc<MemorySaver> {
    let saver = Arc::new(MemorySaver::new());
    let graph = desk(vec![call("c1"), Turn::text("It is 1.1.")], "Be kind.");
    let graph = graph.checkpointer(saver.clone());
    graph
        .thread("t")
        .run(MessagesStateUpdate::user("Rate?"))
        .await
        .unwrap();
    saver
}

#[tokio::test]
async fn a_candidate_model_answers_anew_and_today_is_as_stored() {
    let saver = stored().await;
    let today = desk(Vec::new(), "Be kind.");
    // The candidate calls the same tool, and says something else.
    let candidate = desk(vec![call("other"), Turn::text("1.1 it is.")], "Be brief.");
    let table = lanes(
        replay(saver.clone(), &today),
        replay(saver, &candidate).ask_models(),
    );
    let table = table.await.unwrap();
    let [row] = &*table.rows else {
        panic!("{table}");
    };
    assert_eq!((&*row.thread, row.superstep, &*row.node), ("t", 3, "agent"));
    assert_eq!(row.today, Lane::Same);
    assert!(matches!(row.candidate, Lane::Differs(_)), "{table}");

    let text = table.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert!(
        lines[0].starts_with("thread  superstep  node   field"),
        "{text}"
    );
    assert!(
        lines[1].contains("It is 1.1.") && lines[1].contains("1.1 it is."),
        "{text}"
    );
    assert!(lines[1].contains("same"), "{text}");
    assert_eq!(lines[2], "today: 0 of 4 supersteps differ, 0 not checked");
    assert_eq!(
        lines[3],
        "candidate: 1 of 4 supersteps differ, 0 not checked"
    );
    serde_json::to_value(&table).unwrap();
}

#[tokio::test]
async fn every_superstep_that_differs_has_a_row() {
    let graph = |first: i64, second: i64| {
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("first", move |n: &i64| n + first)
            .add_node("second", move |n: &i64| n * second)
            .add_sequence(&["first", "second"]);
        graph.compile().unwrap()
    };
    let saver = Arc::new(MemorySaver::new());
    graph(1, 2)
        .checkpointer(saver.clone())
        .thread("t")
        .run(3)
        .await
        .unwrap();
    let table = lanes(
        replay(saver.clone(), &graph(1, 3)),
        replay(saver, &graph(2, 2)),
    );
    let table = table.await.unwrap();
    let rows: Vec<_> = table
        .rows
        .iter()
        .map(|row| (&*row.node, row.today.clone(), row.candidate.clone()))
        .collect();
    let differs = |n: i64| Lane::Differs(json!([n]));
    assert_eq!(
        rows,
        [
            ("first", Lane::Same, differs(5)),
            // Each superstep starts from what is stored.
            ("second", differs(12), Lane::Same),
        ]
    );
}
