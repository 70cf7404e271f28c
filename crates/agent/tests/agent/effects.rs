//! Effects: work that happens at most once, or whose outcome is honestly unknown.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{
    EffectDecision, EffectExt, EffectRequest, MessagesState, MessagesStateUpdate, OnUnknown,
    ScriptedModel, Turn, UnknownOutcome, react_agent,
};
use serde_json::json;

/// A bank that notes the keys of its requests.
#[derive(Default)]
struct Bank {
    keys: Mutex<Vec<String>>,
    /// How many requests get no answer, ever.
    silent: AtomicU32,
    /// How many requests fail.
    failing: AtomicU32,
}

impl Bank {
    async fn charge(&self, key: String) -> Result<String, std::io::Error> {
        self.keys.lock().unwrap().push(key);
        let left = |count: &AtomicU32| {
            let less = |n: u32| n.checked_sub(1);
            count
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                .is_ok()
        };
        if left(&self.silent) {
            std::future::pending::<()>().await;
        }
        if left(&self.failing) {
            return Err(std::io::Error::other("no answer in time"));
        }
        Ok(format!("receipt {}", self.keys().len()))
    }

    fn keys(&self) -> Vec<String> {
        self.keys.lock().unwrap().clone()
    }
}

#[derive(State, Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
struct Order {
    cents: u64,
    receipt: String,
}

async fn charge(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    let bank = cx.resource::<Bank>()?;
    let charged = cx
        .effect("charge")
        .with(&order.cents)
        .on_unknown(*cx.resource::<OnUnknown>()?)
        .unknown_if(|error| error.to_string().contains("in time") && order.cents == 0)
        .run(|key| bank.charge(key))
        .await?;
    Ok(OrderUpdate::default().receipt(charged))
}

/// A graph that charges under a policy, on a thread.
fn shop(bank: &Arc<Bank>, policy: OnUnknown) -> CompiledStateGraph<Order> {
    let mut graph = StateGraph::<Order>::new();
    graph.add_node("charge", charge).add_sequence(&["charge"]);
    let graph = graph
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    graph.resource(Arc::clone(bank)).resource(Arc::new(policy))
}

/// Runs until the bank has a request, and then drops the run, as a crash does.
async fn die(run: langgraph::run::Run<Order>) {
    let limit = Duration::from_secs(5);
    tokio::time::timeout(limit, run).await.unwrap_err();
}

fn silent(requests: u32) -> Arc<Bank> {
    let bank = Bank::default();
    bank.silent.store(requests, Ordering::Relaxed);
    Arc::new(bank)
}

fn order(cents: u64) -> OrderUpdate {
    OrderUpdate::default().cents(cents)
}

#[tokio::test(start_paused = true)]
async fn k2_after_a_crash_the_work_runs_again_with_the_same_key() {
    let bank = silent(2);
    let shop = shop(&bank, OnUnknown::RunAgain);
    let thread = shop.thread("t");
    die(thread.run(order(5))).await;
    die(thread.proceed()).await;
    let order = thread.proceed().await.unwrap().finished().unwrap();
    assert_eq!(order.receipt, "receipt 3");
    let keys = bank.keys();
    assert!(keys[0].starts_with("charge:"), "{keys:?}");
    assert_eq!(keys, [keys[0].clone(), keys[0].clone(), keys[0].clone()]);
}

#[tokio::test(start_paused = true)]
async fn k2_after_a_crash_the_task_fails_and_says_what_to_look_up() {
    let bank = silent(1);
    let shop = shop(&bank, OnUnknown::Fail);
    die(shop.thread("t").run(order(5))).await;
    for _ in 0..2 {
        let error = shop.thread("t").proceed().await.unwrap_err();
        let unknown = error
            .node_error()
            .and_then(|error| error.downcast_ref::<UnknownOutcome>());
        let key = unknown.unwrap().idempotency_key().to_owned();
        assert_eq!(bank.keys(), [key]);
    }
}

