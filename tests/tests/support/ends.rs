//! Tests that could only fail by hanging: here they fail by a time limit.

#![allow(dead_code)] // not every test needs both

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use tokio::runtime::Builder;

/// Long enough for any machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs a test on a thread of its own, where it may block for good.
pub(crate) fn ends<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    on_a_thread(LIMIT, false, test).unwrap();
}

/// The same with a paused clock. The limit is that of the clock on the wall.
pub(crate) fn ends_paused<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    on_a_thread(LIMIT, true, test).unwrap();
}

#[derive(Debug)]
struct Hangs;

fn on_a_thread<F: Future<Output = ()>>(
    limit: Duration,
    paused: bool,
    test: impl FnOnce() -> F + Send + 'static,
) -> Result<(), Hangs> {
    let (done, ended) = channel();
    let thread = std::thread::spawn(move || {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .start_paused(paused)
            .build()
            .unwrap();
        runtime.block_on(test());
        done.send(()).unwrap();
    });
    // A thread that hangs is left behind: the program ends without it.
    if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
        return Err(Hangs);
    }
    if let Err(panicked) = thread.join() {
        std::panic::resume_unwind(panicked);
    }
    Ok(())
}

#[test]
fn a_test_that_hangs_fails() {
    let short = Duration::from_millis(20);
    let blocked = || async {
        loop {
            std::thread::park();
        }
    };
    assert!(on_a_thread(short, false, blocked).is_err());
    assert!(on_a_thread(short, true, std::future::pending::<()>).is_err());
    ends(|| async {});
}

#[test]
#[should_panic(expected = "as it is")]
fn a_test_that_panics_fails_as_it_is() {
    ends_paused(|| async { panic!("as it is") });
}
