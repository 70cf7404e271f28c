//! Personal data in what tools return.

use std::sync::{Arc, Mutex};

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_agent::{FnTool, MessagesStateUpdate, ScriptedModel, Turn, react_agent};
use langgraph_middleware::{PiiStrategy, ToolEmulator};

use crate::personal_data::{all, redacted};
use crate::support::{calls, texts};

#[tokio::test]
async fn what_tools_return_is_read_before_it_is_stored_or_streams() {
    let who = || FnTool::new("who", "", || async { "ada@example.org" });
    for direct in [false, true] {
        let model = ScriptedModel::new([calls(&[("c1", "who")]), Turn::text("ok")]);
        let tool = if direct {
            who().return_directly()
        } else {
            who()
        };
        let agent = react_agent(model, (tool,)).with(redacted()).compile();
        let agent = agent.unwrap().checkpointer(Arc::new(MemorySaver::new()));
        let run = agent.thread("t").run(MessagesStateUpdate::user("?"));
        let mut events = run.stream(StreamMode::Messages);
        let mut streamed = Vec::new();
        while let Some(event) = events.next().await {
            if let EventKind::Message { message, .. } = event.unwrap().kind {
                streamed.extend(texts(&[message]));
            }
        }
        events.finish().await.unwrap();
        assert!(
            streamed.contains(&"[REDACTED_EMAIL]".to_owned()),
            "{streamed:?}"
        );
        let history = agent.thread("t").history().await.unwrap();
        let mut stored = history.iter().flat_map(|then| texts(&then.values.messages));
        assert!(stored.all(|text| !text.contains("ada@")));
    }
}

#[tokio::test]
async fn what_a_tool_returns_that_is_blocked_is_neither_stored_nor_streams() {
    for (direct, output) in [(false, false), (true, false), (true, true)] {
        let model = ScriptedModel::new([calls(&[("c1", "who"), ("c2", "who")]), Turn::text("ok")]);
        let who = FnTool::new("who", "", || async { "It is ada@example.org." });
        let tool = if direct { who.return_directly() } else { who };
        let pii = all(PiiStrategy::Block);
        let pii = if output {
            pii.output()
        } else {
            pii.tool_results()
        };
        let agent = react_agent(model.clone(), (tool,)).with(pii).compile();
        let agent = agent.unwrap().checkpointer(Arc::new(MemorySaver::new()));
        let thread = agent.thread("t");
        let run = thread.run(MessagesStateUpdate::user("?"));
        let mut events = run.stream(StreamMode::Messages);
        let (mut streamed, mut error) = (Vec::new(), String::new());
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    if let EventKind::Message { message, .. } = event.kind {
                        streamed.extend(texts(&[message]));
                    }
                }
                Err(failed) => error = failed.to_string(),
            }
        }
        assert!(error.contains("which is blocked"), "{error}");
        assert_eq!(
            streamed,
            ["It is [REDACTED_EMAIL].", "It is [REDACTED_EMAIL]."]
        );
        for then in thread.history().await.unwrap() {
            let mut stored = texts(&then.values.messages).into_iter();
            assert!(stored.all(|text| !text.contains("ada@")));
        }

        // It stays refused in that run, and a new one goes on.
        let error = thread.proceed().await.unwrap_err().to_string();
        assert!(error.contains("which is blocked"), "{error}");
        assert_eq!(model.requests().len(), 1);
        thread
            .run(MessagesStateUpdate::user("And now?"))
            .await
            .unwrap();
        assert_eq!(model.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_call_with_the_id_of_one_that_was_blocked_goes_on_in_a_later_run() {
    let says = Arc::new(Mutex::new("ada@example.org"));
    let now = Arc::clone(&says);
    let who = FnTool::new("who", "", move || {
        let says = *now.lock().unwrap();
        async move { says }
    });
    let model = ScriptedModel::new([
        calls(&[("call_0", "who")]),
        calls(&[("call_0", "who")]),
        Turn::text("Nobody."),
    ]);
    let agent = react_agent(model, (who,)).with(all(PiiStrategy::Block).tool_results());
    let agent = agent.compile().unwrap();
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let refused = thread.run(MessagesStateUpdate::user("Who?")).await;
    assert!(refused.unwrap_err().to_string().contains("blocked"));
    *says.lock().unwrap() = "nobody";
    let state = thread.run(MessagesStateUpdate::user("And now?")).await;
    let state = state.unwrap().finished().unwrap();
    assert_eq!(texts(&state.messages).pop().unwrap(), "Nobody.");
}

#[tokio::test]
async fn answers_in_place_of_a_tool_are_read_in_any_order() {
    for first in [true, false] {
        let model = ScriptedModel::new([calls(&[("c1", "who")])]);
        let who = FnTool::new("who", "", || async { "nobody" }).return_directly();
        let emulator = ToolEmulator::all(ScriptedModel::new(["ada@example.org"]));
        let agent = react_agent(model, (who,));
        let agent = if first {
            agent.with((redacted(), emulator))
        } else {
            agent.with((emulator, redacted()))
        };
        let agent = agent.compile().unwrap();
        let state = agent.invoke(MessagesStateUpdate::user("Who?")).await;
        assert_eq!(texts(&state.unwrap().messages)[2], "[REDACTED_EMAIL]");
    }
}

#[tokio::test]
async fn what_is_blocked_is_not_the_answer_of_a_tool_that_returns_directly() {
    let who = FnTool::new("who", "", || async { "ada@example.org" }).return_directly();
    let model = ScriptedModel::new([calls(&[("c1", "who")]), Turn::text("ok")]);
    let pii = all(PiiStrategy::Block).tool_results();
    let agent = react_agent(model.clone(), (who,)).with(pii);
    let agent = agent.compile().unwrap();
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    let refused = thread.run(MessagesStateUpdate::user("Who?")).await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("which is blocked"), "{error}");

    let state = thread.run(MessagesStateUpdate::user("And now?")).await;
    let state = state.unwrap().finished().unwrap();
    let chat = ["Who?", "", "[REDACTED_EMAIL]", "And now?", "ok"];
    assert_eq!(texts(&state.messages), chat);
}

#[tokio::test]
async fn what_a_tool_returns_that_is_the_answer_is_read_as_answers_are() {
    for strategy in [PiiStrategy::Redact, PiiStrategy::Block] {
        let who = FnTool::new("who", "", || async { "ada@example.org" }).return_directly();
        let model = ScriptedModel::new([calls(&[("c1", "who")])]);
        let agent = react_agent(model, (who,)).with(all(strategy).output());
        let agent = agent.compile().unwrap();
        let state = agent.invoke(MessagesStateUpdate::user("Who?")).await;
        match strategy {
            PiiStrategy::Block => {
                let error = state.unwrap_err().to_string();
                assert!(error.contains("which is blocked"), "{error}");
            }
            _ => assert_eq!(texts(&state.unwrap().messages)[2], "[REDACTED_EMAIL]"),
        }
    }
}
