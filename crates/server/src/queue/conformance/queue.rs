//! Cases of queues.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use super::{same, succeeds};
use crate::queue::{After, Cancel, Cancelled, Claim, Job, Pushed, RunEnd, RunQueue};

pub(super) const LEASE: Duration = Duration::from_secs(60);

pub(super) async fn push(queue: &impl RunQueue, job: Job) {
    let pushed = succeeds(queue.push(job).await, "push");
    same(&pushed, &Pushed::Queued, "a run is put in the queue");
}

pub(super) async fn claim(queue: &impl RunQueue, worker: &str) -> Option<Claim> {
    succeeds(queue.claim(worker, LEASE, After::START).await, "claim")
}

pub(super) async fn claimed(queue: &impl RunQueue, worker: &str) -> Option<String> {
    claim(queue, worker).await.map(|claim| claim.run)
}

async fn released(queue: &impl RunQueue) -> bool {
    succeeds(queue.release_due().await, "release_due")
}

pub(super) async fn finish(queue: &impl RunQueue, claim: &Claim) -> bool {
    succeeds(
        queue.finish(claim, RunEnd::Status("success"), None).await,
        "finish",
    )
}

pub(super) async fn runs_of_a_thread_run_one_after_another(queue: &impl RunQueue) {
    for run in ["a1", "a2"] {
        push(queue, Job::new(run, "a", "what to do")).await;
    }
    push(queue, Job::new("b1", "b", "")).await;
    let first = claim(queue, "w").await;
    let expected = Claim::new("a1", "a", "what to do").fence(1);
    same(&first, &Some(expected.clone()), "the first run is claimed");
    let open = succeeds(queue.open("a").await, "open");
    same(
        &open,
        &vec!["a1".to_owned(), "a2".to_owned()],
        "both are open",
    );
    let other = claimed(queue, "w").await;
    same(&other, &Some("b1".to_owned()), "another thread is free");
    same(&claimed(queue, "v").await, &None, "the thread is not");
    same(&finish(queue, &expected).await, &true, "the run ends");
    same(&finish(queue, &expected).await, &false, "it ends once");
    let next = claimed(queue, "v").await;
    same(&next, &Some("a2".to_owned()), "the second run comes next");
}

pub(super) async fn a_thread_that_is_busy_can_be_refused(queue: &impl RunQueue) {
    let job = |run: &str| Job::new(run, "a", "").unless_busy();
    same(
        &succeeds(queue.push(job("1")).await, "push"),
        &Pushed::Queued,
        "an idle thread",
    );
    same(
        &succeeds(queue.push(job("2")).await, "push"),
        &Pushed::Busy,
        "one that waits",
    );
    let claim = claim(queue, "w").await;
    same(
        &succeeds(queue.push(job("3")).await, "push"),
        &Pushed::Busy,
        "one that runs",
    );
    if let Some(claim) = claim {
        finish(queue, &claim).await;
    }
    same(
        &succeeds(queue.push(job("4")).await, "push"),
        &Pushed::Queued,
        "one that is idle again",
    );
}

pub(super) async fn a_higher_priority_comes_first(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    push(queue, Job::new("2", "b", "").priority(5)).await;
    push(queue, Job::new("3", "c", "").priority(-5)).await;
    for run in ["2", "1", "3"] {
        same(
            &claimed(queue, "w").await,
            &Some(run.to_owned()),
            "by priority",
        );
    }
}

pub(super) async fn a_delayed_run_waits_for_its_time(queue: &impl RunQueue) {
    let soon = SystemTime::now() + Duration::from_millis(400);
    push(queue, Job::new("1", "a", "").not_before(soon)).await;
    same(&claimed(queue, "w").await, &None, "it is too early");
    let due = succeeds(queue.next_due().await, "next_due");
    assert!(
        due.is_some_and(|due| due <= soon + Duration::from_millis(5)),
        "when it is due"
    );
    // It does not hold up what comes after it, nor make the thread busy.
    let active = succeeds(queue.active("a").await, "active");
    same(&active.len(), &0, "it is not active");
    let open = succeeds(queue.open("a").await, "open");
    same(&open.len(), &1, "it is open");
    push(queue, Job::new("2", "a", "")).await;
    let second = claim(queue, "w").await;
    same(
        &second.as_ref().map(|claim| &*claim.run),
        &Some("2"),
        "another run of the thread",
    );
    if let Some(second) = second {
        finish(queue, &second).await;
    }
    same(&released(queue).await, &false, "nothing is due");
    tokio::time::sleep(Duration::from_millis(600)).await;
    same(&released(queue).await, &true, "its time has come");
    same(&claimed(queue, "w").await, &Some("1".to_owned()), "it runs");
}

