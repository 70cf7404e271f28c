//! Budgets travel: an agent spends what its requester has left, and the requester pays.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::Usage;
use langgraph::prelude::*;
use langgraph_agent::{
    Amounts, Budget, BudgetItem, ChatModelExt, Price, Prices, ScriptedModel, Turn,
};
use langgraph_remote::{ErrorCode, LocalNetwork, RemoteError, Transport, serve};

use super::asking;

const LONG: Duration = Duration::from_secs(20);

/// Calls its model as often as the request says, and may then fail, ask, or wait for ever. Each call has 60
/// tokens of input and 40 of output.
#[allow(clippy::ptr_arg)] // the state is a `String`
#[node]
pub(super) async fn spend(text: &String, cx: &Context) -> Result<String, NodeError> {
    let mut words = text.split(' ').skip(1);
    let calls: usize = words.next().unwrap_or_default().parse()?;
    for _ in 0..calls {
        let answer = Turn::text("x").with_usage(Usage::new(60, 40));
        let model = ScriptedModel::new([answer]).named("small");
        model.invoke(&[Message::user("hi")], cx).await?;
    }
    match words.next() {
        Some("fail") => Err(NodeError::msg("no paper left")),
        Some("ask") => Ok(cx.interrupt("more", "more?")?),
        Some("wait") => std::future::pending().await,
        _ => Ok(format!("spent {calls}")),
    }
}

/// A million tokens of the agent's model cost a thousand.
pub(super) fn prices() -> Prices {
    Prices::new().model("small", Price::per_million(1_000.0, 1_000.0))
}

fn budget() -> Budget {
    Budget::by(|_| "ada".to_owned())
}

async fn spent(budget: &Budget) -> Amounts {
    let account = budget.account("ada").await.unwrap();
    account.spent.with(BudgetItem::Time, 0)
}

fn calls(calls: u64, micros: u64) -> Amounts {
    Amounts::default()
        .with(BudgetItem::ModelCalls, calls)
        .with(BudgetItem::Tokens, 100 * calls)
        .with(BudgetItem::Money, micros)
}

#[track_caller]
fn refusal(error: &AgentError) -> (&ErrorCode, &str) {
    let AgentError::Remote { source, .. } = error else {
        panic!("{error:?}");
    };
    match source.downcast_ref() {
        Some(RemoteError::Refused { code, message }) => (code, message),
        _ => panic!("{source:?}"),
    }
}

/// The agent of `transport` pays from the budget of who asks.
pub(super) async fn hold(transport: &Arc<dyn Transport>) {
    pays(transport).await;
    asks(transport).await;
    passes_on(transport).await;
    gives_up(transport).await;
    let graph = asking("worker", transport, LONG);
    assert_eq!(graph.invoke("spend 2".to_owned()).await.unwrap(), "spent 2");
}

async fn pays(transport: &Arc<dyn Transport>) {
    let budget = Arc::new(budget().model_calls(5).money(10.0, Prices::new()));
    let graph = asking("worker", transport, LONG).resource(Arc::clone(&budget));
    assert_eq!(graph.invoke("spend 2".to_owned()).await.unwrap(), "spent 2");
    assert_eq!(spent(&budget).await, calls(2, 200_000));

    let error = graph.invoke("spend 1 fail".to_owned()).await.unwrap_err();
    assert_eq!(refusal(&error).0, &ErrorCode::Failed);
    assert_eq!(spent(&budget).await, calls(3, 300_000));

    // Two calls are left: the third is refused at the agent, and is not made.
    let error = graph.invoke("spend 3".to_owned()).await.unwrap_err();
    let (code, message) = refusal(&error);
    assert_eq!(code, &ErrorCode::BudgetExceeded, "{message}");
    let expected = "the budget of model calls of the requester `";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("the limit is 2, 2 are spent"), "{message}");
    assert_eq!(spent(&budget).await, calls(5, 500_000));
    let error = graph.invoke("spend 1".to_owned()).await.unwrap_err();
    assert_eq!(refusal(&error).0, &ErrorCode::BudgetExceeded);
    assert_eq!(spent(&budget).await, calls(5, 500_000));

    budget
        .allow_more("ada", BudgetItem::ModelCalls, 1)
        .await
        .unwrap();
    assert_eq!(graph.invoke("spend 1".to_owned()).await.unwrap(), "spent 1");
    assert_eq!(spent(&budget).await, calls(6, 600_000));
}

/// A run that pauses has spent what it has spent, and its answers are another request.
async fn asks(transport: &Arc<dyn Transport>) {
    let budget = Arc::new(budget());
    let graph = asking("worker", transport, LONG).resource(Arc::clone(&budget));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let run = graph.run("spend 1 ask".to_owned()).thread("spends");
    assert_eq!(run.await.unwrap().interrupts()[0].payload, "more?");
    assert_eq!(spent(&budget).await, calls(1, 100_000));
    // The agent's node runs again from its start.
    let outcome = graph.thread("spends").answer("enough").await.unwrap();
    assert_eq!(outcome.finished().unwrap(), "enough");
    assert_eq!(spent(&budget).await, calls(2, 200_000));
}

/// Assistant, middle and worker: each has a budget, and each pays.
async fn passes_on(transport: &Arc<dyn Transport>) {
    let middles = Arc::new(Budget::by(|_| "ada".to_owned()).tokens(100_000));
    let middle = asking("worker", transport, LONG).resource(Arc::clone(&middles));
    let network = LocalNetwork::new();
    network.register("middle", serve(middle, |text: String| text, |state| state));
    let network: Arc<dyn Transport> = Arc::new(network);

    let budget = Arc::new(budget().model_calls(3));
    let graph = asking("middle", &network, LONG).resource(Arc::clone(&budget));
    assert_eq!(graph.invoke("spend 2".to_owned()).await.unwrap(), "spent 2");
    let error = graph.invoke("spend 2".to_owned()).await.unwrap_err();
    assert_eq!(refusal(&error).0, &ErrorCode::BudgetExceeded);
    assert_eq!(spent(&budget).await, calls(3, 300_000));
    assert_eq!(spent(&middles).await, calls(3, 300_000));
}

/// A request that is given up is charged with what its parts have said until then. The agent streams, so
/// the chunk of each call says what the calls before it have spent.
async fn gives_up(transport: &Arc<dyn Transport>) {
    let budget = Arc::new(budget());
    let limit = Duration::from_millis(300);
    let graph = asking("worker", transport, limit).resource(Arc::clone(&budget));
    let error = graph.invoke("spend 3 wait".to_owned()).await.unwrap_err();
    assert!(
        error.to_string().contains("no complete reply within"),
        "{error}"
    );
    let known = spent(&budget).await;
    assert!(
        known == calls(2, 200_000) || known == calls(3, 300_000),
        "{known:?}"
    );
}
