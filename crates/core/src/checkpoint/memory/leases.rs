//! The leases of threads in memory.

use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::saver::MemorySaver;
use super::thread::Lease;
use crate::checkpoint::{HeldBy, Leases};
use crate::environment;
use crate::error::CheckpointError;

/// Returns when a lease ends. One that no clock can show lasts for a century.
fn end_of(now: Instant, term: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    now.checked_add(term.min(CENTURY)).unwrap_or(now)
}

#[async_trait]
impl Leases for MemorySaver {
    async fn lease(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<Option<HeldBy>, CheckpointError> {
        let mut threads = self.threads.lock();
        let thread = threads.entry(thread.to_owned()).or_default();
        let now = environment::steady();
        if let Some(held) = &thread.lease
            && held.holder != holder
            && held.until > now
        {
            let now_by_clock = environment::now();
            let left = held.until.duration_since(now);
            let until = now_by_clock.checked_add(left).unwrap_or(now_by_clock);
            return Ok(Some(HeldBy::new(&*held.holder, until)));
        }
        thread.lease = Some(Lease {
            holder: holder.to_owned(),
            until: end_of(now, term),
        });
        Ok(None)
    }

    async fn renew(
        &self,
        thread: &str,
        holder: &str,
        term: Duration,
    ) -> Result<bool, CheckpointError> {
        let mut threads = self.threads.lock();
        let lease = threads
            .get_mut(thread)
            .and_then(|thread| thread.lease.as_mut())
            .filter(|lease| lease.holder == holder);
        let held = lease.map(|lease| lease.until = end_of(environment::steady(), term));
        Ok(held.is_some())
    }

    async fn release(&self, thread: &str, holder: &str) -> Result<(), CheckpointError> {
        let mut threads = self.threads.lock();
        if let Some(kept) = threads.get_mut(thread) {
            kept.lease.take_if(|lease| lease.holder == holder);
            if kept.lease.is_none() && kept.logs.is_empty() {
                threads.remove(thread);
            }
        }
        Ok(())
    }
}
