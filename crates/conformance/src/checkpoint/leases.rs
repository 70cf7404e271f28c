//! Leases of threads.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::sleep;

use super::log::Log;
use super::{Savers, administration, leases};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{Checkpointer, StorageUsage, ThreadFilter};

crate::case::cases! {
    Savers:
    a_lease_keeps_others_out,
    a_lease_that_is_not_renewed_expires,
    a_renewed_lease_lasts,
    only_its_holder_renews_a_lease,
    a_lease_of_any_length_is_held,
    a_lease_that_has_expired_cannot_be_kept_from_others,
    only_the_holder_gives_a_thread_back,
    leases_of_threads_are_independent,
    a_lease_is_no_thread,
    one_of_many_gets_the_lease,
}

/// Longer than any case takes.
const LONG: Duration = Duration::from_secs(300);
const SHORT: Duration = Duration::from_millis(60);
const BEHIND_SHORT: Duration = Duration::from_millis(120);

async fn a_lease_keeps_others_out(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    holds(
        "the first gets it",
        leases(&saver)?.lease("t", "a", LONG).await?.is_none(),
    )?;
    holds(
        "another does not",
        leases(&saver)?.lease("t", "b", LONG).await?.is_some(),
    )?;
    let held = leases(&saver)?.lease("t", "b", LONG).await?;
    let held = held.ok_or_else(|| Problem::Wrong("the thread has no holder".to_owned()))?;
    same("who holds it", held.holder, "a".to_owned())?;
    let until = SystemTime::now() + LONG;
    let apart = until.duration_since(held.until).unwrap_or_default();
    holds(
        "until when",
        held.until <= until && apart < Duration::from_secs(60),
    )?;
    holds(
        "not even for no time",
        leases(&saver)?
            .lease("t", "b", Duration::ZERO)
            .await?
            .is_some(),
    )?;
    leases(&saver)?.release("t", "a").await?;
    holds(
        "once it is given back",
        leases(&saver)?.lease("t", "b", LONG).await?.is_none(),
    )?;
    holds(
        "now the first does not",
        leases(&saver)?.lease("t", "a", LONG).await?.is_some(),
    )
}

async fn a_lease_that_is_not_renewed_expires(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    holds(
        "the first gets it",
        leases(&saver)?.lease("t", "a", SHORT).await?.is_none(),
    )?;
    sleep(BEHIND_SHORT).await;
    holds(
        "then it is free",
        leases(&saver)?.lease("t", "b", LONG).await?.is_none(),
    )
}

async fn a_renewed_lease_lasts(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    holds(
        "it is taken",
        leases(&saver)?.lease("t", "a", SHORT).await?.is_none(),
    )?;
    holds(
        "it is renewed",
        leases(&saver)?.lease("t", "a", LONG).await?.is_none(),
    )?;
    sleep(BEHIND_SHORT).await;
    holds(
        "it is still taken",
        leases(&saver)?.lease("t", "b", LONG).await?.is_some(),
    )?;
    // A renewal can also shorten it.
    holds(
        "it is renewed again",
        leases(&saver)?.lease("t", "a", SHORT).await?.is_none(),
    )?;
    sleep(BEHIND_SHORT).await;
    holds(
        "now it is free",
        leases(&saver)?.lease("t", "b", LONG).await?.is_none(),
    )
}

async fn only_its_holder_renews_a_lease(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let leases = leases(&saver)?;
    holds("nothing to renew", !leases.renew("t", "a", LONG).await?)?;
    holds("it is free", leases.lease("t", "a", SHORT).await?.is_none())?;
    holds("it is renewed", leases.renew("t", "a", LONG).await?)?;
    sleep(BEHIND_SHORT).await;
    let other = leases.lease("t", "b", LONG).await?;
    holds("it lasts", other.is_some())?;
    holds("not by another", !leases.renew("t", "b", LONG).await?)?;
    // Another holder takes it, and releases it: it was lost all the same.
    leases.release("t", "a").await?;
    holds("another", leases.lease("t", "b", LONG).await?.is_none())?;
    holds("it is lost", !leases.renew("t", "a", LONG).await?)?;
    leases.release("t", "b").await?;
    holds("it stays lost", !leases.renew("t", "a", LONG).await?)?;
    holds("and free", leases.lease("t", "c", LONG).await?.is_none())
}