pub(super) async fn runs_of_one_key_run_one_after_another(queue: &impl RunQueue) {
    for (run, thread) in [("1", "a"), ("2", "b")] {
        push(queue, Job::new(run, thread, "").concurrency_key("k")).await;
    }
    push(queue, Job::new("3", "c", "").concurrency_key("other")).await;
    let first = claim(queue, "w").await;
    same(
        &first.as_ref().map(|claim| &*claim.run),
        &Some("1"),
        "the first of the key",
    );
    same(
        &claimed(queue, "w").await,
        &Some("3".to_owned()),
        "another key",
    );
    same(&claimed(queue, "w").await, &None, "the key is taken");
    if let Some(first) = first {
        finish(queue, &first).await;
    }
    same(
        &claimed(queue, "w").await,
        &Some("2".to_owned()),
        "the key is free",
    );
}

pub(super) async fn a_run_that_is_given_back_loses_no_attempt(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    let Some(first) = claim(queue, "w").await else {
        return same(&true, &false, "a run is claimed");
    };
    same(
        &succeeds(queue.give_back(&first).await, "give_back"),
        &true,
        "it is given back",
    );
    let second = claim(queue, "v").await;
    let numbers = second.map(|claim| (claim.fence, claim.attempt));
    same(&numbers, &Some((2, 1)), "fence and attempt");
    same(
        &finish(queue, &first).await,
        &false,
        "the first worker has no say",
    );
}

pub(super) async fn a_lost_worker_is_found_and_fenced(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    let short = Duration::from_millis(150);
    let lost = succeeds(queue.claim("lost", short, After::START).await, "claim");
    let reaped = succeeds(queue.reap(3, "reaper", LEASE).await, "reap");
    same(&reaped.queued.len(), &0, "its lease lasts");
    if let Some(lost) = &lost {
        succeeds(queue.renew("lost", short, &[lost]).await, "renew");
    }
    tokio::time::sleep(short * 2).await;
    let reaped = succeeds(queue.reap(3, "reaper", LEASE).await, "reap");
    same(&reaped.queued, &vec!["1".to_owned()], "its lease is over");
    let again = succeeds(queue.reap(3, "reaper", LEASE).await, "reap");
    same(&again.queued.len(), &0, "it is found once");
    let next = claim(queue, "w").await;
    let numbers = next.as_ref().map(|claim| (claim.fence, claim.attempt));
    same(&numbers, &Some((2, 2)), "fence and attempt");
    if let Some(lost) = lost {
        let held = succeeds(queue.renew("lost", LEASE, &[&lost]).await, "renew");
        same(&held.len(), &0, "it holds nothing");
        same(&finish(queue, &lost).await, &false, "it ends nothing");
        let back = succeeds(queue.give_back(&lost).await, "give_back");
        same(&back, &false, "it gives nothing back");
    }
    if let Some(next) = next {
        same(&finish(queue, &next).await, &true, "the new worker does");
    }
}

pub(super) async fn a_lease_that_is_not_renewed_expires_although_its_worker_lives(
    queue: &impl RunQueue,
) {
    push(queue, Job::new("1", "a", "")).await;
    push(queue, Job::new("2", "b", "")).await;
    let short = Duration::from_millis(150);
    let mut claims = Vec::new();
    for _ in 0..2 {
        claims.extend(succeeds(
            queue.claim("w", short, After::START).await,
            "claim",
        ));
    }
    let kept: Vec<_> = claims.iter().filter(|claim| claim.run == "2").collect();
    for _ in 0..6 {
        tokio::time::sleep(short / 3).await;
        let held = succeeds(queue.renew("w", short, &kept).await, "renew");
        same(&held.len(), &1, "the one that is renewed is held");
    }
    let reaped = succeeds(queue.reap(3, "reaper", LEASE).await, "reap");
    same(
        &reaped.queued,
        &vec!["1".to_owned()],
        "the other one is not",
    );
}

