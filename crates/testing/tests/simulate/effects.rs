//! Mistakes with effects: each is found.

use langgraph::node::OnceKey;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_testing::simulate::{Fault, effect, keyed_effect, simulate};

use crate::{at_most, exactly, found};

/// A node that charges 100 cents, in the graph of one node.
fn paying(graph: Result<CompiledStateGraph<u64>, CompilationErrors>, faults: &[Fault]) -> String {
    let result = simulate(&graph.unwrap())
        .seeds(0..10_000)
        .faults(faults.to_vec())
        .invariant(|history| exactly(history, "charge", 1))
        .run();
    found(result, "`charge` happened 2 times").to_string()
}

#[node]
async fn charge(_: &u64) -> u64 {
    effect("charge", 100);
    1
}

#[test]
fn a_payment_without_once_is_made_twice_after_a_crash() {
    let failure = paying(graph! { START => charge => END }.compile(), &[Fault::Crash]);
    assert!(failure.contains("crash: "), "{failure}");
    assert!(
        failure.contains("`charge`: effect `charge` 100"),
        "{failure}"
    );
}

#[test]
fn a_payment_without_once_is_made_twice_after_a_cancelled_run() {
    #[node]
    async fn charge(_: &u64) -> u64 {
        effect("charge", 100);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        1
    }
    let failure = paying(
        graph! { START => charge => END }.compile(),
        &[Fault::Cancel],
    );
    assert!(
        failure.contains("cancelled run: call 1 is dropped"),
        "{failure}"
    );
}

#[test]
fn a_payment_without_once_is_made_twice_when_its_record_is_refused() {
    let failure = paying(graph! { START => charge => END }.compile(), &[Fault::Saver]);
    assert!(
        failure.contains("failing saver: before a write"),
        "{failure}"
    );
}

#[test]
fn a_payment_without_a_key_is_made_twice_by_two_processes() {
    let graph = graph! { START => charge => END }.compile();
    let failure = paying(graph, &[Fault::LostLease]);
    assert!(
        failure.contains("another process takes the thread"),
        "{failure}"
    );
}

#[test]
fn a_payment_with_once_and_without_a_key_is_made_twice_after_a_crash_before_its_record() {
    #[node]
    async fn charge(_: &u64, cx: &Context) -> Result<u64, NodeError> {
        let pay = || {
            effect("charge", 100);
            Ok::<u64, NodeError>(1)
        };
        cx.once_with("charge", pay).await
    }
    paying(graph! { START => charge => END }.compile(), &[Fault::Crash]);
}

#[test]
fn a_key_made_from_the_attempt_is_another_key_after_a_retry() {
    #[node]
    async fn charge(_: &u64, cx: &Context) -> Result<u64, NodeError> {
        keyed_effect("charge", &format!("charge-{}", cx.attempt()), 100);
        if cx.attempt() == 1 {
            return Err(NodeError::msg("the mail server is away"));
        }
        Ok(1)
    }
    let retry = RetryPolicy::attempts(2).retry_on(|_| true);
    let graph = graph! {
        let charge = charge.retry(retry);
        START => charge => END;
    };
    paying(graph.compile(), &[]);
}

#[test]
fn a_payment_in_a_node_that_fails_later_is_repeated_by_its_retry() {
    #[node]
    async fn charge(_: &u64, cx: &Context) -> Result<u64, NodeError> {
        effect("charge", 100);
        cx.model_of_the_day()
    }
    let retry = RetryPolicy::attempts(2).retry_on(|_| true);
    let graph = graph! {
        let charge = charge.retry(retry);
        START => charge => END;
    };
    paying(graph.compile(), &[]);
}

/// A service that fails the first time.
trait Flaky {
    fn model_of_the_day(&self) -> Result<u64, NodeError>;
}

impl Flaky for Context {
    fn model_of_the_day(&self) -> Result<u64, NodeError> {
        if self.attempt() == 1 {
            return Err(NodeError::msg("no answer"));
        }
        Ok(1)
    }
}

