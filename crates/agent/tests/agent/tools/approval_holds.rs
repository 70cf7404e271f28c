//! Approvals that hold: for these arguments, by this person, until then.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph::stream::{EventKind, StreamMode};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    Approval, ApprovalRequest, ApprovalTurn, FnTool, MessagesState, MessagesStateUpdate,
    ToolDecision, ToolDefinition, ToolOutput, expired_approvals,
};
use serde_json::{Value, json};

use super::approval::{Ran, add_call, answer, keys, ran, tools};
use super::{answers, calls, graph_of};

fn desk(ran: &Ran, approval: Approval) -> CompiledStateGraph<MessagesState> {
    let graph = graph_of(ToolNode::new(tools(ran)).approve(approval));
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

fn request(outcome: &Outcome<MessagesState>) -> ApprovalRequest {
    ApprovalRequest::of(&outcome.interrupts()[0]).unwrap()
}

/// Replaces the call in the chat by one with other arguments.
fn change(outcome: &Outcome<MessagesState>, call: ToolCall) -> MessagesStateUpdate {
    let changed = Message::assistant_with_tool_calls("", [call]);
    let changed = changed.replacing(&outcome.state().messages[1]);
    MessagesStateUpdate::default().messages(vec![changed])
}

#[tokio::test]
async fn k3_changed_arguments_ask_anew() {
    let notes = Ran::default();
    let graph = desk(&notes, "add".into());
    let thread = graph.thread("t");
    let outcome = thread.run(calls([add_call("c1", 1, 2)])).await.unwrap();
    let first = request(&outcome);

    // The call changes at the moment of the answer: the person saw other arguments.
    let changed = change(&outcome, add_call("c1", 1000, 2));
    let approved = thread.answer(ToolDecision::Approve);
    let outcome = approved.command(Command::update(changed)).await.unwrap();
    let second = request(&outcome);
    assert!(ran(&notes).is_empty());
    assert_eq!(second.call, add_call("c1", 1000, 2));
    assert_ne!(first.digest, second.digest);

    let stale = thread.answer(first.answer(ToolDecision::Approve));
    let error = stale.await.unwrap_err().to_string();
    let why = "it is for other arguments; the call is now `add({\"a\":1000";
    assert!(error.contains(why), "{error}");

    // The call changes before the answer: the question is gone, and asked anew.
    thread
        .update(change(&outcome, add_call("c1", 7, 2)))
        .await
        .unwrap();
    thread.answer(ToolDecision::Approve).await.unwrap_err();
    let third = request(&thread.proceed().await.unwrap());
    assert!(ran(&notes).is_empty());
    let outcome = thread.answer(third.answer(ToolDecision::Approve)).await;
    let outcome = outcome.unwrap();
    assert_eq!(answers(outcome.state()), [answer("c1", false, "9")]);
    assert_eq!(ran(&notes), ["add 7 2"]);
}

#[tokio::test]
async fn k3_a_decision_names_a_person_who_may_take_it() {
    let notes = Ran::default();
    let large = |person: &str, call: &ToolCall| person == "ada" || call.arguments["a"] == 1;
    let graph = desk(&notes, Approval::of(["add"]).approvers(large));
    let thread = graph.thread("t");
    thread.run(calls([add_call("c1", 2, 2)])).await.unwrap();
    for (decision, why) in [
        (json!({"type": "approve"}), "it does not name who decides"),
        (
            json!({"type": "approve", "by": "bob"}),
            "`bob` may not decide this",
        ),
    ] {
        let error = thread.answer(decision).await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    assert!(ran(&notes).is_empty());

    let mut events = thread
        .answer(ToolDecision::Approve.by("ada"))
        .stream(StreamMode::Custom);
    let mut reported = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom { value, .. } = event.unwrap().kind {
            reported.push(value);
        }
    }
    assert_eq!(reported[0]["type"], "tool_approval_answered");
    assert_eq!(
        (&reported[0]["by"], &reported[0]["decision"]["type"]),
        (&json!("ada"), &json!("approve"))
    );
    assert_eq!(ran(&notes), ["add 2 2"]);
    assert_eq!(decided_by(&graph, "t").await, ["ada"]);

    let graph = desk(&notes, Approval::all().named());
    graph
        .thread("t")
        .run(calls([add_call("c1", 2, 2)]))
        .await
        .unwrap();
    graph
        .thread("t")
        .answer(ToolDecision::Approve)
        .await
        .unwrap_err();
    let outcome = graph
        .thread("t")
        .answer(ToolDecision::Approve.by("anybody"))
        .await;
    assert!(outcome.unwrap().is_done());
}

/// Who decided about the calls of a thread, as its state says later.
async fn decided_by(graph: &CompiledStateGraph<MessagesState>, thread: &str) -> Vec<String> {
    let state = graph.thread(thread).state().await.unwrap().unwrap();
    let results = state
        .values
        .messages
        .iter()
        .filter_map(Message::tool_result);
    results
        .filter_map(|result| result.decided_by.clone())
        .collect()
}

#[tokio::test]
async fn k3_every_decision_leaves_the_name_of_who_took_it() {
    let decisions = [
        ToolDecision::Approve,
        ToolDecision::edit([("a", 1), ("b", 1)]),
        ToolDecision::reject("no"),
        ToolDecision::answer("4"),
    ];
    for decision in decisions {
        let graph = desk(&Ran::default(), Approval::all().named());
        let thread = graph.thread("t");
        thread.run(calls([add_call("c1", 2, 2)])).await.unwrap();
        thread.answer(decision.by("ada")).await.unwrap();
        assert_eq!(decided_by(&graph, "t").await, ["ada"]);
    }
    // Without a name, no approver is recorded.
    let graph = desk(&Ran::default(), Approval::all());
    let thread = graph.thread("t");
    thread.run(calls([add_call("c1", 2, 2)])).await.unwrap();
    thread.answer(ToolDecision::Approve).await.unwrap();
    assert!(decided_by(&graph, "t").await.is_empty());
}

fn short(default: ToolDecision) -> Approval {
    Approval::of(["add"]).expires_in(Duration::from_millis(20), default)
}

async fn wait() {
    tokio::time::sleep(Duration::from_millis(30)).await;
}

#[tokio::test]
async fn k3_an_expired_request_takes_its_default_and_a_late_answer_does_not_count() {
    for late in [false, true] {
        let notes = Ran::default();
        let graph = desk(&notes, short(ToolDecision::reject("no answer")));
        let thread = graph.thread("t");
        assert!(
            expired_approvals(&thread).await.unwrap().is_none(),
            "no thread"
        );
        let outcome = thread.run(calls([add_call("c1", 1, 2)])).await.unwrap();
        assert!(!request(&outcome).is_expired());
        assert!(
            expired_approvals(&thread).await.unwrap().is_none(),
            "too early"
        );
        wait().await;
        let run = if late {
            thread.answer(ToolDecision::Approve)
        } else {
            expired_approvals(&thread).await.unwrap().unwrap()
        };
        let outcome = run.await.unwrap();
        assert_eq!(answers(outcome.state()), [answer("c1", true, "no answer")]);
        assert!(ran(&notes).is_empty());
        assert!(
            expired_approvals(&thread).await.unwrap().is_none(),
            "answered"
        );
    }
}

#[tokio::test]
async fn k3_a_decision_counts_for_good() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    struct Nothing {}
    async fn ask(_: Nothing, cx: &ToolContext<'_>) -> Result<i64, ToolError> {
        Ok(cx.interrupt("how many", "how many?")?)
    }
    use langgraph_agent::__private::{schemars, serde};
    let node = ToolNode::new((FnTool::new("add", "", ask),));
    let graph = graph_of(node.approve(short(ToolDecision::reject("too late"))));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let call = ToolCall::new("c1", "add", json!({}));
    thread.run(calls([call])).await.unwrap();
    let outcome = thread.answer(ToolDecision::Approve).await.unwrap();
    assert_eq!(keys(&outcome), ["how many"]);
    // The tool's own question takes longer than the approval was open.
    wait().await;
    let outcome = thread.answer(3).await.unwrap();
    assert_eq!(answers(outcome.state()), [answer("c1", false, "3")]);
}