pub(super) async fn a_run_whose_storage_failed_comes_again_later(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    if let Some(first) = claim(queue, "w").await {
        let back = succeeds(queue.give_back_failed(&first).await, "give_back_failed");
        same(&back, &true, "it is back");
    }
    same(&claimed(queue, "w").await, &None, "it waits a little");
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    released(queue).await;
    let next = claim(queue, "w").await;
    same(&next.map(|claim| claim.attempt), &Some(2), "the attempt");
}

pub(super) async fn a_run_is_not_attempted_for_ever(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    for attempt in 1..=2 {
        let claim = succeeds(
            queue.claim("lost", Duration::ZERO, After::START).await,
            "claim",
        );
        same(
            &claim.map(|claim| claim.attempt),
            &Some(attempt),
            "the attempt",
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
        let reaped = succeeds(queue.reap(2, "reaper", LEASE).await, "reap");
        same(
            &reaped.failed.len(),
            &usize::from(attempt == 2),
            "the second is the last",
        );
        for failed in &reaped.failed {
            let ended = succeeds(
                queue.finish(failed, RunEnd::Status("error"), None).await,
                "finish",
            );
            same(&ended, &true, "the worker that found it ends it");
        }
    }
    same(&claimed(queue, "w").await, &None, "it has ended");
}

pub(super) async fn a_run_that_waits_is_withdrawn(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    let done = succeeds(queue.cancel("1", Cancel::Interrupt, None).await, "cancel");
    same(&done, &Cancelled::Withdrawn, "it has ended");
    let done = succeeds(queue.cancel("1", Cancel::Interrupt, None).await, "cancel");
    same(&done, &Cancelled::Ended, "it had ended");
    same(&claimed(queue, "w").await, &None, "it does not run");
}

pub(super) async fn the_worker_sees_a_cancellation(queue: &impl RunQueue) {
    push(queue, Job::new("1", "a", "")).await;
    let claim = claim(queue, "w").await;
    let asked = succeeds(queue.cancel("1", Cancel::Rollback, None).await, "cancel");
    same(&asked, &Cancelled::Requested, "its worker is asked");
    let claims: Vec<_> = claim.iter().collect();
    let held = succeeds(queue.renew("w", LEASE, &claims).await, "renew");
    let held: Vec<_> = held.iter().map(|held| (&*held.run, held.cancel)).collect();
    same(
        &held,
        &vec![("1", Some(Cancel::Rollback))],
        "its holder sees it",
    );
    // Also the next one, if the worker is lost.
    if let Some(claim) = claim {
        succeeds(queue.give_back(&claim).await, "give_back");
    }
    let next = succeeds(queue.claim("v", LEASE, After::START).await, "claim");
    let cancel = next.and_then(|claim| claim.cancel);
    same(&cancel, &Some(Cancel::Rollback), "the next holder sees it");
}

pub(super) async fn many_workers_claim_each_run_once(queue: &impl RunQueue) {
    for number in 0..40 {
        push(
            queue,
            Job::new(format!("{number:02}"), format!("t{}", number % 8), ""),
        )
        .await;
    }
    let worker = async |name: &str| {
        let mut runs = Vec::new();
        let mut idle = 0;
        while idle < 50 {
            if let Some(claim) = claim(queue, name).await {
                tokio::task::yield_now().await;
                finish(queue, &claim).await;
                runs.push(claim.run);
                idle = 0;
            } else {
                idle += 1;
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        runs
    };
    let (a, b) = (worker("a"), worker("b"));
    let (mut a, mut b) = (std::pin::pin!(a), std::pin::pin!(b));
    let mut done = (None, None);
    std::future::poll_fn(|cx| {
        use std::task::Poll;
        if done.0.is_none()
            && let Poll::Ready(runs) = a.as_mut().poll(cx)
        {
            done.0 = Some(runs);
        }
        if done.1.is_none()
            && let Poll::Ready(runs) = b.as_mut().poll(cx)
        {
            done.1 = Some(runs);
        }
        match &done {
            (Some(_), Some(_)) => Poll::Ready(()),
            _ => Poll::Pending,
        }
    })
    .await;
    let (a, b) = (done.0.unwrap_or_default(), done.1.unwrap_or_default());
    let all: BTreeSet<&String> = a.iter().chain(&b).collect();
    same(
        &(a.len() + b.len(), all.len()),
        &(40, 40),
        "each run is claimed once",
    );
}
