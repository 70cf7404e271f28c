//! What `graph!` writes, compiled and run.

use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::prelude::*;
use langgraph::state::PlainUpdate;

fn inc(n: &i64) -> i64 {
    n + 1
}

fn double(n: &i64) -> i64 {
    n * 2
}

async fn slow(n: &i64) -> i64 {
    tokio::task::yield_now().await;
    n + 100
}

enum Size {
    Small,
    Big(i64),
}

fn size(n: &i64) -> Size {
    if *n < 10 { Size::Small } else { Size::Big(*n) }
}

async fn size_async(n: &i64, cx: &Context) -> Result<Size, NodeError> {
    let _ = cx.step();
    Ok(size(n))
}

#[tokio::test]
async fn a_chain_runs() {
    let graph = graph! {
        type State = i64;
        START => inc => double => END;
    };
    assert_eq!(graph.compile().unwrap().invoke(20).await.unwrap(), 42);
}

#[tokio::test]
async fn a_state_is_inferred() {
    let graph = graph! { START => inc => double => END };
    assert_eq!(graph.compile().unwrap().invoke(20).await.unwrap(), 42);
}

#[tokio::test]
async fn a_match_routes() {
    let graph = graph! {
        type State = i64;
        START => inc => match size {
            Size::Small => double => inc,
            Size::Big(n) if n > 1_000 => END,
            Size::Big(_) => slow => END,
        };
    };
    assert_eq!(graph.compile().unwrap().invoke(3).await.unwrap(), 119);
}

#[tokio::test]
async fn an_async_router_that_can_fail_routes() {
    let graph = graph! {
        START => inc => match size_async {
            Size::Small => double => inc,
            Size::Big(_) => END,
        };
    };
    assert_eq!(graph.compile().unwrap().invoke(3).await.unwrap(), 19);
}

#[tokio::test]
async fn an_if_routes() {
    let even = |n: &i64| n % 2 == 0;
    let graph = graph! {
        START => if even { double => END } else { inc => END };
    };
    let graph = graph.compile().unwrap();
    assert_eq!(graph.invoke(3).await.unwrap(), 4);
    assert_eq!(graph.invoke(4).await.unwrap(), 8);
}

#[tokio::test]
async fn an_else_if_asks_the_next_router_only_if_none_has_decided() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    async fn odd(n: &i64) -> Result<bool, NodeError> {
        tokio::task::yield_now().await;
        ASKED.fetch_add(1, Ordering::Relaxed);
        if *n == 13 {
            return Err(NodeError::msg("unlucky"));
        }
        Ok(n % 2 == 1)
    }
    fn third(n: &i64, _: &Context) -> Option<i64> {
        ASKED.fetch_add(100, Ordering::Relaxed);
        (n % 3 == 0).then_some(n / 3)
    }
    let (large, negative) = (|n: &i64| *n > 99, |n: &i64| *n < 0);
    let graph = graph! {
        START => if large {
            END
        } else if odd {
            inc => END
        } else if let Some(2 | 4) = third {
            [double, slow]
        } else if negative {
            slow => inc
        } else {
            double => END
        };
    };
    let labels = graph.topology().branches[0].arms.as_ref().unwrap();
    let labels: Vec<&str> = labels.iter().map(|arm| &*arm.label).collect();
    assert_eq!(labels, ["large", "odd", "Some(2 | 4)", "negative", "else"]);
    let graph = graph.compile().unwrap();
    for (input, output, asked) in [
        (100, 100, 0),
        (7, 8, 1),
        (8, 16, 101),
        (-6, slow(&-6).await + 1, 101),
    ] {
        ASKED.store(0, Ordering::Relaxed);
        assert_eq!(graph.invoke(input).await.unwrap(), output, "{input}");
        assert_eq!(ASKED.load(Ordering::Relaxed), asked, "{input}");
    }
    // Both of the group are started, and so both write the state.
    let error = graph.invoke(6).await.unwrap_err().to_string();
    assert!(
        error.contains("double") && error.contains("slow"),
        "{error}"
    );
    let error = graph.invoke(13).await.unwrap_err();
    assert!(error.to_string().contains("unlucky"), "{error}");
}

type Sum = Plain<Vec<i64>>;

#[tokio::test]
async fn a_for_maps() {
    async fn plan(_: &Sum) -> PlainUpdate<Vec<i64>> {
        PlainUpdate(Some(vec![7]))
    }
    fn topics(sum: &Sum) -> Vec<i64> {
        sum.0.clone()
    }
    async fn square(n: i64, _: &Sum) -> PlainUpdate<Vec<i64>> {
        PlainUpdate(Some(vec![n * n]))
    }
    let graph = graph! {
        type State = Sum;
        START => plan => for topic in topics { square(topic) } => END;
    };
    let state = graph
        .compile()
        .unwrap()
        .invoke(Plain(vec![]))
        .await
        .unwrap();
    assert_eq!(state.0, [49]);
}
