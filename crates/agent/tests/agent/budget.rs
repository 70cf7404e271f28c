//! What runs and threads may spend.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::{MessageChunk, ToolCall, Usage};
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    AtLimit, Budget, BudgetAnswer, BudgetExceeded, BudgetExt, BudgetItem, BudgetRequest, FnTool,
    HumanInTheLoop, MessagesState, MessagesStateUpdate, ModelErrorKind, Price, Prices,
    ScriptedModel, TokenCount, Turn, react_agent,
};
use serde_json::json;

use crate::support::{asks_the_time, clock};

fn say(text: &str, input: u64, output: u64) -> Turn {
    Turn::text(text).with_usage(Usage::new(input, output))
}

fn talk(
    model: impl ChatModel + 'static,
    budget: &Arc<Budget>,
) -> CompiledStateGraph<MessagesState> {
    let graph = react_agent(model, (clock(),)).compile().unwrap();
    let graph = graph.resource(Arc::clone(budget));
    graph.checkpointer(Arc::new(MemorySaver::new()))
}

fn hi() -> MessagesStateUpdate {
    MessagesStateUpdate::user("hi")
}

#[allow(clippy::panic)]
fn exceeded(error: &AgentError) -> BudgetExceeded {
    let error = error.node_error().unwrap_or_else(|| panic!("{error}"));
    error
        .downcast_ref::<BudgetExceeded>()
        .unwrap_or_else(|| panic!("{error}"))
        .clone()
}

