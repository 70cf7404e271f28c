//! Cases of the order in which runs are claimed.

use super::queue::{LEASE, claim, claimed, finish, push};
use super::{same, succeeds};
use crate::queue::{After, Cancel, Job, Pushed, RunQueue};

pub(super) async fn the_priority_orders_the_runs_of_a_thread(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    let first = claim(queue, "w").await;
    push(queue, Job::new("2", "a", "")).await;
    push(queue, Job::new("3", "a", "").priority(10)).await;
    push(queue, Job::new("4", "a", "").priority(10)).await;
    push(queue, Job::new("5", "a", "").priority(-1)).await;
    same(&claimed(queue, "w").await, &None, "the first one runs");
    let mut running = first;
    for next in ["3", "4", "2", "5"] {
        if let Some(running) = &running {
            finish(queue, running).await;
        }
        running = claim(queue, "w").await;
        let found = running.as_ref().map(|claim| claim.run.as_str());
        same(&found, &Some(next), "by priority, then in order");
    }
}

pub(super) async fn owners_take_turns_whatever_their_priorities_are(queue: &impl RunQueue) {
    for number in 0..3 {
        let job = Job::new(format!("a{number}"), format!("ta{number}"), "");
        push(queue, job.owner("ada").priority(i64::MAX / 2)).await;
        let job = Job::new(format!("b{number}"), format!("tb{number}"), "");
        push(queue, job.owner("ben")).await;
    }
    let mut last = String::new();
    for expected in ["a0", "b0", "a1", "b1"] {
        let after = After {
            owner: &last,
            full: &[],
        };
        let next = succeeds(queue.claim("w", LEASE, after).await, "claim");
        let run = next.as_ref().map(|claim| claim.run.as_str());
        same(&run, &Some(expected), "the next owner");
        last = next.map(|claim| claim.owner).unwrap_or_default();
    }
    let full = ["ada".to_owned()];
    for expected in [Some("b2"), None] {
        let after = After {
            owner: "ben",
            full: &full,
        };
        let next = succeeds(queue.claim("w", LEASE, after).await, "claim");
        let run = next.as_ref().map(|claim| claim.run.as_str());
        same(&run, &expected, "one that has all it may have is left out");
    }
}

pub(super) async fn an_owner_has_so_many_runs_that_wait(queue: &impl RunQueue) {
    for (run, expected) in [
        ("1", Pushed::Queued),
        ("2", Pushed::Queued),
        ("3", Pushed::TooMany),
    ] {
        let job = Job::new(run, run, "").owner("ada").most_waiting(2);
        same(&succeeds(queue.push(job).await, "push"), &expected, run);
    }
    let job = Job::new("4", "4", "").owner("ben").most_waiting(2);
    same(
        &succeeds(queue.push(job).await, "push"),
        &Pushed::Queued,
        "another owner",
    );
}

pub(super) async fn a_request_that_comes_again_is_known(queue: &impl RunQueue) {
    let job = |run: &str| Job::new(run, run, "").owner("ada").request("key", "digest");
    let pushed = succeeds(queue.push(job("1")).await, "push");
    same(&pushed, &Pushed::Queued, "the first one");
    let pushed = succeeds(queue.push(job("2")).await, "push");
    same(&pushed, &Pushed::Known, "the same request");
    let pushed = succeeds(queue.push(job("3").owner("ben")).await, "push");
    same(&pushed, &Pushed::Queued, "the name of another owner");
    let pushed = succeeds(queue.push(Job::new("1", "t", "")).await, "push");
    same(&pushed, &Pushed::Known, "the same id");
    let busy = job("4").request("other", "").unless_busy();
    let busy = Job {
        thread: "1".to_owned(),
        ..busy
    };
    let pushed = succeeds(queue.push(busy.clone()).await, "push");
    same(&pushed, &Pushed::Busy, "a thread that is busy");
    succeeds(queue.cancel("1", Cancel::Interrupt, None).await, "cancel");
    let pushed = succeeds(queue.push(busy).await, "push");
    same(&pushed, &Pushed::Queued, "what was refused may come again");
}

pub(super) async fn a_key_goes_to_the_next_run_whatever_frees_it(queue: &impl RunQueue) {
    for (run, priority) in [("1", 0), ("2", 0), ("3", 5)] {
        let job = Job::new(run, run, "").concurrency_key("k");
        push(queue, job.priority(priority)).await;
    }
    let first = claim(queue, "w").await;
    same(
        &first.as_ref().map(|claim| &*claim.run),
        &Some("1"),
        "the first came when the key was free",
    );
    if let Some(first) = first {
        succeeds(queue.give_back_failed(&first).await, "give_back_failed");
    }
    let second = claim(queue, "w").await;
    same(
        &second.as_ref().map(|claim| &*claim.run),
        &Some("3"),
        "the key is free while the first waits",
    );
    // A run of more weight takes the place of one that was ready.
    push(queue, Job::new("4", "2", "").priority(9)).await;
    same(&claimed(queue, "w").await, &Some("4".to_owned()), "no key");
    if let Some(second) = second {
        finish(queue, &second).await;
    }
    same(&claimed(queue, "w").await, &None, "the thread is busy");
}
