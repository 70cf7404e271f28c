//! The time limits of a node. Nothing here depends on the state, so it is compiled once.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::task::coop::unconstrained;
use tokio::time::{sleep, sleep_until};

use crate::error::{NoRuntime, NodeError, NodeTimeout, TimeoutKind};
use crate::node::{Context, Heartbeat};

/// What goes off when a node has exceeded one of its limits.
type Alarm = Pin<Box<dyn Future<Output = NodeTimeout> + Send>>;

/// Sets the alarm of a node that starts now, if it has a limit.
///
/// # Errors
///
/// If there is no runtime, which has the timers.
pub(super) fn alarm(
    run: Option<Duration>,
    idle: Option<Duration>,
    cx: &Context,
) -> Result<Option<Alarm>, NodeError> {
    let Some(limit) = run.or(idle) else {
        return Ok(None);
    };
    NoRuntime::handle(|| format!("a time limit of {limit:?}"))?;
    let idle = idle.map(|limit| (limit, Arc::clone(cx.heartbeats())));
    // Unconstrained, so that a node that always exhausts its budget cannot starve the alarm.
    Ok(Some(Box::pin(unconstrained(exceeded(run, idle)))))
}

async fn exceeded(run: Option<Duration>, idle: Option<(Duration, Arc<Heartbeat>)>) -> NodeTimeout {
    let mut idle = pin!(idles(idle));
    let mut run = pin!(runs(run));
    poll_fn(|cx| match idle.as_mut().poll(cx) {
        Poll::Pending => run.as_mut().poll(cx),
        exceeded @ Poll::Ready(_) => exceeded,
    })
    .await
}

async fn runs(limit: Option<Duration>) -> NodeTimeout {
    let Some(limit) = limit else {
        return pending().await;
    };
    sleep(limit).await;
    NodeTimeout::new(TimeoutKind::Run, limit)
}

async fn idles(limit: Option<(Duration, Arc<Heartbeat>)>) -> NodeTimeout {
    let Some((limit, heartbeat)) = limit else {
        return pending().await;
    };
    let mut past = None;
    // A limit beyond the end of the clock is never due.
    while let Some(due) = heartbeat.due(limit) {
        if past >= Some(due) {
            return NodeTimeout::new(TimeoutKind::Idle, limit);
        }
        sleep_until(due).await;
        past = Some(due);
    }
    pending().await
}

/// Waits between two attempts.
pub(super) fn pause(wait: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(sleep(wait))
}