#[tokio::test]
async fn k4_tokens_are_reserved_before_a_call_and_settled_after_it() {
    let budget = Arc::new(Budget::per_thread().tokens(1000).reserve_output(400));
    let model = ScriptedModel::new([say("1", 300, 50), say("2", 300, 50), say("3", 1, 1)]);
    let graph = talk(model.clone(), &budget);
    graph.thread("t").run(hi()).await.unwrap();
    assert_eq!(budget.account("t").await.unwrap().spent.tokens, 350);
    graph.thread("t").run(hi()).await.unwrap();
    assert_eq!(budget.account("t").await.unwrap().spent.tokens, 700);

    // The rest is less than what the next call may need: it is not made.
    let error = graph.thread("t").run(hi()).await.unwrap_err();
    let exceeded = exceeded(&error);
    assert_eq!(
        (exceeded.item, exceeded.limit, exceeded.spent),
        (BudgetItem::Tokens, 1000, 700)
    );
    assert!(exceeded.needs > 400, "{exceeded:?}");
    assert_eq!(model.requests().len(), 2);
    // Another thread has an account of its own.
    graph.thread("u").run(hi()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn k4_calls_side_by_side_cannot_spend_the_same_rest() {
    struct Slow(ScriptedModel);
    #[async_trait]
    impl ChatModel for Slow {
        async fn generate(
            &self,
            request: ChatRequest,
        ) -> Result<langgraph_agent::ChatResponse, ModelError> {
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.0.generate(request).await
        }
    }
    async fn ask(_: &MessagesState, cx: &Context) -> Result<(), NodeError> {
        let model = cx.resource::<dyn ChatModel>()?;
        model
            .respond(ChatRequest::new(Vec::new()).max_tokens(100), cx)
            .await?;
        Ok(())
    }
    let model = ScriptedModel::new((0..4).map(|_| say("hi", 0, 10)));
    let mut graph = StateGraph::<MessagesState>::new();
    for node in ["a", "b", "c", "d"] {
        graph.add_node(node, ask).add_edge(START, node);
    }
    let budget = Arc::new(Budget::per_run().tokens(250));
    let model_: Arc<dyn ChatModel> = Arc::new(Slow(model.clone()));
    let graph = graph
        .compile()
        .unwrap()
        .resource(Arc::clone(&budget))
        .resource(model_);
    let error = graph.run(hi()).await.unwrap_err();
    assert_eq!(exceeded(&error).spent, 200);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn k4_a_failed_call_gives_its_tokens_back_and_counts_as_a_call() {
    let budget = Arc::new(Budget::per_thread().tokens(5000).model_calls(2));
    let down = || ModelError::new(ModelErrorKind::Timeout, "no answer");
    let model = ScriptedModel::new([down(), down(), down()]);
    let graph = talk(model.clone(), &budget);
    let thread = graph.thread("t");
    thread.run(hi()).await.unwrap_err();
    let spent = budget.account("t").await.unwrap().spent;
    assert_eq!((spent.tokens, spent.model_calls), (0, 1));
    thread.proceed().await.unwrap_err();
    let error = thread.proceed().await.unwrap_err();
    assert_eq!(exceeded(&error).item, BudgetItem::ModelCalls);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn k4_a_stream_that_breaks_off_costs_what_it_has_brought() {
    let usage = || MessageChunk::text("Hel").with_usage(Usage::new(300, 1));
    let broken = ModelError::new(ModelErrorKind::Transport, "the connection broke");
    for turn in [
        Turn::pieces([usage()]),
        Turn::pieces([usage()]).then_error(broken),
    ] {
        let budget = Arc::new(Budget::per_thread().tokens(5000));
        let graph = talk(ScriptedModel::new([turn]), &budget);
        let run = graph.thread("t").run(hi()).stream(StreamMode::Messages);
        run.finish().await.unwrap_err();
        let spent = budget.account("t").await.unwrap().spent;
        assert_eq!((spent.tokens, spent.model_calls), (301, 1));
    }
}

#[tokio::test]
async fn k4_tool_calls_count_once_even_if_they_ask() {
    async fn ask(_: Empty, cx: &ToolContext<'_>) -> Result<bool, ToolError> {
        Ok(cx.interrupt("sure", "sure?")?)
    }
    use langgraph_agent::__private::{schemars, serde};
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    struct Empty {}

    let budget = Arc::new(Budget::per_thread().tool_calls(2));
    let calls = ["c1", "c2", "c3"].map(|id| ToolCall::new(id, "ask", json!({})));
    let [one, two, three] = calls;
    let model = ScriptedModel::new([
        Turn::tool_calls([one]),
        Turn::tool_calls([two]),
        Turn::tool_calls([three]),
    ]);
    let agent = react_agent(model, (FnTool::new("ask", "", ask),))
        .compile()
        .unwrap();
    let agent = agent.resource(Arc::clone(&budget));
    let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    thread.run(hi()).await.unwrap();
    assert_eq!(budget.account("t").await.unwrap().spent.tool_calls, 0);
    thread.answer(true).await.unwrap();
    let error = thread.answer(true).await.unwrap_err();
    assert_eq!(exceeded(&error).item, BudgetItem::ToolCalls);
    assert_eq!(budget.account("t").await.unwrap().spent.tool_calls, 2);
}

#[tokio::test]
async fn k4_at_the_limit_a_person_is_asked_for_more() {
    let budget = Budget::per_thread().model_calls(1).at_limit(AtLimit::Ask);
    let budget = Arc::new(budget);
    let model = ScriptedModel::new([asks_the_time("c1"), "12:00".into(), "again".into()]);
    let graph = talk(model.clone(), &budget);
    let thread = graph.thread("t");
    let outcome = thread.run(hi()).await.unwrap();
    let request = BudgetRequest::of(&outcome.interrupts()[0]).unwrap();
    assert_eq!(
        (request.item, request.limit, request.spent),
        (BudgetItem::ModelCalls, 1, 1)
    );
    assert_eq!((&*request.account, model.requests().len()), ("t", 1));

    let outcome = thread.answer(BudgetAnswer::more(1)).await.unwrap();
    assert_eq!(outcome.state().messages.last().unwrap().text(), "12:00");
    // The next question is another one, and may be refused.
    let outcome = thread.run(hi()).await.unwrap();
    assert_eq!(
        BudgetRequest::of(&outcome.interrupts()[0]).unwrap().limit,
        2
    );
    let error = thread.answer(BudgetAnswer::Stop).await.unwrap_err();
    assert_eq!(exceeded(&error).item, BudgetItem::ModelCalls);
    assert_eq!(model.requests().len(), 2);

    // The operator of the program may also allow more.
    budget
        .allow_more("t", BudgetItem::ModelCalls, 5)
        .await
        .unwrap();
    let outcome = thread
        .run(hi())
        .on_open_interrupt(langgraph::thread::OnOpenInterrupt::Drop);
    outcome.await.unwrap();
}

async fn call(_: &MessagesState, cx: &Context) -> Result<(), NodeError> {
    let model = cx.resource::<ScriptedModel>()?;
    let _: u64 = model.invoke_structured(&[Message::user("hi")], cx).await?;
    Ok(())
}

/// Four tasks that call a model at once.
fn four_calls(budget: &Arc<Budget>) -> (CompiledStateGraph<MessagesState>, ScriptedModel) {
    let model = ScriptedModel::new((0..9).map(|call| Turn::text(call.to_string())));
    let mut graph = StateGraph::<MessagesState>::new();
    for node in ["a", "b", "c", "d"] {
        graph.add_node(node, call).add_edge(START, node);
    }
    let graph = graph.compile().unwrap().resource(Arc::clone(budget));
    let graph = graph.resource(Arc::new(model.clone()));
    (graph.checkpointer(Arc::new(MemorySaver::new())), model)
}

#[tokio::test]
async fn each_answer_of_parallel_requests_lets_its_own_call_through() {
    let budget = Budget::per_thread().model_calls(0).at_limit(AtLimit::Ask);
    let budget = Arc::new(budget);
    let (graph, model) = four_calls(&budget);
    let thread = graph.thread("t");
    let asked = thread.run(hi()).await.unwrap();
    assert_eq!(asked.interrupts().len(), 4);
    let ids = asked.interrupts().iter().map(|asked| asked.id.clone());
    let answers = ids.map(|id| (id, BudgetAnswer::more(1)));
    let done = thread.resume_all(answers).await.unwrap();
    assert!(done.is_done(), "{done:?}");
    assert_eq!(model.requests().len(), 4);
    let account = budget.account("t").await.unwrap();
    assert_eq!(
        (account.spent.model_calls, account.more.model_calls),
        (4, 4)
    );
    // An answer counts once: the next call asks again.
    let asked = thread.run(hi()).await.unwrap();
    assert_eq!(asked.interrupts().len(), 4);
}

#[tokio::test]
async fn k4_money_follows_the_price_table_and_a_cheaper_model_takes_the_rest() {
    let prices = || {
        Prices::new()
            .model("big", Price::per_million(1000.0, 1000.0))
            .model("small", Price::per_million(1.0, 1.0))
    };
    let big = ScriptedModel::new((0..9).map(|_| say("big", 400, 100))).named("big");
    let small = ScriptedModel::new((0..9).map(|_| say("small", 400, 100))).named("small");
    let budget = Budget::per_thread()
        .money(2.0, prices())
        .reserve_output(100)
        .cheaper_from(0.5, small.clone());
    let budget = Arc::new(budget);
    let graph = talk(big.clone(), &budget);
    let mut said = Vec::new();
    for _ in 0..4 {
        let outcome = graph.thread("t").run(hi()).await.unwrap();
        said.push(outcome.state().messages.last().unwrap().text().into_owned());
    }
    assert_eq!(said, ["big", "big", "small", "small"]);
    assert_eq!(budget.account("t").await.unwrap().spent.micros, 1_001_000);

    // A model without a price is not called.
    let other = ScriptedModel::new(["hi"]).named("other");
    let graph = talk(
        other.clone(),
        &Arc::new(Budget::per_run().money(1.0, prices())),
    );
    let error = graph.thread("t").run(hi()).await.unwrap_err().to_string();
    assert!(error.contains("there is none of `other`"), "{error}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn k4_the_cheaper_model_has_the_tools_of_the_model_whose_place_it_takes() {
    async fn ask(_: &MessagesState, cx: &Context) -> Result<(), NodeError> {
        let model = cx.model()?;
        model.respond(ChatRequest::new(Vec::new()), cx).await?;
        Ok(())
    }
    let small = ScriptedModel::new(["hi", "hi"]);
    let bound = || ScriptedModel::new(["never"]).bind_tools((clock(),));
    let models: [Arc<dyn ChatModel>; 2] = [Arc::new(bound()), Arc::new(bound().or(bound()))];
    for model in models {
        let budget = Budget::per_run().model_calls(10);
        let budget = Arc::new(budget.cheaper_from(0.0, small.clone()));
        let mut graph = StateGraph::<MessagesState>::new();
        graph.add_node("ask", ask).add_sequence(&["ask"]);
        let graph = graph.compile().unwrap().resource(budget).resource(model);
        graph.invoke(hi()).await.unwrap();
    }
    let tools = small.requests().into_iter().map(|request| request.tools);
    assert_eq!(tools.map(|tools| tools.len()).collect::<Vec<_>>(), [1, 1]);
}

#[tokio::test]
async fn k4_the_time_of_a_run_is_limited_from_its_first_call() {
    let budget = Arc::new(Budget::per_run().time(Duration::from_millis(10)));
    let slow = FnTool::new("get_current_time", "", || async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        "late"
    });
    let model = ScriptedModel::new([asks_the_time("c1"), "never".into()]);
    let agent = react_agent(model, (slow,)).compile().unwrap();
    let error = agent.resource(budget).invoke(hi()).await.unwrap_err();
    assert_eq!(exceeded(&error).item, BudgetItem::Time);
}

#[tokio::test]
async fn a_run_has_a_budget_of_its_own() {
    let budget = Arc::new(Budget::per_run().model_calls(1));
    let graph = talk(ScriptedModel::new(["a", "b"]), &budget);
    graph.thread("t").run(hi()).await.unwrap();
    graph.thread("t").run(hi()).await.unwrap();
}

#[test]
fn an_estimate_says_that_it_is_one() {
    let request = ChatRequest::new(vec![Message::user("twelve chars"), Message::user("你好")]);
    let count = TokenCount::estimate(&request);
    assert!(count.estimated);
    assert_eq!(count.tokens, (4 + 3) + (4 + 2));
}

#[tokio::test]
async fn k4_per_run_starts_anew_at_a_resume_and_per_thread_does_not() {
    for (budget, spent) in [(Budget::per_run(), 1), (Budget::per_thread(), 2)] {
        let keys = Arc::new(std::sync::Mutex::new(Vec::new()));
        let model = ScriptedModel::new([
            Turn::tool_calls([ToolCall::new("c1", "pay", json!({}))]),
            Turn::text("Paid."),
        ]);
        let pay = FnTool::new("pay", "Pays.", || async { "paid" });
        let seen = Arc::clone(&keys);
        let note = move |cx: &Context| seen.lock().unwrap().push(cx.run_id().to_owned());
        let agent = react_agent(model, (pay,)).with(HumanInTheLoop::new("pay"));
        let mut agent = agent.into_graph().unwrap();
        agent.middleware(NotesRun(note));
        let budget = Arc::new(budget.model_calls(10));
        let agent = agent.compile().unwrap().resource(Arc::clone(&budget));
        let agent = agent.checkpointer(Arc::new(MemorySaver::new()));
        let thread = agent.thread("t");
        thread.run(hi()).await.unwrap();
        thread
            .answer(langgraph_agent::ToolDecision::Approve)
            .await
            .unwrap();
        let runs = keys.lock().unwrap().clone();
        let last = if spent == 1 {
            runs.last().unwrap().as_str()
        } else {
            "t"
        };
        assert_eq!(budget.account(last).await.unwrap().spent.model_calls, spent);
    }
}

/// Notes the context of each node.
struct NotesRun<F>(F);

impl<F: Fn(&Context) + Send + Sync + 'static> langgraph::policy::Middleware<MessagesState>
    for NotesRun<F>
{
    fn around<'a>(
        &'a self,
        call: langgraph::policy::NodeCall<'a, MessagesState>,
    ) -> langgraph::node::NodeRun<'a, MessagesState> {
        (self.0)(call.context());
        call.run()
    }
}
