//! What the nodes of graphs do outside: work, and effects.

use std::sync::Arc;
use std::time::Duration;

use langgraph::prelude::*;

use crate::graph::LEASE;
use crate::ledger::{AtWork, Ledger};
use crate::site::Site;
use crate::world::World;

/// What nodes share with the world.
pub(crate) struct Outside {
    pub(crate) world: World,
    ledger: Arc<Ledger>,
}

impl Outside {
    pub(crate) fn new(site: &Site) -> Self {
        Self {
            world: site.world.clone(),
            ledger: Arc::clone(&site.ledger),
        }
    }

    /// Notes that this process works on the thread of a node, until the result is dropped.
    pub(crate) fn begins(&self, cx: &Context) -> AtWork {
        let thread = cx.thread_id().unwrap_or_default();
        self.ledger.begins(thread)
    }

    /// Works for a while, and sometimes for longer than a lease lasts.
    pub(crate) async fn work(&self) {
        let time = match self.world.below(100) {
            0 => LEASE + self.world.up_to(2_000),
            _ => self.world.up_to(60),
        };
        if !time.is_zero() {
            tokio::time::sleep(time).await;
        }
    }

    /// Has an effect once, for as long as its record is kept.
    pub(crate) async fn acts(
        &self,
        cx: &Context,
        at_work: &AtWork,
        what: &str,
        is_slow: bool,
    ) -> Result<(), NodeError> {
        let acted = async {
            let begun = self.world.elapsed();
            self.work().await;
            if is_slow {
                self.dwell(&format!("{what} is under way")).await;
            }
            self.ledger.acts(what, begun, at_work);
            Ok::<_, NodeError>(what.len())
        };
        cx.once("act", acted).await?;
        self.ledger.kept(what, at_work);
        self.work().await;
        Ok(())
    }

    /// Works before a payment, sometimes: a process that stands still meanwhile may find it made.
    pub(crate) async fn prepare(&self, order: &str) {
        if self.world.below(16) == 0 {
            self.dwell(&format!("{order} is prepared")).await;
        }
    }

    /// Works for a while in which a loss would be bad.
    async fn dwell(&self, what: &str) {
        let time = Duration::from_millis(100) + self.world.up_to(400);
        // Also in the call that stores what is done in it.
        self.world.is_delicate_for(time + Duration::from_millis(20));
        self.world
            .record(format!("{what} for {} ms", time.as_millis()));
        tokio::time::sleep(time).await;
    }
}