#[tokio::test(start_paused = true)]
async fn k2_after_a_crash_a_person_decides_each_time_anew() {
    let bank = silent(2);
    let shop = shop(&bank, OnUnknown::Ask);
    let thread = shop.thread("t");
    die(thread.run(order(5))).await;

    let outcome = thread.proceed().await.unwrap();
    let request = EffectRequest::of(&outcome.interrupts()[0]).unwrap();
    assert_eq!(outcome.interrupts()[0].key, "charge");
    assert_eq!(
        (&*request.effect, &request.arguments),
        ("charge", &json!(5))
    );
    assert_eq!([request.idempotency_key], bank.keys()[..]);

    // It dies a second time: the first decision does not count for it.
    die(thread.answer(EffectDecision::RunAgain)).await;
    let outcome = thread.proceed().await.unwrap();
    assert_eq!(outcome.interrupts()[0].key, "charge#1");
    assert_eq!(bank.keys().len(), 2);

    let refused = thread
        .answer(EffectDecision::done(7))
        .await
        .unwrap_err()
        .to_string();
    assert!(refused.contains("it is not a result"), "{refused}");
    let outcome = thread
        .answer(EffectDecision::done("receipt of the bank"))
        .await;
    assert_eq!(
        outcome.unwrap().finished().unwrap().receipt,
        "receipt of the bank"
    );
    assert_eq!(bank.keys().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn k2_a_person_may_give_up() {
    let bank = silent(1);
    let shop = shop(&bank, OnUnknown::Ask);
    die(shop.thread("t").run(order(5))).await;
    shop.thread("t").proceed().await.unwrap();
    let error = shop
        .thread("t")
        .answer(EffectDecision::Fail)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("it is unknown whether `charge` has happened"),
        "{error}"
    );
    assert_eq!(bank.keys().len(), 1);
}

#[tokio::test]
async fn k2_work_that_failed_has_not_happened_unless_its_error_leaves_that_open() {
    for (cents, asks) in [(5, false), (0, true)] {
        let bank = Arc::new(Bank::default());
        bank.failing.store(1, Ordering::Relaxed);
        let shop = shop(&bank, OnUnknown::Ask);
        shop.thread("t").run(order(cents)).await.unwrap_err();
        let outcome = shop.thread("t").proceed().await.unwrap();
        assert_eq!(!outcome.interrupts().is_empty(), asks);
        assert_eq!(bank.keys().len(), if asks { 1 } else { 2 });
    }
}

#[tokio::test]
async fn k2_the_same_effect_on_something_else_is_an_error() {
    let twice = async |_: &Order, cx: &Context| {
        let work = |_| async { Ok::<_, NodeError>(()) };
        cx.effect("mail").with("ada").run(work).await?;
        cx.effect("mail").with("bob").run(work).await
    };
    let mut graph = StateGraph::<Order>::new();
    graph.add_node("twice", twice).add_sequence(&["twice"]);
    let error = graph
        .compile()
        .unwrap()
        .invoke(order(1))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`mail` was done before with other arguments"),
        "{error}"
    );
}

#[tokio::test]
async fn k2_effects_in_a_loop_take_the_keys_of_once() {
    let keys = Arc::new(Mutex::new(Vec::<String>::new()));
    let seen = Arc::clone(&keys);
    let undo = move |order: Order, cx: Context| {
        let seen = Arc::clone(&seen);
        async move {
            for index in 0..2 {
                let key = ("undo", index);
                let own = cx.idempotency_key(key);
                let work = |given: String| {
                    assert_eq!(given, own);
                    seen.lock().unwrap().push(given);
                    async { Ok::<_, NodeError>(()) }
                };
                // The second call finds the result of the first.
                cx.effect(key).with(&order.cents).run(work).await?;
                cx.effect(key).with(&order.cents).run(work).await?;
                cx.once_with(("note", index), || Ok::<_, NodeError>(index))
                    .await?;
            }
            Ok::<(), NodeError>(())
        }
    };
    let mut graph = StateGraph::<Order>::new();
    graph.add_node("undo", undo).add_sequence(&["undo"]);
    graph.compile().unwrap().invoke(order(1)).await.unwrap();
    let keys = keys.lock().unwrap();
    let names: Vec<_> = keys
        .iter()
        .filter_map(|key| key.split(':').next())
        .collect();
    assert_eq!(names, ["undo/0", "undo/1"]);
}

/// Notes its key; fails in its first attempt, and asks in its second.
#[allow(clippy::ptr_arg)]
async fn note(seen: &String, cx: &Context) -> Result<(), NodeError> {
    let keys = cx.resource::<Mutex<Vec<String>>>()?;
    keys.lock().unwrap().push(cx.idempotency_key("pay"));
    if cx.attempt() == 1 && seen.is_empty() {
        return Err(NodeError::msg("again"));
    }
    Ok(cx.interrupt("sure", "sure?")?)
}