/// Adds.
#[tool]
async fn sum(a: u8, b: u8) -> u8 {
    a + b
}

/// A tool that knows its schema only at run time.
struct Remote(ToolDefinition);

#[async_trait]
impl Tool for Remote {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, arguments: Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(arguments.to_string()))
    }
}

#[tokio::test]
async fn k3_edited_arguments_are_checked_like_the_models() {
    let remote = Remote(ToolDefinition::new(
        "remote",
        "",
        json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"enum": [1, 2]}},
            "required": ["a", "b"],
            "additionalProperties": false,
        }),
    ));
    let notes = Ran::default();
    let (add, _) = tools(&notes);
    let graph = graph_of(ToolNode::new((sum, remote, add)).approve(Approval::all()));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let bad = |pairs: Value| json!({"type": "edit", "arguments": pairs});
    for (tool, edited, why) in [
        ("sum", json!({"a": 1}), "missing field `b`"),
        ("sum", json!({"a": 300, "b": 1}), "a: invalid value"),
        ("add", json!({"a": 1, "b": "x"}), "b: invalid type"),
        ("remote", json!({"a": 1}), "missing field `b`"),
        (
            "remote",
            json!({"a": "1", "b": 1}),
            "a: expected integer, not `\"1\"`",
        ),
        ("remote", json!({"a": 1, "b": 3}), "b: `3` is none of 1, 2"),
        (
            "remote",
            json!({"a": 1, "b": 1, "c": 1}),
            "unknown field `c`",
        ),
    ] {
        let thread = graph.thread(format!("{tool} {edited}"));
        let call = ToolCall::new("c1", tool, json!({"a": 0, "b": 0}));
        thread.run(calls([call])).await.unwrap();
        let error = thread.answer(bad(edited)).await.unwrap_err();
        let error = error.refused_answer().unwrap().to_string();
        assert!(error.contains("the arguments do not fit: "), "{error}");
        assert!(error.contains(why), "{error}");
        let outcome = thread
            .answer(ToolDecision::edit([("a", 1), ("b", 2)]))
            .await;
        assert!(outcome.unwrap().is_done());
    }
    assert_eq!(ran(&notes), ["add 1 2"]);
}

