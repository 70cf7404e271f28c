//! Tools that a person lets run, or not.

use std::sync::Arc;
use std::sync::Mutex;

use langgraph::checkpoint::{Durability, MemorySaver};
use langgraph::graph::lock;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::{
    Approval, ApprovalRequest, DecisionKind, FnTool, HumanInTheLoop, MessagesState,
    MessagesStateUpdate, ScriptedModel, ToolAgent, ToolAgentState, ToolContext, ToolDecision,
    ToolError, ToolNode, Turn, react_agent,
};
use serde_json::{Value, json};

use super::{Add, answers, calls, fanned_out, graph_of};

/// What ran, in order.
pub(super) type Ran = Arc<Mutex<Vec<String>>>;

/// The tools `add` and `free`, which note what they were called with.
pub(super) fn tools(ran: &Ran) -> (FnTool, FnTool) {
    let (first, second) = (Arc::clone(ran), Arc::clone(ran));
    (
        FnTool::new("add", "Adds.", move |Add { a, b }: Add| {
            first.lock().unwrap().push(format!("add {a} {b}"));
            async move { a + b }
        }),
        FnTool::new("free", "Costs nothing.", move || {
            second.lock().unwrap().push("free".to_owned());
            async { "done" }
        }),
    )
}

pub(super) fn ran(ran: &Ran) -> Vec<String> {
    ran.lock().unwrap().clone()
}

pub(super) fn add_call(id: &str, a: i64, b: i64) -> ToolCall {
    ToolCall::new(id, "add", json!({"a": a, "b": b}))
}

fn kept(graph: &CompiledStateGraph<MessagesState>) -> CompiledStateGraph<MessagesState> {
    graph.clone().checkpointer(Arc::new(MemorySaver::new()))
}

pub(super) fn keys<S>(outcome: &Outcome<S>) -> Vec<&str> {
    outcome.interrupts().iter().map(|i| &*i.key).collect()
}

pub(super) fn answer(id: &str, is_error: bool, text: &str) -> (String, bool, String) {
    (id.to_owned(), is_error, text.to_owned())
}

#[tokio::test]
async fn g9_each_decision_answers_its_call_exactly_once() {
    for durability in [Durability::Sync, Durability::Exit] {
        let notes = Ran::default();
        let node = ToolNode::new(tools(&notes)).approve("add");
        let graph = kept(&fanned_out(node));
        let asked = calls([
            add_call("yes", 1, 2),
            add_call("other", 3, 4),
            ToolCall::new("free", "free", json!({})),
            add_call("no", 5, 6),
            add_call("why", 7, 8),
            add_call("known", 9, 10),
        ]);
        let outcome = graph.run(asked).thread("t").durability(durability).await;
        let outcome = outcome.unwrap();
        assert_eq!(keys(&outcome), ["yes", "other", "no", "why", "known"]);
        // What needs no consent runs at once, and the rest waits.
        assert_eq!(ran(&notes), ["free"]);

        let decisions = [
            ("yes", ToolDecision::Approve),
            ("other", ToolDecision::edit([("a", 30), ("b", 40)])),
            ("no", ToolDecision::Reject { message: None }),
        ];
        let outcome = graph
            .thread("t")
            .resume_all(decisions)
            .durability(durability);
        let outcome = outcome.await.unwrap();
        assert_eq!(keys(&outcome), ["why", "known"]);
        let mut done = ran(&notes);
        done.sort_unstable();
        assert_eq!(done, ["add 1 2", "add 30 40", "free"]);

        let decisions = [
            ("why", ToolDecision::reject("Use a smaller number.")),
            ("known", ToolDecision::answer("19, as everybody knows")),
        ];
        let outcome = graph
            .thread("t")
            .resume_all(decisions)
            .durability(durability);
        let state = outcome.await.unwrap().finished().unwrap();
        assert_eq!(ran(&notes).len(), 3, "nothing runs twice");
        assert_eq!(
            answers(&state),
            [
                answer("yes", false, "3"),
                answer(
                    "other",
                    false,
                    "(The user changed the arguments to {\"a\":30,\"b\":40}.)\n70"
                ),
                answer("free", false, "done"),
                answer(
                    "no",
                    true,
                    "The user rejected the call of `add`; it did not run."
                ),
                answer("why", true, "Use a smaller number."),
                answer("known", false, "19, as everybody knows"),
            ]
        );
        let named = state.messages.iter().filter_map(Message::tool_result);
        assert!(named.clone().all(|result| result.name.is_some()));
        assert_eq!(named.count(), 6);
    }
}

