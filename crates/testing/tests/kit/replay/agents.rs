//! Effects, models, tools and approvals in replays of stored threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::node::OnceKey;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AgentContext, Approval, EffectExt, FnTool, HumanInTheLoop, MessagesStateUpdate, ModelCall,
    NextModel, ScriptedModel, ToolAnswer, ToolDecision, Turn, react_agent,
};
use langgraph_testing::replay;
use serde_json::json;

use super::{Order, OrderUpdate, note, only, shown};

static CHARGED: AtomicUsize = AtomicUsize::new(0);

/// The keys of what is done once.
struct Card(&'static str);

#[node]
async fn pay(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let Card(card) = cx.resource()?;
    let charge = || Ok::<_, NodeError>(CHARGED.fetch_add(1, Ordering::Relaxed));
    let first: usize = cx
        .once_with(OnceKey::new(*card).with(&order.item), charge)
        .await?;
    let mail = cx.effect("mail").run(|_| async { charge() });
    let second: usize = mail.await?;
    Ok(note(&format!("{first} {second}")))
}

#[tokio::test]
async fn k8_effects_are_not_repeated_in_a_replay() {
    let graph = |card: &'static str| {
        let mut graph = StateGraph::<Order>::new();
        graph.add_node("pay", pay).add_sequence(&["pay"]);
        graph.compile().unwrap().resource(Arc::new(Card(card)))
    };
    let saver = Arc::new(MemorySaver::new());
    let stored = graph("card").checkpointer(saver.clone());
    stored
        .thread("t")
        .run(OrderUpdate::default())
        .await
        .unwrap();
    assert_eq!(CHARGED.load(Ordering::Relaxed), 2);

    let report = replay(saver.clone(), &graph("card")).await.unwrap();
    assert!(report.is_same(), "{report}");
    // Work that was not done then does not begin now.
    let report = replay(saver, &graph("giro")).await.unwrap();
    let (_, divergence) = only(&report);
    assert_eq!(divergence.field, "outcome");
    let got = divergence.got.as_str().unwrap();
    assert!(got.contains("`giro` has no stored result"), "{got}");
    assert_eq!(CHARGED.load(Ordering::Relaxed), 2);
}

static REFUNDS: AtomicUsize = AtomicUsize::new(0);

fn desk(model: ScriptedModel) -> langgraph_agent::ReactAgent {
    let refund = FnTool::new("refund", "Pays back.", || async {
        REFUNDS.fetch_add(1, Ordering::Relaxed);
        "paid back"
    });
    react_agent(model, (refund, double))
}

/// Doubles a number.
#[tool]
async fn double(n: i64) -> i64 {
    n * 2
}