#[tokio::test]
async fn k3_the_approvals_of_one_turn_are_decided_together_or_one_by_one() {
    let notes = Ran::default();
    let graph = desk(&notes, "add".into());
    let two = || calls([add_call("c1", 1, 2), add_call("c2", 3, 4)]);
    let thread = graph.thread("together");
    let outcome = thread.run(two()).await.unwrap();
    let [turn] = &ApprovalTurn::all(outcome.interrupts())[..] else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        turn.turn.as_deref(),
        outcome.state().messages[1].id.as_deref()
    );
    assert_eq!(turn.requests.len(), 2);
    let outcome = thread
        .resume_all(turn.decide_all(&ToolDecision::Approve))
        .await
        .unwrap();
    assert!(outcome.is_done());

    let thread = graph.thread("one by one");
    let outcome = thread.run(two()).await.unwrap();
    let turn = ApprovalTurn::all(outcome.interrupts()).remove(0);
    let decided = turn.decide(|index, request| {
        request.answer(match index {
            0 => ToolDecision::Approve,
            _ => ToolDecision::reject("one is enough"),
        })
    });
    let outcome = thread.resume_all(decided).await.unwrap();
    let expected = [
        answer("c1", false, "3"),
        answer("c2", true, "one is enough"),
    ];
    assert_eq!(answers(outcome.state()), expected);
    assert_eq!(ran(&notes).len(), 3);
}

#[tokio::test]
async fn k3_a_graph_with_approvals_needs_a_checkpointer_before_anything_runs() {
    let notes = Ran::default();
    let graph = graph_of(ToolNode::new(tools(&notes)).approve("subtract"));
    // The call would not even ask.
    let error = graph.run(calls([add_call("c1", 1, 2)])).await.unwrap_err();
    assert!(error.to_string().contains("may interrupt"), "{error}");
    assert!(ran(&notes).is_empty());
}
