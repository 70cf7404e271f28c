//! Personal data.

use std::sync::{Arc, Mutex};

use langgraph::checkpoint::MemorySaver;
use langgraph::graph::CompiledStateGraph;
use langgraph::message::{FinishReason, MessageChunk, Usage};
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_agent::{
    Budget, BudgetExt as _, FnTool, MessagesState, MessagesStateUpdate, ModelError, ModelErrorKind,
    ModelFallback, ReactAgent, ScriptedModel, Turn, react_agent,
};
use langgraph_middleware::{
    GuardVerdict, ModelCallLimit, ModelRefusal, ModelRouter, Moderation, Pii, PiiDetector,
    PiiStrategy, Summarization,
};

use super::support::{ask, calls, texts};

pub(crate) fn all(strategy: PiiStrategy) -> Pii {
    Pii::new(PiiDetector::email(), strategy)
        .and(PiiDetector::credit_card(), strategy)
        .and(PiiDetector::ip(), strategy)
        .and(PiiDetector::mac_address(), strategy)
        .and(PiiDetector::url(), strategy)
}

#[tokio::test]
async fn each_kind_is_found_and_hidden_before_the_model_reads_it() {
    for (said, read) in [
        ("to ada.l+x@mail.example.org!", "to [REDACTED_EMAIL]!"),
        ("4111-1111-1111-1111", "[REDACTED_CREDIT_CARD]"),
        (
            "4111-1111-1111-1112 is no card",
            "4111-1111-1111-1112 is no card",
        ),
        (
            "at 192.168.0.17 and 999.1.1.1",
            "at [REDACTED_IP] and 999.1.1.1",
        ),
        ("00:1a:2B:3c:4D:5e", "[REDACTED_MAC_ADDRESS]"),
        (
            "see https://example.org/a?b=c now",
            "see [REDACTED_URL] now",
        ),
        ("nothing here: 12 @ 3.4", "nothing here: 12 @ 3.4"),
    ] {
        let model = ScriptedModel::new(["ok"]);
        let state = ask(
            react_agent(model.clone(), ()),
            all(PiiStrategy::Redact),
            said,
        )
        .await;
        assert_eq!(model.requests()[0].messages[0].text(), read);
        assert_eq!(state.messages[0].text(), read);
    }
}

#[tokio::test]
async fn data_is_masked_hashed_or_blocked() {
    let said = "ada@example.org";
    for (strategy, read) in [
        (PiiStrategy::Mask, "***@******e.org"),
        (PiiStrategy::Hash, "<email_hash:"),
    ] {
        let model = ScriptedModel::new(["ok", "ok"]);
        let state = ask(react_agent(model, ()), all(strategy), said).await;
        let text = state.messages[0].text();
        assert!(text.starts_with(read), "{text}");
    }
    let agent = react_agent(ScriptedModel::new(["never"]), ()).with(all(PiiStrategy::Block));
    let agent = agent.compile().unwrap();
    let error = agent
        .invoke(MessagesStateUpdate::user(said))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("of the kind `email`, which is blocked"),
        "{error}"
    );
    assert!(PiiDetector::pattern("x", "(").is_err());
}

#[tokio::test]
async fn an_answer_that_is_blocked_was_paid_for() {
    let question = || MessagesStateUpdate::user("Who?");
    let said = || Turn::text("It is ada@example.org, I think.");
    for streams in [false, true] {
        let spent = async |turn: Turn| {
            let pii = all(PiiStrategy::Block).output();
            let agent = react_agent(ScriptedModel::new([turn]), ()).with(pii);
            let agent = agent.compile().unwrap();
            let budget = Arc::new(Budget::by(|_| "ada".to_owned()).tokens(10_000));
            let run = agent.run(question()).resource(Arc::clone(&budget));
            let error = if streams {
                run.stream(StreamMode::Messages).finish().await.unwrap_err()
            } else {
                run.await.unwrap_err()
            };
            assert!(error.to_string().contains("which is blocked"), "{error}");
            budget.account("ada").await.unwrap().spent
        };
        let reported = spent(said().with_usage(Usage::new(300, 40))).await;
        assert_eq!((reported.model_calls, reported.tokens), (1, 340));
        // A model that reports nothing is estimated.
        let estimated = spent(said()).await;
        assert!((5..100).contains(&estimated.tokens), "{estimated:?}");
    }
}

