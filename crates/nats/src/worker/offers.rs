//! The free slots of a worker, and the drivers that they are offered to.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

/// After this time without an answer, an offer no longer holds its slot.
const OFFER_TIMEOUT: Duration = Duration::from_secs(2);

/// A driver that has announced work.
struct DriverWithWork {
    driver: String,
    /// The number of its last announcement.
    epoch: u64,
}

struct Offer {
    driver: String,
    made: Instant,
}

/// The slots of a worker, offered to the drivers with work in turn.
///
/// A driver that does not receive an offer, or does not answer it in time, leaves the list and gives the
/// slot back. It is on the list again when it announces work.
pub(super) struct Offers {
    slots: usize,
    drivers: VecDeque<DriverWithWork>,
    open: BTreeMap<u64, Offer>,
    last: u64,
}

impl Offers {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots,
            drivers: VecDeque::new(),
            open: BTreeMap::new(),
            last: 0,
        }
    }

    /// Adds a driver that announces work.
    pub(super) fn announced(&mut self, driver: String, epoch: u64) {
        match self.drivers.iter_mut().find(|at| at.driver == driver) {
            Some(known) => known.epoch = epoch,
            None => self.drivers.push_back(DriverWithWork { driver, epoch }),
        }
    }

    /// Closes an offer that a task has answered.
    pub(super) fn accepted(&mut self, offer: u64) {
        self.open.remove(&offer);
    }

    /// Closes an offer for which the driver has no task. The driver stays on the list if it has announced
    /// work since.
    pub(super) fn declined(&mut self, driver: &str, offer: u64, epoch: u64) {
        self.open.remove(&offer);
        self.drivers
            .retain(|known| known.driver != driver || known.epoch > epoch);
    }

    /// Removes a driver, and closes its offers.
    pub(super) fn remove(&mut self, driver: &str) {
        self.drivers.retain(|known| known.driver != driver);
        self.open.retain(|_, offer| offer.driver != driver);
    }

    /// Removes the drivers that have left an offer without an answer.
    pub(super) fn expire(&mut self) {
        let late = |offer: &&Offer| offer.made.elapsed() >= OFFER_TIMEOUT;
        let late: Vec<_> = self.open.values().filter(late).collect();
        let late: Vec<_> = late.iter().map(|offer| offer.driver.clone()).collect();
        for driver in late {
            self.remove(&driver);
        }
    }

    /// Offers a free slot to the next driver: returns the driver, and the number of the offer.
    pub(super) fn next(&mut self, running: usize) -> Option<(String, u64)> {
        if self.slots <= running + self.open.len() {
            return None;
        }
        let driver = self.drivers.front()?.driver.clone();
        self.drivers.rotate_left(1);
        self.last += 1;
        let offer = Offer {
            driver: driver.clone(),
            made: Instant::now(),
        };
        self.open.insert(self.last, offer);
        Some((driver, self.last))
    }

    /// Offers a free slot to a driver if it is next.
    pub(super) fn next_for(&mut self, driver: &str, running: usize) -> Option<u64> {
        if self.drivers.front()?.driver != driver {
            return None;
        }
        Some(self.next(running)?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn drivers_get_slots_in_turn_until_they_decline_or_do_not_answer() {
        let mut offers = Offers::new(3);
        offers.announced("a".to_owned(), 1);
        offers.announced("b".to_owned(), 1);
        let next = |offers: &mut Offers| offers.next(0).map(|(driver, _)| driver);
        let three = [(); 4].map(|()| next(&mut offers));
        assert_eq!(three.map(Option::unwrap_or_default), ["a", "b", "a", ""]);
        // `b` has no more tasks; `a` does not answer.
        offers.declined("b", 2, 1);
        offers.accepted(1);
        tokio::time::sleep(OFFER_TIMEOUT).await;
        offers.expire();
        assert_eq!(next(&mut offers), None);
        offers.announced("b".to_owned(), 2);
        assert_eq!(offers.next_for("a", 2), None);
        assert!(offers.next_for("b", 2).is_some());
        assert_eq!(next(&mut offers).as_deref(), Some("b"));
    }
}
