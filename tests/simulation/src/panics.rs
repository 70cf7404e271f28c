//! Panics of programs, which their runtimes catch.

use std::cell::RefCell;
use std::sync::Once;

thread_local! {
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Plays something, and returns what panicked meanwhile on this thread, also if it was caught.
pub fn noting_panics<T>(play: impl FnOnce() -> T) -> (T, Vec<String>) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.with_borrow_mut(|panics| panics.push(panic.to_string()));
            report(panic);
        }));
    });
    PANICS.take();
    let played = play();
    (played, PANICS.take())
}