#[tokio::test]
async fn k8_models_and_tools_of_a_replayed_agent_answer_as_they_did_then() {
    let model = ScriptedModel::new([
        Turn::tool_calls([
            ToolCall::new("c1", "refund", json!({})),
            ToolCall::new("c2", "double", json!({"n": 4})),
        ]),
        Turn::text("Done."),
        Turn::tool_calls([ToolCall::new("c3", "refund", json!({}))]),
    ]);
    let saver = Arc::new(MemorySaver::new());
    let graph = desk(model)
        .with(HumanInTheLoop::new("refund"))
        .compile()
        .unwrap();
    let graph = graph.checkpointer(saver.clone());
    let question = || MessagesStateUpdate::user("My money!");
    let thread = graph.thread("t");
    thread.run(question()).await.unwrap();
    thread.resume("c1", ToolDecision::Approve).await.unwrap();
    thread.run(question()).await.unwrap(); // waits for an approval
    assert_eq!(REFUNDS.load(Ordering::Relaxed), 1);

    // No turn is left in the script: the model is not asked.
    let silent = ScriptedModel::new(Vec::<Turn>::new());
    let same = desk(silent.clone())
        .with(HumanInTheLoop::new("refund"))
        .compile()
        .unwrap();
    let report = replay(saver.clone(), &same).await.unwrap();
    assert!(report.is_same(), "{report}");
    assert_eq!(report.threads[0].supersteps, 7, "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");
    assert!(silent.requests().is_empty());
    assert_eq!(REFUNDS.load(Ordering::Relaxed), 1);

    // A tool that only computes may run.
    let report = replay(saver.clone(), &same)
        .run_tools(["double"])
        .await
        .unwrap();
    assert!(report.is_same(), "{report}");

    // Without approvals, the first refund would be paid without a question, and so would the one that
    // waits. Neither is paid.
    let rash = desk(silent).compile().unwrap();
    let report = replay(saver, &rash).await.unwrap();
    let (_, divergence) = only(&report);
    let (_, node, field, _, got) = shown(divergence);
    assert_eq!(
        (node, field, got),
        ("tools", "interrupt", &json!("finished"))
    );
    assert_eq!(REFUNDS.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn k8_an_expired_approval_asks_again_in_a_replay() {
    let call = |id: &str| Turn::tool_calls([ToolCall::new(id, "double", json!({"n": 4}))]);
    let graph = |turns: Vec<Turn>| {
        let soon = std::time::Duration::from_millis(20);
        let approval = Approval::of(["double"]).expires_in(soon, ToolDecision::reject("Too late."));
        let agent = react_agent(ScriptedModel::new(turns), (double,));
        agent.with(HumanInTheLoop::new(approval)).compile().unwrap()
    };
    let saver = Arc::new(MemorySaver::new());
    let turns = vec![call("c1"), Turn::text("It was rejected."), call("c2")];
    let stored = graph(turns).checkpointer(saver.clone());
    let thread = stored.thread("t");
    thread
        .run(MessagesStateUpdate::user("4 + 4?"))
        .await
        .unwrap();
    let expires = async || tokio::time::sleep(std::time::Duration::from_millis(30)).await;
    expires().await;
    let run = langgraph_agent::expired_approvals(&thread).await.unwrap();
    run.unwrap().await.unwrap();
    thread
        .run(MessagesStateUpdate::user("4 + 4?"))
        .await
        .unwrap();
    expires().await;

    // One approval got its default, and one is open.
    let report = replay(saver, &graph(Vec::new())).await.unwrap();
    assert!(report.is_same(), "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");
}

async fn judge(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let model = cx.resource::<dyn ChatModel>()?;
    let question = [langgraph::message::Message::user(order.item.as_str())];
    let answer = model.invoke(&question, cx).await?;
    Ok(note(&answer.text()))
}

#[tokio::test]
async fn k8_answers_of_models_that_are_no_messages_come_from_the_users_model() {
    let mut graph = StateGraph::<Order>::new();
    graph.add_node("judge", judge).add_sequence(&["judge"]);
    let graph = graph.compile().unwrap();
    let saver = Arc::new(MemorySaver::new());
    let model = |says: &str| -> Arc<dyn ChatModel> { Arc::new(ScriptedModel::new([says])) };
    let stored = graph.clone().checkpointer(saver.clone());
    let run = stored.thread("t").run(OrderUpdate::default());
    run.resource(model("fine")).await.unwrap();

    let report = replay(saver.clone(), &graph).await.unwrap();
    // Its only node is not checked.
    assert!(!report.is_same() && report.diverged().next().is_none());
    let [unchecked] = &*report.threads[0].unchecked else {
        panic!("{report}");
    };
    assert_eq!(unchecked.node.as_deref(), Some("judge"));

    assert!(unchecked.reason.contains(".model(..)"), "{report}");

    for (says, same) in [("fine", true), ("bad", false)] {
        let graph = graph.clone().resource(model("never asked"));
        let scripted = ScriptedModel::new([says]);
        let report = replay(saver.clone(), &graph).model(scripted).await.unwrap();
        assert_eq!(report.is_same(), same, "{report}");
        assert!(report.threads[0].unchecked.is_empty());
    }
}

#[tokio::test]
async fn k8_an_edited_call_is_answered_in_a_replay_as_it_was_then() {
    let model = || {
        ScriptedModel::new([
            Turn::tool_calls([ToolCall::new("c1", "double", json!({"n": 4}))]),
            Turn::text("Done."),
        ])
    };
    let saver = Arc::new(MemorySaver::new());
    let graph = |model| {
        let agent = desk(model).with(HumanInTheLoop::new("double"));
        agent.compile().unwrap()
    };
    let stored = graph(model()).checkpointer(saver.clone());
    let thread = stored.thread("t");
    let question = MessagesStateUpdate::user("Twice four?");
    thread.run(question).await.unwrap();
    let edit = json!({"type": "edit", "arguments": {"n": 5}});
    let edit: ToolDecision = serde_json::from_value(edit).unwrap();
    thread.resume("c1", edit).await.unwrap();

    let report = replay(
        saver.clone(),
        &graph(ScriptedModel::new(Vec::<Turn>::new())),
    );
    let report = report.await.unwrap();
    assert!(report.is_same(), "{report}");
    let report = replay(saver, &graph(ScriptedModel::new(Vec::<Turn>::new())));
    let report = report.run_tools(["double"]).await.unwrap();
    assert!(report.is_same(), "{report}");
}

/// Adds a note to each answer of a tool.
struct Notes(&'static str);

#[middleware]
impl AgentMiddleware for Notes {
    async fn after_tool(
        &self,
        mut answer: ToolAnswer,
        _: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let text = format!("{} {}", answer.result.content.text(), self.0);
        answer.result.content = text.into();
        Ok(answer)
    }
}

#[tokio::test]
async fn an_answer_that_middleware_has_changed_is_not_checked_when_it_changes_it_again() {
    let model = || {
        ScriptedModel::new([
            Turn::tool_calls([ToolCall::new("c1", "double", json!({"n": 4}))]),
            Turn::text("Done."),
        ])
    };
    let saver = Arc::new(MemorySaver::new());
    let graph = |note| desk(model()).with(Notes(note)).compile().unwrap();
    let stored = graph("checked").checkpointer(saver.clone());
    let thread = stored.thread("t");
    thread
        .run(MessagesStateUpdate::user("Twice four?"))
        .await
        .unwrap();

    let report = replay(saver.clone(), &graph("checked")).await.unwrap();
    assert!(report.is_same(), "{report}");
    let [unchecked] = &report.threads[0].unchecked[..] else {
        panic!("{report}");
    };
    assert_eq!(unchecked.node.as_deref(), Some("tools"));
    assert!(unchecked.reason.contains("middleware"), "{report}");

    // The tool answers anew: what middleware makes of that is compared.
    for (note, same) in [("checked", true), ("seen", false)] {
        let report = replay(saver.clone(), &graph(note)).run_tools(["double"]);
        let report = report.await.unwrap();
        assert_eq!(report.is_same(), same, "{report}");
        assert!(report.threads[0].unchecked.is_empty(), "{report}");
    }
}

/// Adds a note to each answer of a model.
struct Signs(&'static str);

#[middleware]
impl AgentMiddleware for Signs {
    async fn around_model(
        &self,
        call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let mut response = next.run(call).await?;
        let text = format!("{} {}", response.message.text(), self.0);
        response.message = Message::assistant(text);
        Ok(response)
    }
}

#[tokio::test]
async fn an_answer_of_a_model_that_middleware_changes_again_is_not_checked() {
    let saver = Arc::new(MemorySaver::new());
    let graph = |note, model| desk(model).with(Signs(note)).compile().unwrap();
    let stored = graph("Yours.", ScriptedModel::new(["Done."])).checkpointer(saver.clone());
    let run = stored.thread("t").run(MessagesStateUpdate::user("Hi!"));
    run.await.unwrap();

    let silent = || ScriptedModel::new(Vec::<Turn>::new());
    let report = replay(saver.clone(), &graph("Yours.", silent())).await;
    let report = report.unwrap();
    let [unchecked] = &report.threads[0].unchecked[..] else {
        panic!("{report}");
    };
    assert_eq!(unchecked.node.as_deref(), Some("agent"));
    assert!(unchecked.reason.contains("answer of a model"), "{report}");

    // The model answers anew: what middleware makes of that is compared.
    for (note, same) in [("Yours.", true), ("Bye.", false)] {
        let graph = graph(note, ScriptedModel::new(["Done."]));
        let report = replay(saver.clone(), &graph).ask_models().await.unwrap();
        assert_eq!(report.is_same(), same, "{report}");
        assert!(report.threads[0].unchecked.is_empty(), "{report}");
    }
}

/// Lets another model choose before each call, as a selection of tools does.
struct Chooses(Arc<dyn ChatModel>);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Chosen {
    tools: Vec<String>,
}

#[middleware]
impl AgentMiddleware for Chooses {
    async fn around_model(
        &self,
        mut call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let question = call.request.messages.clone();
        let chosen: Chosen = self.0.invoke_structured(&question, cx).await?;
        let tools = &mut call.request.tools;
        tools.retain(|tool| chosen.tools.contains(&tool.name));
        next.run(call).await
    }
}

#[tokio::test]
async fn a_call_of_a_model_whose_answer_is_not_stored_takes_no_other_answer_in_a_replay() {
    let saver = Arc::new(MemorySaver::new());
    let chosen = || ScriptedModel::new([r#"{"tools": ["double"]}"#]);
    let silent = || ScriptedModel::new(Vec::<Turn>::new());
    let graph = |small, model| {
        desk(model)
            .with(Chooses(Arc::new(small)))
            .compile()
            .unwrap()
    };
    let stored = graph(chosen(), ScriptedModel::new(["Done."])).checkpointer(saver.clone());
    let run = stored.thread("t").run(MessagesStateUpdate::user("Hi!"));
    run.await.unwrap();

    let today = graph(silent(), silent());
    let report = replay(saver.clone(), &today).await.unwrap();
    let [unchecked] = &report.threads[0].unchecked[..] else {
        panic!("{report}");
    };
    assert!(unchecked.reason.contains(".model(..)"), "{report}");

    let report = replay(saver, &today).model(chosen()).await.unwrap();
    assert!(report.is_same(), "{report}");
    assert!(report.threads[0].unchecked.is_empty(), "{report}");
}
