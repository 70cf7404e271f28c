//! The options of `#[task]` and `#[entrypoint]`, and what their states are as JSON.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::policy::{CachePolicy, InMemoryCache, NodeCache};
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, Final, entrypoint, task};
use serde_json::json;

#[derive(Debug, Default)]
struct Runs(AtomicUsize);

fn count(cx: &Context) -> Result<(), NodeError> {
    cx.resource::<Runs>()?.0.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

#[task(cache = CachePolicy::input().ttl(Duration::from_secs(60)))]
async fn square(number: i64, cx: &Context) -> Result<i64, NodeError> {
    count(cx)?;
    Ok(number * number)
}

#[entrypoint(cache)]
async fn squares(numbers: Vec<i64>, cx: &Context) -> Result<i64, NodeError> {
    count(cx)?;
    let mut sum = 0;
    for number in numbers {
        sum += square(number).on(cx).await?;
    }
    Ok(sum)
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_a_run_brings_has_the_results_of_tasks_and_entrypoints() {
    let runs = Arc::new(Runs::default());
    let graph = squares.compile().unwrap().resource(Arc::clone(&runs));
    let cache = || -> Arc<dyn NodeCache> { Arc::new(InMemoryCache::new()) };
    let ours = cache();
    let sum = async |numbers: &[i64], cache: &Arc<dyn NodeCache>| {
        let run = graph
            .run(squares(numbers.to_vec()))
            .resource(Arc::clone(cache));
        let output = run.await.unwrap().finished().unwrap().output;
        (output.unwrap(), runs.0.swap(0, Ordering::Relaxed))
    };
    // The entrypoint, and two of three tasks.
    assert_eq!(sum(&[2, 3, 2], &ours).await, (17, 3));
    assert_eq!(sum(&[2, 3, 2], &ours).await, (17, 0));
    assert_eq!(sum(&[3, 4], &ours).await, (25, 2));
    assert_eq!(sum(&[3, 4], &cache()).await, (25, 3));
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(sum(&[4, 3], &ours).await, (25, 3));
}

#[entrypoint(interrupts, name = "asks for a name")]
async fn ask(cx: &Context) -> Result<String, NodeError> {
    Ok(cx.interrupt("name", "who?")?)
}

#[tokio::test]
async fn an_entrypoint_that_may_interrupt_needs_a_checkpointer() {
    let error = ask.compile().unwrap().invoke(ask()).await.unwrap_err();
    let error = error.to_string();
    assert!(error.contains("`asks for a name` may interrupt"), "{error}");
}

#[entrypoint]
async fn two(state: i64, kept: String, cx: &Context, previous: Option<&i64>) -> Final<String, i64> {
    let sum = state + previous.copied().unwrap_or_default();
    Final::new(format!("{} {kept}", cx.node())).save(sum)
}

#[entrypoint]
async fn one(number: Option<i64>, _: &Context) -> Option<i64> {
    number.map(|number| number + 1)
}

#[tokio::test]
async fn a_single_argument_is_written_as_its_value_and_several_by_their_names() {
    let state = two.compile().unwrap().invoke(two(3, "x".to_owned())).await;
    let state = serde_json::to_value(state.unwrap()).unwrap();
    let expected = json!({"input": {"state": 3, "kept": "x"}, "output": "two x", "previous": 3});
    assert_eq!(state, expected);

    for (number, expected) in [
        (Some(1), json!({"input": 1, "output": 2, "previous": null})),
        (
            None,
            json!({"input": null, "output": null, "previous": null}),
        ),
    ] {
        let state = one.compile().unwrap().invoke(one(number)).await.unwrap();
        assert_eq!(serde_json::to_value(state).unwrap(), expected);
    }
}

/// Saves what it does not read.
#[entrypoint]
async fn keep(number: i64, _: &Context) -> Result<Final<(), i64>, NodeError> {
    Ok(Final::new(()).save(number))
}

#[tokio::test]
async fn an_entrypoint_may_save_without_reading() {
    let state = keep.compile().unwrap().invoke(keep(3)).await.unwrap();
    assert_eq!((state.output, state.previous), (None, Some(3)));
}