#[tokio::test]
async fn as_a_node_each_call_is_decided_on_its_own() {
    let notes = Ran::default();
    let node = ToolNode::new(tools(&notes)).approve("add");
    let graph = kept(&graph_of(node));
    let asked = calls([
        add_call("c1", 1, 2),
        ToolCall::new("c2", "free", json!({})),
        // Two calls that a model has given the same name: each is decided on its own.
        add_call("c1", 3, 4),
    ]);
    let outcome = graph.run(asked).thread("t").await.unwrap();
    assert_eq!(keys(&outcome), ["c1", "c1"]);
    assert_eq!(ran(&notes), ["free"]);
    let first = outcome.interrupts()[0].id.clone();
    let outcome = graph.thread("t").resume(first, ToolDecision::Approve).await;
    assert_eq!(keys(&outcome.unwrap()), ["c1"]);
    let outcome = graph
        .thread("t")
        .answer(ToolDecision::reject("no"))
        .await
        .unwrap();
    assert_eq!(ran(&notes), ["free", "add 1 2"]);
    let state = outcome.finished().unwrap();
    assert_eq!(
        answers(&state),
        [
            answer("c1", false, "3"),
            answer("c2", false, "done"),
            answer("c1", true, "no")
        ]
    );
}

#[tokio::test]
async fn the_request_says_what_there_is_to_decide() {
    let approval = Approval::of(["add"])
        .allow([DecisionKind::Approve, DecisionKind::Reject])
        .describe(|call| format!("Add {}?", call.arguments["a"]));
    let node = ToolNode::new(tools(&Ran::default())).approve(approval);
    let definition = node.tools().definitions()[0].clone();
    let graph = kept(&fanned_out(node));
    let outcome = graph.run(calls([add_call("c1", 1, 2)])).thread("t").await;
    let outcome = outcome.unwrap();
    let [question] = outcome.interrupts() else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        question.payload,
        json!({
            "type": "tool_approval",
            "call": {"id": "c1", "name": "add", "arguments": {"a": 1, "b": 2}},
            "description": "Add 1?",
            "allowed": ["approve", "reject"],
            "parameters": definition.parameters,
            "digest": question.payload["digest"],
            "turn": outcome.state().messages[1].id,
        })
    );
    let request = ApprovalRequest::of(question).unwrap();
    assert_eq!(request.call, add_call("c1", 1, 2));
    assert_eq!(
        request.allowed,
        [DecisionKind::Approve, DecisionKind::Reject]
    );

    // What is not allowed, or no decision at all, is refused, and the question waits.
    for (bad, why) in [
        (
            json!({"type": "edit", "arguments": {}}),
            "cannot be taken: `edit` is not allowed; it may be: approve, reject",
        ),
        (
            json!({"type": "maybe"}),
            "has the wrong form: unknown variant `maybe`",
        ),
        (json!("yes"), "has the wrong form"),
    ] {
        let error = graph
            .thread("t")
            .resume("c1", bad)
            .await
            .unwrap_err()
            .to_string();
        let expected = format!("node `tools` waits on: the answer to `c1` {why}");
        assert!(error.starts_with(&expected), "{error}");
    }
    let outcome = graph
        .thread("t")
        .resume("c1", ToolDecision::Approve)
        .await
        .unwrap();
    assert_eq!(answers(outcome.state()), [answer("c1", false, "3")]);
}

#[test]
fn decisions_are_read_in_langgraphs_words_too() {
    let read = |wire: Value| serde_json::from_value::<ToolDecision>(wire).unwrap();
    assert_eq!(read(json!({"type": "accept"})), ToolDecision::Approve);
    let edit = ToolDecision::edit([("a", 1)]);
    assert_eq!(read(json!({"type": "edit", "args": {"a": 1}})), edit);
    let reject = ToolDecision::Reject { message: None };
    assert_eq!(read(json!({"type": "ignore"})), reject);
    let answer = ToolDecision::answer("hm");
    assert_eq!(read(json!({"type": "response", "args": "hm"})), answer);
    assert_eq!(read(json!({"type": "respond", "message": "hm"})), answer);
    for decision in [
        ToolDecision::Approve,
        edit,
        reject,
        ToolDecision::reject("no"),
        answer,
    ] {
        assert_eq!(read(serde_json::to_value(&decision).unwrap()), decision);
    }
}

