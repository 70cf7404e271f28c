//! Limits of calls.

use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_agent::{MessagesStateUpdate, ReactAgent, ScriptedModel, Turn, check_answered};
use langgraph_middleware::{AtModelLimit, AtToolLimit, ModelCallLimit, ToolCallLimit};

use super::support::{ask, calls, search, texts};

#[tokio::test]
async fn a_limit_of_model_calls_ends_the_run_or_fails_it() {
    let model = || ScriptedModel::new([calls(&[("c1", "read")]), calls(&[("c2", "read")])]);
    let state = ask(search(model()), ModelCallLimit::per_run(2), "?").await;
    let last = state.messages.last().unwrap();
    assert_eq!(
        last.text(),
        "The limit of 2 model calls per run is reached."
    );
    check_answered(&state.messages).unwrap();

    let fails = ModelCallLimit::per_run(1).at_limit(AtModelLimit::Fail);
    let agent = search(model()).with(fails).compile().unwrap();
    let error = agent.invoke(MessagesStateUpdate::user("?")).await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("The limit of 1 model calls")
    );
}

#[tokio::test]
async fn limits_of_a_run_are_bounds_of_the_graph_that_a_run_meets() {
    let turns = [
        calls(&[("c1", "read"), ("c2", "read")]),
        calls(&[("c3", "read")]),
        calls(&[("c4", "read")]),
        calls(&[("c5", "read")]),
    ];
    let model = ScriptedModel::new(turns);
    let limits = (
        ToolCallLimit::new().per_run(4).per_run(9),
        ModelCallLimit::per_run(3),
    );
    let agent = search(model.clone()).with(limits).compile().unwrap();
    let bounds = agent.bounds().unwrap();
    assert_eq!((bounds.runs["agent"], bounds.runs["tools"]), (3, 4));
    assert_eq!((bounds.calls.model, bounds.calls.tool), (3, 4));
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let answered = state.messages.iter().filter(|message| message.is_tool());
    assert_eq!((model.requests().len(), answered.count()), (3, 4));
    let last = state.messages.last().unwrap().text();
    assert_eq!(last, "The limit of 3 model calls per run is reached.");

    // The limits replace the defaults of the agent, also where they are higher.
    let bounds = |agent: ReactAgent| agent.compile().unwrap().bounds().unwrap();
    let high = bounds(search(model.clone()).with(ModelCallLimit::per_run(900)));
    assert_eq!((high.calls.model, high.calls.tool), (900, 10_000));
    let high = bounds(search(model.clone()).with(ToolCallLimit::new().per_run(20_000)));
    assert_eq!(high.calls.tool, 20_000);
    let lower = search(model)
        .max_iterations(7)
        .with(ModelCallLimit::per_run(900));
    assert_eq!(bounds(lower).calls.model, 7);
}

#[tokio::test]
async fn a_limit_of_0_allows_no_call() {
    let model = ScriptedModel::new([calls(&[("c1", "read")]), Turn::text("done")]);
    let agent = search(model.clone()).with(ModelCallLimit::per_run(0));
    let agent = agent.compile().unwrap();
    assert_eq!(agent.bounds().unwrap().calls.model, 0);
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let limit = "The limit of 0 model calls per run is reached.";
    assert_eq!(texts(&state.messages), ["?", limit]);
    assert_eq!(model.requests().len(), 0);

    let agent = search(model).with(ToolCallLimit::new().per_run(0));
    let agent = agent.compile().unwrap();
    assert_eq!(agent.bounds().unwrap().calls.tool, 0);
    let state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    let refused = "Error: not called, the limit of 0 tool calls per run is reached. \
                   Do not call `read` again.";
    assert_eq!(texts(&state.messages)[2..], [refused, "done"]);
}

#[tokio::test]
async fn a_limit_of_a_run_starts_anew_and_that_of_a_thread_does_not() {
    let model = ScriptedModel::new(["one", "two", "three"]);
    let limit = ModelCallLimit::per_run(1).per_thread(2);
    let agent = search(model).with(limit).compile().unwrap();
    let mut state = agent.invoke(MessagesStateUpdate::user("?")).await.unwrap();
    for _ in 0..2 {
        let next = state.merge(MessagesStateUpdate::user("?")).unwrap();
        state = agent.invoke(next).await.unwrap();
    }
    let limit = "The limit of 2 model calls per thread is reached.";
    assert_eq!(texts(&state.messages), ["?", "one", "?", "two", "?", limit]);
}

#[tokio::test]
async fn calls_above_a_limit_are_answered_and_the_others_run() {
    let model = ScriptedModel::new([
        calls(&[("c1", "search"), ("c2", "search"), ("c3", "read")]),
        calls(&[("c4", "search")]),
        Turn::text("done"),
    ]);
    let limit = ToolCallLimit::new().tool_per_run("search", 1);
    let state = ask(search(model.clone()), limit, "?").await;
    let refused = "Error: not called, the limit of 1 calls of `search` per run is reached. \
                   Do not call `search` again.";
    let mut answers = texts(&state.messages);
    answers[2..5].sort();
    assert_eq!(answers[2..5], [refused, "read", "search"]);
    // All calls were refused: the model is asked again.
    assert_eq!(answers[6..], [refused, "done"]);
    check_answered(&state.messages).unwrap();
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_limit_of_tool_calls_ends_the_run_or_fails_it() {
    let model = || ScriptedModel::new([calls(&[("c1", "search"), ("c2", "read")])]);
    let ends = ToolCallLimit::new().per_run(1).at_limit(AtToolLimit::End);
    let state = ask(search(model()), ends, "?").await;
    let last = state.messages.last().unwrap();
    assert_eq!(
        last.text(),
        "I stop here: the limit of 1 tool calls per run is reached."
    );
    check_answered(&state.messages).unwrap();

    let fails = ToolCallLimit::new()
        .per_thread(0)
        .at_limit(AtToolLimit::Fail);
    let agent = search(model()).with(fails).compile().unwrap();
    let error = agent.invoke(MessagesStateUpdate::user("?")).await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("0 tool calls per thread")
    );

    let wrong = ToolCallLimit::new().tool_per_run("serch", 1);
    let error = search(model()).with(wrong).compile().unwrap_err();
    assert!(
        error.to_string().contains("there is no tool `serch`"),
        "{error}"
    );
}

#[tokio::test]
async fn a_thread_goes_on_behind_a_limit_of_tool_calls_that_fails_the_run() {
    let two = [("c2", "read"), ("c3", "search")];
    let model = ScriptedModel::new([
        calls(&[("c1", "read")]),
        calls(&two),
        Turn::text("done"),
        calls(&[("c4", "read")]),
        calls(&[("c5", "read")]),
    ]);
    let limit = ToolCallLimit::new().per_run(2).tool_per_thread("read", 2);
    let limit = limit.at_limit(AtToolLimit::Fail);
    let agent = search(model).with(limit).compile().unwrap();
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    for (reached, messages) in [
        (Some("the limit of 2 tool calls per run is reached"), 3),
        (None, 5),
        (
            Some("the limit of 2 calls of `read` per thread is reached"),
            8,
        ),
    ] {
        let run = thread.run(MessagesStateUpdate::user("?")).await;
        let error = run.err().map(|error| error.to_string());
        let named = reached
            .is_none_or(|reached| error.as_ref().is_some_and(|error| error.contains(reached)));
        assert!(named, "{error:?}");
        assert_eq!(error.is_some(), reached.is_some(), "{error:?}");
        let stored = thread.state().await.unwrap().unwrap().values;
        check_answered(&stored.messages).unwrap();
        assert_eq!(stored.messages.len(), messages);
    }
}
