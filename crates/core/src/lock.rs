//! A lock that a panic does not poison.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A [`Mutex`] without poison: after a panic of its holder, the next one gets the value as it is.
///
/// For values that are whole after each change, so that what a panic leaves can be used.
#[derive(Debug, Default)]
pub struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    /// Creates an unlocked value.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Waits until the value is free, and locks it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the value if it is free.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(value) => Some(value),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns the value, which nothing else can lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value itself.
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::Lock;

    #[test]
    fn a_panic_of_a_holder_leaves_the_value() {
        let mut value = Lock::new(1);
        let holder = std::thread::scope(|scope| {
            let holds = scope.spawn(|| {
                *value.lock() = 2;
                let _held = value.lock();
                panic!("while it holds the value");
            });
            holds.join()
        });
        assert!(holder.is_err());
        assert_eq!(*value.lock(), 2);
        let held = value.try_lock();
        assert!(held.is_some() && value.try_lock().is_none());
        drop(held);
        assert_eq!(*value.get_mut(), 2);
        assert_eq!(value.into_inner(), 2);
    }
}