#[tokio::test]
async fn a_predicate_sees_the_arguments_and_the_first_that_fits_counts() {
    let notes = Ran::default();
    let node = ToolNode::new(tools(&notes))
        .approve(
            Approval::when(|call| call.arguments["a"].as_i64() > Some(100))
                .describe(|_| "large".to_owned()),
        )
        .approve(Approval::of(["free"]))
        .approve(Approval::when(|call| call.arguments["a"] == 500).describe(|_| "five".to_owned()));
    let graph = kept(&fanned_out(node));
    let asked = calls([
        add_call("small", 1, 2),
        add_call("large", 500, 2),
        ToolCall::new("free", "free", json!({})),
    ]);
    let outcome = graph.run(asked).thread("t").await.unwrap();
    assert_eq!(keys(&outcome), ["large", "free"]);
    assert_eq!(outcome.interrupts()[0].payload["description"], "large");
    assert_eq!(
        outcome.interrupts()[1].payload["description"],
        "The model wants to call `free`."
    );
    assert_eq!(ran(&notes), ["add 1 2"]);
}

#[tokio::test]
async fn calls_that_cannot_run_need_no_approval() {
    let node = ToolNode::new(tools(&Ran::default())).approve(Approval::all());
    for graph in [graph_of(node.clone()), fanned_out(node)] {
        let graph = kept(&graph);
        let asked = calls([
            ToolCall::new("c1", "subtract", json!({})),
            ToolCall::from_text("c2", "add", "{\"a\": "),
        ]);
        let state = graph.run(asked).thread("t").await.unwrap();
        let state = state.finished().unwrap();
        assert_eq!(answers(&state).iter().filter(|answer| answer.1).count(), 2);
    }
}

#[tokio::test]
async fn an_approval_of_a_tool_that_does_not_exist_is_an_error() {
    let node = ToolNode::new(tools(&Ran::default())).approve(["add", "fre"]);
    for graph in [graph_of(node.clone()), fanned_out(node)] {
        let asked = calls([ToolCall::new("c", "free", json!({}))]);
        let error = kept(&graph).run(asked).thread("t").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "node `tools` failed: an approval is for tool `fre`, and there is no such tool \
             (tools: add, free)"
        );
    }
}

#[tokio::test]
async fn an_approved_tool_may_ask_questions_of_its_own() {
    async fn ask(Add { a, b }: Add, cx: &ToolContext<'_>) -> Result<i64, ToolError> {
        let c: i64 = cx.interrupt("c", "and?")?;
        Ok(a + b + c)
    }
    let node = ToolNode::new((FnTool::new("add", "", ask),)).approve("add");
    for graph in [graph_of(node.clone()), fanned_out(node)] {
        let graph = kept(&graph);
        let outcome = graph.run(calls([add_call("c1", 1, 2)])).thread("t").await;
        assert_eq!(keys(&outcome.unwrap()), ["c1"]);
        let outcome = graph
            .thread("t")
            .answer(ToolDecision::edit([("a", 10), ("b", 20)]));
        assert_eq!(keys(&outcome.await.unwrap()), ["c"]);
        let outcome = graph.thread("t").answer(300).await.unwrap();
        assert!(answers(outcome.state())[0].2.ends_with("\n330"));
    }
}

fn adding() -> ScriptedModel {
    ScriptedModel::new([
        Turn::tool_calls([add_call("c1", 1, 2), add_call("c2", 3, 4)]),
        Turn::text("Done."),
    ])
}

#[tokio::test]
async fn a_react_agent_goes_on_when_all_calls_are_decided() {
    let notes = Ran::default();
    let agent = react_agent(adding(), tools(&notes))
        .with(HumanInTheLoop::new("add"))
        .compile();
    let agent = kept(&agent.unwrap());
    let question = MessagesStateUpdate::default().messages(vec![Message::user("Add!")]);
    agent.run(question).thread("t").await.unwrap();
    let outcome = agent
        .thread("t")
        .resume("c2", ToolDecision::Approve)
        .await
        .unwrap();
    assert_eq!(keys(&outcome), ["c1"]);
    assert_eq!(ran(&notes), ["add 3 4"]);
    let outcome = agent
        .thread("t")
        .resume("c1", ToolDecision::reject("no"))
        .await;
    let state = outcome.unwrap().finished().unwrap();
    assert_eq!(
        answers(&state),
        [answer("c1", true, "no"), answer("c2", false, "7")]
    );
    assert_eq!(state.messages.last().unwrap().text(), "Done.");
    assert_eq!(ran(&notes), ["add 3 4"]);
}

