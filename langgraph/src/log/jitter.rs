//! Random numbers, among others for waits of different lengths.

use std::hash::{BuildHasher, RandomState};

use langgraph_core::environment;

/// A random number. Each new `RandomState` hashes differently, so no crate is needed. The process is part of the
/// hash because a fork has the same keys.
pub(crate) fn random() -> u64 {
    let own = || RandomState::new().hash_one(std::process::id());
    environment::random().unwrap_or_else(own)
}

/// A random number from 0 to 1.
pub(crate) fn random_fraction() -> f64 {
    let random = random() >> 32;
    // The remaining value has 32 bits.
    f64::from(u32::try_from(random).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::random_fraction;

    #[test]
    fn fractions_are_spread_from_zero_to_one() {
        let mut tenths = [0; 10];
        for _ in 0..10_000 {
            let fraction = random_fraction();
            assert!((0.0..=1.0).contains(&fraction), "{fraction}");
            let tenth = (1..10).filter(|n| fraction >= f64::from(*n) / 10.0).count();
            tenths[tenth] += 1;
        }
        assert!(
            tenths.iter().all(|count| (800..1200).contains(count)),
            "{tenths:?}"
        );
    }
}