#[tokio::test]
async fn k2_a_key_is_the_same_in_every_attempt_and_in_no_other_task() {
    let keys = Arc::new(Mutex::new(Vec::<String>::new()));
    let take = || std::mem::take(&mut *keys.lock().unwrap());
    let retry = RetryPolicy::attempts(2).retry_on(|_| true).immediately();
    let mut graph = StateGraph::<String>::new();
    graph
        .add_node("first", note.retry(retry))
        .add_node("second", note)
        .add_edge(START, "first")
        .add_edge(START, "second");
    let graph = graph.compile().unwrap().resource(Arc::clone(&keys));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let run = |thread: &'static str| {
        let thread = graph.thread(thread);
        async move {
            thread.run("go".to_owned()).await.unwrap();
            thread.state().await.unwrap().unwrap().id
        }
    };
    let at = run("a").await;
    let mut a = take();
    a.sort();
    assert_eq!(a.len(), 2);
    assert_ne!(a[0], a[1], "two tasks of one superstep");

    // A resume.
    let first = graph.thread("a").state().await.unwrap().unwrap().interrupts[0]
        .id
        .clone();
    graph.thread("a").resume(first, ()).await.unwrap();
    let resumed = take();
    assert_eq!(resumed.len(), 1);
    assert!(a.contains(&resumed[0]), "{resumed:?} of {a:?}");

    // Another thread, a copy of the thread, and the run from the same checkpoint again.
    run("b").await;
    let mut others = take();
    graph.thread("a").copy("c").await.unwrap();
    graph.thread("c").at(at).proceed().await.unwrap();
    others.extend(take());
    graph.thread("a").at(at).proceed().await.unwrap();
    others.extend(take());
    assert_eq!(others.len(), 6);
    let mut all = others.clone();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 6, "{others:?}");
    assert!(
        others.iter().all(|key| !a.contains(key)),
        "{others:?} of {a:?}"
    );

    // Retries, without a thread.
    let mut graph = StateGraph::<String>::new();
    let fails = async |_: &String, cx: &Context| {
        let keys = cx.resource::<Mutex<Vec<String>>>()?;
        keys.lock().unwrap().push(cx.idempotency_key("pay"));
        Err::<(), _>(NodeError::msg("again"))
    };
    let retry = RetryPolicy::attempts(3).retry_on(|_| true).immediately();
    graph
        .add_node("fails", fails.retry(retry))
        .add_sequence(&["fails"]);
    let graph = graph.compile().unwrap().resource(Arc::clone(&keys));
    graph.invoke(String::new()).await.unwrap_err();
    let once = take();
    assert_eq!(once, [once[0].clone(), once[0].clone(), once[0].clone()]);
    graph.invoke(String::new()).await.unwrap_err();
    assert_ne!(take()[0], once[0]);
}

/// Pays the bill.
#[tool]
async fn pay(cx: &ToolContext<'_>) -> Result<String, ToolError> {
    let bank = cx.resource::<Bank>()?;
    let charge = cx.effect("charge").on_unknown(OnUnknown::Fail);
    Ok(charge.run(|key| bank.charge(key)).await?)
}

#[tokio::test(start_paused = true)]
async fn k2_an_unknown_outcome_of_a_tool_is_not_left_to_the_model() {
    let bank = silent(1);
    let model = ScriptedModel::new([Turn::tool_calls(
        ["c1", "c2"].map(|id| ToolCall::new(id, "pay", json!({}))),
    )]);
    let agent = react_agent(model, (pay,)).compile().unwrap();
    let agent = agent
        .resource(Arc::clone(&bank))
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = agent.thread("t");
    let run = thread.run(MessagesStateUpdate::user("Pay!"));
    tokio::time::timeout(Duration::from_secs(5), run)
        .await
        .unwrap_err();
    let keys = bank.keys();
    assert_eq!(keys.len(), 2);
    assert_ne!(keys[0], keys[1], "each call has its own");

    let error = thread.proceed().await.unwrap_err();
    assert!(error.to_string().contains("it is unknown"), "{error}");
    // The other call is done, and stays done.
    assert_eq!(bank.keys().len(), 2);
    let state: MessagesState = thread.state().await.unwrap().unwrap().values;
    assert_eq!(state.messages.len(), 3);
}
