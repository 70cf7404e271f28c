//! Cases of logs of events.

use std::time::{Duration, SystemTime};

use super::queue::{claim, push};
use super::{same, succeeds};
use crate::queue::{
    After, Cancel, Cancelled, Claim, EventLog, Job, LoggedEvent, RunEnd, RunQueue, Signal,
};

fn event(number: i64) -> LoggedEvent {
    LoggedEvent {
        number,
        made: 1_000 + number,
        mode: "values".to_owned(),
        event: "values|inner:1".to_owned(),
        data: format!("{{\"n\":{number},\"odd\":\"\\u0000 ' \\\\ \u{1F600}\"}}"),
    }
}

async fn started(queue: &(impl RunQueue + EventLog)) -> Claim {
    let pushed = queue.push(Job::new("1", "a", "")).await;
    succeeds(pushed, "push");
    let claim = queue
        .claim("w", Duration::from_secs(60), After::START)
        .await;
    succeeds(claim, "claim").unwrap_or_else(|| Claim::new("none", "", ""))
}

pub(super) async fn events_come_back_in_order(queue: &(impl RunQueue + EventLog)) {
    let claim = started(queue).await;
    for events in [vec![event(0), event(1)], vec![event(2)], Vec::new()] {
        let added = succeeds(queue.append(&claim, &events).await, "append");
        same(&added, &true, "events are added");
    }
    let all = succeeds(queue.read("1", -1, 10).await, "read");
    same(&all, &vec![event(0), event(1), event(2)], "all of them");
    let part = succeeds(queue.read("1", 0, 1).await, "read");
    same(&part, &vec![event(1)], "the one behind the first");
    let none = succeeds(queue.read("2", -1, 10).await, "read");
    same(&none, &Vec::new(), "another run has none");
}

pub(super) async fn a_lost_worker_adds_no_events(queue: &(impl RunQueue + EventLog)) {
    let claim = started(queue).await;
    succeeds(queue.append(&claim, &[event(0)]).await, "append");
    succeeds(queue.give_back(&claim).await, "give_back");
    let added = succeeds(queue.append(&claim, &[event(1)]).await, "append");
    same(&added, &false, "nobody has the run");
    let next = succeeds(
        queue
            .claim("v", Duration::from_secs(60), After::START)
            .await,
        "claim",
    );
    let added = succeeds(queue.append(&claim, &[event(1)]).await, "append");
    same(&added, &false, "another one has the run");
    if let Some(next) = next {
        let added = succeeds(queue.append(&next, &[event(1)]).await, "append");
        same(&added, &true, "and adds events");
    }
    let all = succeeds(queue.read("1", -1, 10).await, "read");
    same(&all.len(), &2, "two events");
}

pub(super) async fn events_are_forgotten(queue: &(impl RunQueue + EventLog)) {
    let claim = started(queue).await;
    succeeds(queue.append(&claim, &[event(0)]).await, "append");
    succeeds(queue.forget(SystemTime::now()).await, "forget");
    let kept = succeeds(queue.read("1", -1, 10).await, "read");
    same(&kept.len(), &1, "those of a run that is under way stay");
    succeeds(
        queue.finish(&claim, RunEnd::Status("success"), None).await,
        "finish",
    );
    succeeds(queue.forget(SystemTime::UNIX_EPOCH).await, "forget");
    let kept = succeeds(queue.read("1", -1, 10).await, "read");
    same(&kept.len(), &1, "those that are younger stay");
    succeeds(queue.forget(SystemTime::now()).await, "forget");
    let kept = succeeds(queue.read("1", -1, 10).await, "read");
    same(&kept.len(), &0, "the others go");
}

pub(super) async fn a_run_that_is_removed_leaves_nothing<Q>(queue: &Q)
where
    Q: RunQueue + EventLog,
{
    for run in ["1", "2", "3"] {
        push(queue, Job::new(run, "a", "").concurrency_key("k")).await;
    }
    let mut signals = queue.signals();
    if let Some(first) = claim(queue, "w").await {
        succeeds(queue.append(&first, &[event(0)]).await, "append");
        let ended = queue.finish(&first, RunEnd::Removed, None).await;
        same(&succeeds(ended, "finish"), &true, "it ends");
    }
    while let Some(signal) = signals.next().await {
        if matches!(signal, Signal::Ended { .. }) {
            break;
        }
    }
    let last = succeeds(queue.last("1").await, "last");
    same(&last, &None, "its events are gone at its end");
    // One that waits, and not one that has ended.
    let done = succeeds(queue.cancel("2", Cancel::Rollback, None).await, "cancel");
    same(&done, &Cancelled::Withdrawn, "it waited");
    let Some(third) = claim(queue, "w").await else {
        return same(&true, &false, "the key is free");
    };
    same(&&*third.run, &"3", "the key is free");
    succeeds(queue.append(&third, &[event(0)]).await, "append");
    let ended = queue
        .finish(&third, RunEnd::Status("interrupted"), None)
        .await;
    same(&succeeds(ended, "finish"), &true, "it ends");
    let done = succeeds(queue.cancel("3", Cancel::Rollback, None).await, "cancel");
    same(&done, &Cancelled::Ended, "it had ended");
    let last = succeeds(queue.last("3").await, "last");
    same(&last.is_some(), &true, "it stays");
    // The ids of those that were removed are free.
    push(queue, Job::new("1", "a", "")).await;
    push(queue, Job::new("2", "a", "")).await;
}

pub(super) async fn signals_arrive(queue: &(impl RunQueue + EventLog)) {
    let mut signals = queue.signals();
    let claim = started(queue).await;
    succeeds(queue.append(&claim, &[event(0)]).await, "append");
    succeeds(
        queue.finish(&claim, RunEnd::Status("success"), None).await,
        "finish",
    );
    let (run, thread) = ("1".to_owned(), "a".to_owned());
    let events = Signal::Events {
        run: run.clone(),
        thread: thread.clone(),
    };
    for expected in [Signal::Queued, events, Signal::Ended { run, thread }] {
        loop {
            let next = tokio::time::timeout(Duration::from_secs(5), signals.next()).await;
            match next {
                Ok(Some(signal)) if signal == expected => break,
                Ok(Some(_)) => {}
                _ => return same(&format!("{expected:?}"), &String::new(), "a signal arrives"),
            }
        }
    }
}
