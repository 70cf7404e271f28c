//! A tick: each host runs for the same time, one after the other.

use std::pin::pin;
use std::task::Poll;

use tokio::runtime::Runtime;

use crate::world::{TICK, World};

thread_local! {
    static WORLD: std::cell::RefCell<Option<World>> = const { std::cell::RefCell::new(None) };
}

/// Sets the world of this thread.
pub(crate) fn set_world(world: Option<World>) {
    WORLD.set(world);
}

/// Runs what a runtime has to do in a tick.
pub(crate) fn run_for_a_tick(runtime: &Runtime, is_over: impl Fn(&World) -> bool) {
    let world = WORLD.with_borrow(Clone::clone).expect("a world");
    runtime.block_on(async {
        let mut tick = pin!(tokio::time::sleep(TICK));
        std::future::poll_fn(|cx| {
            world.enter(cx.waker());
            if is_over(&world) {
                return Poll::Ready(());
            }
            tick.as_mut().poll(cx)
        })
        .await;
    });
    world.leave();
}