async fn a_lease_of_any_length_is_held(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let leases = leases(&saver)?;
    for (thread, term) in [
        ("all", Duration::MAX),
        ("century", Duration::from_secs(100 * 365 * 24 * 3600)),
        ("numbers", Duration::from_millis(i64::MAX.unsigned_abs())),
    ] {
        holds("taken", leases.lease(thread, "a", term).await?.is_none())?;
        let other = leases.lease(thread, "b", LONG).await?;
        holds("held", other.is_some())?;
        holds("renewed", leases.renew(thread, "a", term).await?)?;
        let other = leases.lease(thread, "b", term).await?;
        holds("still held", other.is_some())?;
    }
    Ok(())
}

async fn a_lease_that_has_expired_cannot_be_kept_from_others(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    holds(
        "it is taken",
        leases(&saver)?.lease("t", "a", SHORT).await?.is_none(),
    )?;
    sleep(BEHIND_SHORT).await;
    holds(
        "another takes it",
        leases(&saver)?.lease("t", "b", LONG).await?.is_none(),
    )?;
    holds(
        "too late to renew it",
        leases(&saver)?.lease("t", "a", LONG).await?.is_some(),
    )?;
    leases(&saver)?.release("t", "a").await?;
    holds(
        "it is still the other's",
        leases(&saver)?.lease("t", "c", LONG).await?.is_some(),
    )
}

async fn only_the_holder_gives_a_thread_back(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    holds(
        "it is taken",
        leases(&saver)?.lease("t", "a", LONG).await?.is_none(),
    )?;
    for other in ["b", "", "A", "a "] {
        leases(&saver)?.release("t", other).await?;
    }
    holds(
        "it is still taken",
        leases(&saver)?.lease("t", "b", LONG).await?.is_some(),
    )?;
    leases(&saver)?.release("t", "a").await?;
    leases(&saver)?.release("t", "a").await?;
    leases(&saver)?.release("unknown", "a").await?;
    holds(
        "now it is free",
        leases(&saver)?.lease("t", "b", LONG).await?.is_none(),
    )
}

async fn leases_of_threads_are_independent(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for thread in ["", "t", "T", "t ", "t:a"] {
        let holder = format!("holder of {thread}");
        holds(
            "each has its own",
            leases(&saver)?
                .lease(thread, &holder, LONG)
                .await?
                .is_none(),
        )?;
    }
    leases(&saver)?.release("t", "holder of t").await?;
    holds(
        "one is free",
        leases(&saver)?.lease("t", "x", LONG).await?.is_none(),
    )?;
    holds(
        "the others are not",
        leases(&saver)?.lease("T", "x", LONG).await?.is_some(),
    )
}

async fn a_lease_is_no_thread(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    holds(
        "it is taken",
        leases(&saver)?.lease("t", "a", LONG).await?.is_none(),
    )?;
    same(
        "the threads",
        administration(&saver)?
            .threads(ThreadFilter::default())
            .await?,
        Vec::new(),
    )?;
    same(
        "the usage",
        administration(&saver)?.usage("t").await?,
        StorageUsage::default(),
    )?;
    // A lease binds only writers that ask for one.
    Log::root(&saver, "t").grow(1).await?;
    administration(&saver)?.delete_thread("t").await?;
    holds(
        "who holds it still does",
        leases(&saver)?.lease("t", "b", LONG).await?.is_some(),
    )?;
    Log::root(&saver, "from").grow(1).await?;
    administration(&saver)?.copy_thread("from", "t").await?;
    holds(
        "also of a copy",
        leases(&saver)?.lease("t", "b", LONG).await?.is_some(),
    )?;
    administration(&saver)?.copy_thread("t", "to").await?;
    holds(
        "a copy is free",
        leases(&saver)?.lease("to", "b", LONG).await?.is_none(),
    )
}

async fn one_of_many_gets_the_lease(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    for round in 0..5 {
        let asked = (0..12).map(|n| {
            let saver: Arc<dyn Checkpointer> = Arc::clone(&saver);
            tokio::spawn(async move {
                let holder = n.to_string();
                leases(&saver)?
                    .lease(&round.to_string(), &holder, LONG)
                    .await
            })
        });
        let mut got = 0;
        for asked in asked.collect::<Vec<_>>() {
            let got_it = asked
                .await
                .map_err(|error| Problem::Wrong(error.to_string()))?;
            got += usize::from(got_it?.is_none());
        }
        same("how many got it", got, 1)?;
    }
    Ok(())
}