#[test]
fn a_payment_before_an_interrupt_is_repeated_by_its_answer() {
    #[node]
    async fn charge(_: &u64, cx: &Context) -> Result<u64, NodeError> {
        effect("charge", 100);
        let sure: bool = cx.interrupt("sure", "Pay?")?;
        Ok(u64::from(sure))
    }
    let failure = paying(graph! { START => charge => END }.compile(), &[]);
    assert!(failure.contains("answer to `sure`: true"), "{failure}");
}

#[test]
fn a_compensation_that_is_not_idempotent_happens_twice() {
    #[node]
    async fn reserve(_: &u64) -> u64 {
        1
    }
    #[node]
    async fn cancel(n: &u64) -> u64 {
        effect("refund", 100);
        *n
    }
    let graph = graph! { START => reserve => cancel => END }
        .compile()
        .unwrap();
    let result = simulate(&graph)
        .seeds(0..10_000)
        .invariant(|history| at_most(history, "refund", 1))
        .run();
    found(result, "`refund` happened 2 times");
}

#[test]
fn a_key_that_all_threads_share_lets_only_one_of_them_pay() {
    #[node]
    async fn charge(_: &u64) -> u64 {
        keyed_effect("charge", "charge", 100);
        1
    }
    let graph = graph! { START => charge => END }.compile().unwrap();
    let result = simulate(&graph)
        .threads(2)
        .seeds(0..10_000)
        .invariant(|history| exactly(history, "charge", 1))
        .run();
    found(result, "`charge` happened 0 times");
}

#[test]
fn a_key_of_once_that_a_loop_repeats_mails_only_the_first() {
    #[node]
    async fn mail(_: &u64, cx: &Context) -> Result<u64, NodeError> {
        for to in ["Ada", "Bob", "Cem"] {
            let key = cx.idempotency_key(OnceKey::new("mail").with(&to)) + to;
            let send = || {
                keyed_effect("mail", &key, to);
                Ok::<_, NodeError>(())
            };
            cx.once_with("mail", send).await?;
        }
        Ok(3)
    }
    let graph = graph! { START => mail => END }.compile().unwrap();
    let result = simulate(&graph)
        .seeds(0..10_000)
        .invariant(|history| exactly(history, "mail", 3))
        .run();
    found(result, "`mail` happened 1 times");
}

#[test]
fn two_branches_that_each_check_the_budget_pass_it_together() {
    #[node]
    async fn research(_: &u64) {}
    #[node]
    async fn search(spent: &u64) {
        if spent + 60 <= 100 {
            effect("spend", 60);
        }
    }
    #[node]
    async fn translate(spent: &u64) {
        if spent + 60 <= 100 {
            effect("spend", 60);
        }
    }
    let graph = graph! { START => research => [search, translate] => END };
    let result = simulate(&graph.compile().unwrap())
        .seeds(0..10_000)
        .faults([])
        .invariant(|history| {
            let spent = history
                .effects("spend")
                .filter_map(|one| one.detail.as_u64());
            match spent.sum::<u64>() {
                0..=100 => Ok(()),
                spent => Err(format!("{spent} of 100 are spent")),
            }
        })
        .run();
    found(result, "120 of 100 are spent");
}

#[test]
fn two_branches_whose_effects_need_an_order_have_none() {
    #[node]
    async fn open(_: &u64) {
        effect("step", "open");
    }
    #[node]
    async fn write(_: &u64) {
        effect("step", "write");
    }
    let graph = graph! { START => [open, write] => END };
    let result = simulate(&graph.compile().unwrap())
        .seeds(0..10_000)
        .faults([])
        .invariant(|history| match history.effects("step").next() {
            Some(first) if first.detail != "open" => Err("`write` was first".to_owned()),
            _ => Ok(()),
        })
        .run();
    found(result, "`write` was first");
}
