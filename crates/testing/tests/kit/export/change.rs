//! The change that the code of a test has at the moment.

use std::cell::Cell;

thread_local! {
    static CHANGE: Cell<&'static str> = const { Cell::new("") };
}

/// Sets the change.
pub(crate) fn change(name: &'static str) {
    CHANGE.set(name);
}

/// Returns true if the code is changed so.
pub(crate) fn changed(name: &str) -> bool {
    CHANGE.get() == name
}

/// Returns one of two values.
pub(crate) fn pick<T>(name: &str, then: T, otherwise: T) -> T {
    if changed(name) { then } else { otherwise }
}