#[tokio::test]
async fn a_tool_agent_asks_as_well() {
    let notes = Ran::default();
    let agent = ToolAgent::new(adding(), tools(&notes)).approve(["add"]);
    let graph = agent.graph().compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run(ToolAgentState::user("Add!")).thread("t").await;
    assert_eq!(keys(&outcome.unwrap()), ["c1", "c2"]);
    let outcome = graph.thread("t").resume("c1", ToolDecision::Approve).await;
    assert_eq!(keys(&outcome.unwrap()), ["c2"]);
    let outcome = graph
        .thread("t")
        .answer(ToolDecision::reject("no"))
        .await
        .unwrap();
    let state = outcome.finished().unwrap();
    assert_eq!(state.reply().unwrap().text(), "Done.");
    assert_eq!(ran(&notes), ["add 1 2"]);

    // Without a thread an approval cannot be stored: that is an error, not a tool that runs.
    let agent = ToolAgent::new(adding(), tools(&notes)).approve(["add"]);
    let error = agent.run(ToolAgentState::user("Add!")).await.unwrap_err();
    assert!(error.to_string().contains("no checkpointer"), "{error}");
    assert_eq!(ran(&notes), ["add 1 2"]);
}

/// The decisions that a graph declares for its tools.
fn declared<S: State>(graph: &CompiledStateGraph<S>) -> Vec<(String, Vec<String>)> {
    let nodes = graph.topology().nodes.iter();
    let tools = nodes.flat_map(|node| &node.tools);
    tools
        .map(|tool| (tool.name.clone(), tool.decisions.clone()))
        .collect()
}

#[test]
fn a_graph_declares_the_decisions_about_its_tools() {
    use DecisionKind::{Answer, Approve, Edit, Reject};
    fn of<const N: usize>(tool: &str, kinds: [DecisionKind; N]) -> (String, Vec<String>) {
        let names = kinds.map(|kind| json!(kind).as_str().unwrap().to_owned());
        (tool.to_owned(), names.to_vec())
    }
    let notes = Ran::default();
    let large = || Approval::when(|call| call.arguments["a"].as_i64() > Some(10)).allow([Reject]);

    let node = ToolNode::new(tools(&notes)).approve("add");
    let all = of("add", [Approve, Edit, Reject, Answer]);
    assert_eq!(
        declared(&graph_of(node.clone())),
        [all.clone(), of("free", [])]
    );
    assert_eq!(declared(&fanned_out(node)), [all, of("free", [])]);

    // The first approval may apply to both tools; the second to all calls of one, and no later one counts for it.
    let agent = react_agent(ScriptedModel::new(["hi"]), tools(&notes)).with((
        HumanInTheLoop::new(large())
            .and(Approval::of(["add"]).allow([Approve, Reject]))
            .and("add"),
        HumanInTheLoop::new(Approval::of(["free"]).allow([Edit])),
    ));
    assert_eq!(
        declared(&agent.compile().unwrap()),
        [of("add", [Reject, Approve]), of("free", [Reject, Edit])]
    );
}

#[tokio::test]
async fn the_lock_has_the_tools_that_are_approved() {
    let notes = Ran::default();
    let approvals = |graph: &CompiledStateGraph<MessagesState>| {
        let text = lock::write([graph.topology()]);
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| line.starts_with("approval "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let node = || ToolNode::new(tools(&notes));
    let add = ["approval add ToolDecision"];
    let both = [add[0], "approval free ToolDecision"];
    let asking = fanned_out(node().approve("add"));
    assert_eq!(approvals(&asking), add);
    assert_eq!(approvals(&graph_of(node().approve("add"))), add);
    assert_eq!(
        approvals(&fanned_out(node().approve(Approval::all()))),
        both
    );
    let sometimes = Approval::when(|call| call.arguments["a"] == 1);
    assert_eq!(approvals(&fanned_out(node().approve(sometimes))), both);
    let agent = react_agent(adding(), tools(&notes)).with(HumanInTheLoop::new("add"));
    assert_eq!(approvals(&agent.compile().unwrap()), add);

    // Without the approval, the tool runs though the person rejects the call.
    let trusting = fanned_out(node());
    let found = lock::breaking_changes(asking.topology(), trusting.topology());
    assert_eq!(found.len(), 1, "{found:?}");
    let found = found[0].to_string();
    assert!(
        found.ends_with("for the approval of a call of `add`, which the node no longer asks for, so that a rejection is lost: keep the approval, or keep the old version of the graph beside this one until no thread waits on it: `Versions::new().add(old).add(new)` of `langgraph-versions`"),
        "{found}"
    );
    let found = lock::breaking_changes(trusting.topology(), asking.topology());
    assert_eq!(found, []);
    let saver = Arc::new(MemorySaver::new());
    let (asking, trusting) = (
        asking.checkpointer(saver.clone()),
        trusting.checkpointer(saver),
    );
    let paused = asking.run(calls([add_call("c1", 1, 2)])).thread("t").await;
    assert_eq!(keys(&paused.unwrap()), ["c1"]);
    let reject = ToolDecision::Reject { message: None };
    let _ = trusting.thread("t").resume("c1", reject).await;
    assert_eq!(ran(&notes), ["add 1 2"]);
}
