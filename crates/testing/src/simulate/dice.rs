//! The decisions of a seed.

use std::collections::BTreeSet;
use std::time::Duration;

use fastrand::Rng;

use super::fault::Fault;

/// The maximum of faults in a seed: after them, each thread comes to its end.
const MAX_FAULTS: usize = 6;

/// What an attempt to shorten a failure leaves out.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    /// The faults that do not happen, by their numbers.
    pub(super) masked: BTreeSet<usize>,
    /// The only thread that runs.
    pub(super) thread: Option<usize>,
    /// True if no task waits for its turn.
    pub(super) calm: bool,
}

/// The random decisions of a seed. Each kind has numbers of its own: an id does not change what fails.
pub(super) struct Dice {
    order: Rng,
    faults: Rng,
    numbers: Rng,
    /// One of so many occasions is a fault.
    rates: Vec<(Fault, u32)>,
    drawn: usize,
    trial: Trial,
    /// True once nothing fails any more.
    quiet: bool,
}

impl Dice {
    pub(super) fn new(seed: u64, faults: &[Fault], trial: Trial) -> Self {
        let mut random = Rng::with_seed(seed);
        let mut rates = Vec::new();
        for fault in Fault::ALL {
            let (present, power) = (random.bool(), random.u32(fault.rarity()));
            if present && faults.contains(&fault) {
                rates.push((fault, 1 << power));
            }
        }
        Self {
            order: random.fork(),
            faults: random.fork(),
            numbers: random.fork(),
            rates,
            drawn: 0,
            trial,
            quiet: false,
        }
    }

    /// Returns true if the fault happens now.
    pub(super) fn fault(&mut self, fault: Fault) -> bool {
        let rate = self.rates.iter().find(|(of, _)| *of == fault);
        let Some((_, rate)) = rate.filter(|_| !self.quiet && self.drawn < MAX_FAULTS) else {
            return false;
        };
        if self.faults.u32(..*rate) != 0 {
            return false;
        }
        let number = self.drawn;
        self.drawn += 1;
        !self.trial.masked.contains(&number)
    }

    /// Returns the number of faults so far, with those that were left out.
    pub(super) fn drawn(&self) -> usize {
        self.drawn
    }

    /// Returns true or false.
    pub(super) fn coin(&mut self) -> bool {
        self.faults.bool()
    }

    /// Returns a time below `limit`, for a fault.
    pub(super) fn time(&mut self, limit: Duration) -> Duration {
        limit.mul_f64(self.faults.f64())
    }

    /// Returns how long a task waits for its turn, if it does.
    pub(super) fn turn(&mut self) -> Option<Duration> {
        let milliseconds = self.order.u64(..64);
        // Half of the tasks go on at once.
        (milliseconds >= 32 && !self.trial.calm && !self.quiet)
            .then(|| Duration::from_millis(milliseconds - 31))
    }

    /// Returns a random number for an id, or for a node.
    pub(super) fn number(&mut self) -> u64 {
        self.numbers.u64(..)
    }

    /// Ends all faults.
    pub(super) fn be_quiet(&mut self) {
        self.quiet = true;
    }
}
