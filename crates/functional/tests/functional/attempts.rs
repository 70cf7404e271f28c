//! Further attempts of an entrypoint, which find the results of the tasks that have ended before.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, entrypoint, task};

/// How often tasks have run.
#[derive(Debug, Default)]
struct Runs(AtomicUsize);

fn count(cx: &Context) -> Result<usize, NodeError> {
    Ok(cx.resource::<Runs>()?.0.fetch_add(1, Ordering::SeqCst) + 1)
}

fn retries() -> RetryPolicy {
    RetryPolicy::attempts(3).retry_on(|_| true).immediately()
}

#[task]
async fn square(number: u64, cx: &Context) -> Result<u64, NodeError> {
    count(cx)?;
    Ok(number * number)
}

/// Fails after the first of its own tasks when it is called for the first time.
#[task]
async fn sum_of_squares(cx: &Context) -> Result<u64, NodeError> {
    let first = square(2).on(cx).await?;
    if count(cx)? == 3 {
        return Err(NodeError::msg("away"));
    }
    Ok(first + square(3).on(cx).await?)
}

#[entrypoint(retry = retries())]
async fn sums(cx: &Context) -> Result<u64, NodeError> {
    let one = square(1).on(cx).await?;
    let sum = sum_of_squares().on(cx).await?;
    if cx.attempt() == 2 {
        return Err(NodeError::msg("away"));
    }
    let keyed = square(4).key("four").on(cx).await?;
    Ok(one + sum + keyed)
}

#[tokio::test]
async fn another_attempt_finds_the_results_of_tasks_with_and_without_a_thread() {
    for has_thread in [false, true] {
        let runs = Arc::new(Runs::default());
        let mut graph = sums.compile().unwrap().resource(Arc::clone(&runs));
        let output = if has_thread {
            graph = graph.checkpointer(Arc::new(MemorySaver::new()));
            let done = graph.thread("t").run(sums()).await.unwrap();
            done.finished().unwrap().output
        } else {
            graph.invoke(sums()).await.unwrap().output
        };
        assert_eq!(output, Some(1 + 4 + 9 + 16));
        // Four squares, and the sum that failed once.
        assert_eq!(runs.0.load(Ordering::SeqCst), 6, "{has_thread}");
    }
}

#[entrypoint(retry = retries())]
async fn wanders(cx: &Context) -> Result<u64, NodeError> {
    let square = square(u64::from(cx.attempt())).on(cx).await?;
    if cx.attempt() == 1 {
        return Err(NodeError::msg("away"));
    }
    Ok(square)
}

#[tokio::test]
async fn another_attempt_that_takes_another_course_is_an_error_without_a_thread() {
    let graph = wanders.compile().unwrap();
    let graph = graph.resource(Arc::new(Runs::default()));
    let error = graph.invoke(wanders()).await.unwrap_err().to_string();
    assert!(error.contains("has changed its course"), "{error}");
}

/// JSON has no keys that are pairs.
#[task]
async fn pairs(cx: &Context) -> Result<BTreeMap<(u8, u8), u8>, NodeError> {
    count(cx)?;
    Ok(BTreeMap::from([((1, 2), 3)]))
}

#[entrypoint(retry = retries())]
async fn of_pairs(cx: &Context) -> Result<usize, NodeError> {
    let pairs = pairs().on(cx).await?;
    if cx.attempt() == 1 {
        return Err(NodeError::msg("away"));
    }
    Ok(pairs.len())
}

#[tokio::test]
async fn a_result_that_json_cannot_express_is_computed_again() {
    let runs = Arc::new(Runs::default());
    let graph = of_pairs.compile().unwrap().resource(Arc::clone(&runs));
    assert_eq!(graph.invoke(of_pairs()).await.unwrap().output, Some(1));
    assert_eq!(runs.0.load(Ordering::SeqCst), 2);
}

#[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Sum {
    total: u64,
}

/// A graph whose first node squares the number of its run, and whose second one fails at first.
fn numbers() -> CompiledStateGraph<Sum> {
    let mut graph = StateGraph::<Sum>::new();
    let square_next = async |_: &Sum, cx: &Context| {
        let next = u64::try_from(count(cx)?).map_err(NodeError::from)?;
        Ok::<_, NodeError>(SumUpdate::default().total(square(next).on(cx).await?))
    };
    let fails = |_: &Sum, cx: &Context| match cx.resource::<Runs>()?.0.load(Ordering::SeqCst) {
        ..=2 => Err(NodeError::msg("away")),
        _ => Ok(()),
    };
    graph
        .add_node("square_next", square_next)
        .add_node("fails", fails);
    graph.add_sequence(&["square_next", "fails"]);
    graph.compile().unwrap()
}

async fn calls(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
    let sum = cx.run(cx.resource::<CompiledStateGraph<Sum>>()?, Sum::default());
    Ok(SumUpdate::default().total(sum.await?.total))
}

#[tokio::test]
async fn a_graph_that_another_attempt_runs_again_may_take_another_course() {
    let mut graph = StateGraph::<Sum>::new();
    graph.add_node("calls", calls.retry(retries()));
    graph.add_sequence(&["calls"]);
    let graph = graph.compile().unwrap().resource(Arc::new(numbers()));
    let graph = graph.resource(Arc::new(Runs::default()));
    // The task has counted, too.
    assert_eq!(graph.invoke(Sum::default()).await.unwrap().total, 9);
}
