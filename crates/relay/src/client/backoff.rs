//! Pauses that grow.

use std::time::Duration;

/// The pause before the next attempt: twice the one before, up to a limit.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Self {
            first,
            longest,
            next: first.min(longest),
        }
    }

    /// Returns the next pause.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }

    /// Begins again with the first pause.
    pub(crate) fn reset(&mut self) {
        self.next = self.first.min(self.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        let mut next = || backoff.pause().as_secs();
        assert_eq!([(); 8].map(|()| next()), [1, 2, 4, 8, 16, 30, 30, 30]);
        backoff.reset();
        assert_eq!(backoff.pause().as_secs(), 1);
    }
}