#[tokio::test]
async fn a_thread_goes_on_behind_a_message_that_was_blocked() {
    let model = ScriptedModel::new(["ok"]);
    let agent = react_agent(model.clone(), ()).with(all(PiiStrategy::Block));
    let agent = agent.compile().unwrap();
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let said = |text: &str| MessagesStateUpdate::user(text);
    let refused = thread.run(said("I am ada@example.org")).await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("which is blocked"), "{error}");

    let state = thread.run(said("Who are you?")).await.unwrap();
    let state = state.finished().unwrap();
    let chat = ["I am [REDACTED_EMAIL]", "Who are you?", "ok"];
    assert_eq!(texts(&state.messages), chat);
    assert_eq!(texts(&model.requests()[0].messages), chat[..2]);
}

#[tokio::test]
async fn what_tools_return_is_read_on_request() {
    let who = || FnTool::new("who", "", || async { "ada@example.org" });
    let model = || ScriptedModel::new([calls(&[("c1", "who")]), Turn::text("ok")]);
    let email = || Pii::new(PiiDetector::email(), PiiStrategy::Redact).no_input();
    let state = ask(
        react_agent(model(), (who(),)),
        email().tool_results(),
        "a@b.org",
    )
    .await;
    assert_eq!(texts(&state.messages)[2], "[REDACTED_EMAIL]");
    assert_eq!(texts(&state.messages)[0], "a@b.org");
    let state = ask(react_agent(model(), (who(),)), email(), "?").await;
    assert_eq!(texts(&state.messages)[2], "ada@example.org");
}

#[tokio::test]
async fn no_part_of_a_match_gets_out_while_an_answer_streams() {
    let answer = "Write to ada@example.org or bob@example.org, or call. Or ask at the desk, today.";
    let clean =
        "Write to [REDACTED_EMAIL] or [REDACTED_EMAIL], or call. Or ask at the desk, today.";
    for size in 1..answer.len() {
        let bytes = answer.as_bytes().chunks(size);
        let pieces = bytes.map(|piece| String::from_utf8(piece.to_vec()).unwrap());
        let model = ScriptedModel::new([Turn::chunks(pieces)]);
        let email = PiiDetector::email().longest(20);
        let pii = Pii::new(email, PiiStrategy::Redact).output();
        let agent = react_agent(model, ()).with(pii).compile().unwrap();
        let run = agent.run(MessagesStateUpdate::user("?"));
        let mut events = run.stream(StreamMode::Messages);
        let mut streamed = Vec::new();
        while let Some(event) = events.next().await {
            if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
                streamed.push(chunk.text);
            }
        }
        let state = events.finish().await.unwrap().finished().unwrap();
        assert_eq!(state.messages[1].text(), clean, "pieces of {size}");
        assert_eq!(streamed.concat(), clean, "pieces of {size}");
        // It streams: the beginning comes before the end is known.
        assert!(size > 20 || streamed.iter().filter(|text| !text.is_empty()).count() > 1);
    }
}

/// Returns what an agent answers, as it is stored and as it streams.
async fn answer_of(agent: CompiledStateGraph<MessagesState>) -> [String; 2] {
    let run = agent.run(MessagesStateUpdate::user("?"));
    let mut events = run.stream(StreamMode::Messages);
    let mut streamed = String::new();
    while let Some(event) = events.next().await {
        if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
            streamed.push_str(&chunk.text);
        }
    }
    let state = events.finish().await.unwrap().finished().unwrap();
    [state.messages[1].text().into_owned(), streamed]
}

#[tokio::test]
async fn answers_of_models_that_take_the_place_of_the_agents_own_are_read_too() {
    let leaks = || ScriptedModel::new(["Ask ada@example.org.", "Ask ada@example.org."]);
    let mut refused = MessageChunk::text("");
    refused.finish_reason = Some(FinishReason::ContentFilter);
    let pii = || redacted().output();
    let down = ModelError::new(ModelErrorKind::Transport, "down");
    let fails = react_agent(ScriptedModel::new([Turn::error(down)]), ());
    let fallback = fails.with((pii(), ModelFallback::to(leaks())));
    let refuses = react_agent(ScriptedModel::new([Turn::pieces([refused])]), ());
    let refusal = refuses.with((pii(), ModelRefusal::ask(leaks())));
    let router = ModelRouter::new().when(|_| true, leaks());
    let routed = react_agent(ScriptedModel::new(["no"]), ()).with((pii(), router));
    let mut answers = Vec::new();
    for agent in [fallback, refusal, routed] {
        answers.push(answer_of(agent.compile().unwrap()).await);
    }

    let agent = react_agent(ScriptedModel::new(["no"]), ()).with(pii());
    let budget = Budget::per_run().model_calls(1).cheaper_from(0.0, leaks());
    let agent = agent.compile().unwrap().resource(Arc::new(budget));
    answers.push(answer_of(agent).await);
    let hidden = ["Ask [REDACTED_EMAIL]."; 2];
    assert_eq!(answers, [hidden; 4]);
}

