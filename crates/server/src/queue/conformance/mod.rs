//! What every queue and every log has to do.

mod events;
mod order;
mod queue;

use std::fmt::Debug;
use std::future::Future;

use crate::queue::{EventLog, QueueError, RunQueue};

/// Runs all cases, each with a database of its own.
///
/// # Panics
///
/// If a case fails: it names the case.
pub(crate) async fn run<Q, F>(mut make: impl FnMut() -> F)
where
    Q: RunQueue + EventLog,
    F: Future<Output = Result<Q, QueueError>>,
{
    macro_rules! cases {
        ($($case:path),* $(,)?) => {$(
            let queue = succeeds(make().await, "a new queue");
            $case(&queue).await;
        )*};
    }
    cases!(
        queue::runs_of_a_thread_run_one_after_another,
        queue::a_thread_that_is_busy_can_be_refused,
        queue::a_higher_priority_comes_first,
        order::the_priority_orders_the_runs_of_a_thread,
        order::owners_take_turns_whatever_their_priorities_are,
        order::an_owner_has_so_many_runs_that_wait,
        order::a_request_that_comes_again_is_known,
        order::a_key_goes_to_the_next_run_whatever_frees_it,
        queue::a_delayed_run_waits_for_its_time,
        queue::runs_of_one_key_run_one_after_another,
        queue::a_run_that_is_given_back_loses_no_attempt,
        queue::a_lost_worker_is_found_and_fenced,
        queue::a_lease_that_is_not_renewed_expires_although_its_worker_lives,
        queue::a_run_whose_storage_failed_comes_again_later,
        queue::a_run_is_not_attempted_for_ever,
        queue::a_run_that_waits_is_withdrawn,
        queue::the_worker_sees_a_cancellation,
        queue::many_workers_claim_each_run_once,
        events::events_come_back_in_order,
        events::a_lost_worker_adds_no_events,
        events::events_are_forgotten,
        events::signals_arrive,
        events::a_run_that_is_removed_leaves_nothing,
    );
}

#[allow(clippy::panic)] // how a suite fails
fn succeeds<T>(result: Result<T, QueueError>, what: &str) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error}"),
    }
}

fn same<T: PartialEq + Debug>(found: &T, expected: &T, what: &str) {
    assert_eq!(found, expected, "{what}");
}