/// Asks an agent twice on one thread, and returns what its model has read.
async fn read_in_two_turns(agent: ReactAgent, model: &ScriptedModel) -> Vec<Vec<String>> {
    let agent = agent.compile().unwrap();
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    for said in ["I am ada@example.org.", "And now?"] {
        thread.run(MessagesStateUpdate::user(said)).await.unwrap();
    }
    let requests = model.requests().into_iter();
    requests.map(|request| texts(&request.messages)).collect()
}

const HIDDEN: &str = "I am [REDACTED_EMAIL].";

pub(crate) fn redacted() -> Pii {
    all(PiiStrategy::Redact).tool_results()
}

#[tokio::test]
async fn what_other_middleware_has_answered_is_hidden_from_the_model_in_the_next_turn() {
    let model = ScriptedModel::new(["Hello."]);
    let refuses = Moderation::new().input(|said: &Message| {
        if said.text().contains("I am") {
            GuardVerdict::Refuse("No.".to_owned())
        } else {
            GuardVerdict::Pass
        }
    });
    let agent = react_agent(model.clone(), ()).with((refuses, redacted()));
    let read = read_in_two_turns(agent, &model).await;
    assert_eq!(read, [[HIDDEN, "No.", "And now?"]]);

    // The limit answers behind the tool, before its result is read.
    let finds = FnTool::new("find", "Finds.", || async { "ada@example.org" });
    let model = ScriptedModel::new([calls(&[("c1", "find")]), Turn::text("Done.")]);
    let limit = ModelCallLimit::per_run(1);
    let agent = react_agent(model.clone(), (finds,)).with((limit, redacted()));
    let read = read_in_two_turns(agent, &model).await;
    assert_eq!(read[1][..3], [HIDDEN, "", "[REDACTED_EMAIL]"]);
}

#[tokio::test]
async fn other_middleware_reads_what_the_user_has_said_without_personal_data_in_any_order() {
    for first in [true, false] {
        let model = ScriptedModel::new(["Hello.", "Hello."]);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let guard = Arc::clone(&seen);
        let reads = Moderation::new().input(move |said: &Message| {
            guard.lock().unwrap().push(said.text().into_owned());
            GuardVerdict::Pass
        });
        let agent = react_agent(model.clone(), ());
        let agent = if first {
            agent.with((redacted(), reads))
        } else {
            agent.with((reads, redacted()))
        };
        read_in_two_turns(agent, &model).await;
        assert_eq!(*seen.lock().unwrap(), [HIDDEN, "And now?"]);
    }
}

#[tokio::test]
async fn a_summary_has_no_personal_data_in_any_order() {
    let who = || FnTool::new("who", "", || async { "ada@example.org, and much else" });
    for first in [true, false] {
        let summaries = ScriptedModel::new(["summary"]);
        let summary = Summarization::new(summaries.clone()).above(10).keep(5);
        let model = ScriptedModel::new([calls(&[("c1", "who")]), Turn::text("ok")]);
        let agent = react_agent(model, (who(),));
        let pii = all(PiiStrategy::Block).tool_results();
        let agent = if first {
            agent.with((pii, summary))
        } else {
            agent.with((summary, pii))
        };
        let agent = agent.compile().unwrap();
        let run = agent.invoke(MessagesStateUpdate::user("Who is it?")).await;
        assert!(run.unwrap_err().to_string().contains("which is blocked"));
        assert!(summaries.requests().is_empty());
    }
}

#[tokio::test]
async fn what_has_taken_the_place_of_data_stays_as_it_is() {
    let digits = PiiDetector::pattern("digits", r"[0-9a-f]{4,}|EMAIL|hash").unwrap();
    let pii = all(PiiStrategy::Redact).and(digits, PiiStrategy::Hash);
    let model = ScriptedModel::new(["Hello.", "Hello."]);
    let agent = react_agent(model.clone(), ()).with(pii);
    let agent = agent.compile().unwrap();
    let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("t");
    for said in ["I am ada@example.org, 1234.", "And now?"] {
        thread.run(MessagesStateUpdate::user(said)).await.unwrap();
    }
    let [first, second] = [0, 1].map(|turn| texts(&model.requests()[turn].messages)[0].clone());
    assert_eq!(first, second);
    assert!(
        first.starts_with("I am [REDACTED_EMAIL], <digits_hash:"),
        "{first}"
    );
}
